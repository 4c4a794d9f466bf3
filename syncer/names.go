package syncer

import (
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/verify"
	"github.com/larder-sync/larder/syncer/write"
)

// What the syncer's answers are made of, by the names that the rooms above use.
type (
	// Status is a snapshot of the whole syncer at one moment.
	Status = status.Status
	// Warehouse is what is known of the warehouse beside what the walks say.
	Warehouse = status.Warehouse
	// SourceStatus is the state of one source.
	SourceStatus = status.SourceStatus
	// StreamStatus is the state of one stream of a source.
	StreamStatus = status.StreamStatus
	// BudgetStatus is the use of the limits in the last 60 seconds.
	BudgetStatus = status.BudgetStatus
	// ProofStatus is how far the mirror of a source is proven.
	ProofStatus = status.ProofStatus
	// Progress is how far a long walk is.
	Progress = status.Progress
	// Seconds is a duration that people read as JSON.
	Seconds = status.Seconds
	// SweepHeld is a sweep that waits for a person.
	SweepHeld = status.SweepHeld
	// Concern is one thing to know about how well a source is.
	Concern = status.Concern
	// Light is a stream's state in a word or two.
	Light = status.Light
	// Tone is how much attention something wants.
	Tone = status.Tone

	// StreamOutcome is what the report of a pass tells of a stream.
	StreamOutcome = status.StreamOutcome
	// Outcomer is the report of a stream.
	Outcomer = status.Outcomer
	// Failure is what went wrong with a source or a stream.
	Failure = status.Failure
	// SourceOutcome is what it tells of a source.
	SourceOutcome[S status.Outcomer] = status.SourceOutcome[S]

	// Counts are what a stream has received since the start of the process, or, in a
	// report, within the pass. A pass that ran beside the daemon counts what both did.
	Counts = write.Counts

	// ReconcileRequest says which days a pass of [Syncer.Reconcile] compares.
	ReconcileRequest = proof.Request
	// ReconcileReport is what a reconciliation did, or has done so far.
	ReconcileReport = proof.Report
	// VerdictCounts are verdicts, or days by the worst of their verdicts.
	VerdictCounts = proof.VerdictCounts
	// SourceReconcile is the reconciliation of one source.
	SourceReconcile = proof.SourceReport

	// Finding is what a verification found about a row.
	Finding = verify.Finding
	// VerifyReport is what a verification did, or has done so far.
	VerifyReport = verify.Report
	// SourceVerify is the verification of one source.
	SourceVerify = verify.SourceReport
	// StreamVerify is the verification of one stream, in rows.
	StreamVerify = verify.StreamReport
	// VerifyProgress is a snapshot of a verification under way.
	VerifyProgress = verify.Progress

	// MisfitError means that the configuration wants what the key does not have.
	MisfitError = stream.MisfitError
)

// ErrNoScope is what errors.Is finds when the key lacks the scope for what was asked.
var ErrNoScope = stream.ErrNoScope

// The states of a source and of a stream.
const (
	StateStarting     = status.StateStarting
	StateRunning      = status.StateRunning
	StateBackfill     = status.StateBackfill
	StateHeld         = status.StateHeld
	StateOff          = status.StateOff
	StateUnauthorized = status.StateUnauthorized
	StateKeyDisabled  = status.StateKeyDisabled
	StateAPIDisabled  = status.StateAPIDisabled
	StateForbidden    = status.StateForbidden
	StateUnreachable  = status.StateUnreachable
	StateWaiting      = status.StateWaiting
	StateFailing      = status.StateFailing
	StateUnstored     = status.StateUnstored
	StateStopped      = status.StateStopped
)

// The kinds of concerns, the worst first.
const (
	HealthRefused       = status.HealthRefused
	HealthWarehouse     = status.HealthWarehouse
	HealthDamage        = status.HealthDamage
	HealthUnserved      = status.HealthUnserved
	HealthHeld          = status.HealthHeld
	HealthDrift         = status.HealthDrift
	HealthQuarantine    = status.HealthQuarantine
	HealthConfiguration = status.HealthConfiguration
	HealthBehind        = status.HealthBehind
	HealthUnproven      = status.HealthUnproven
	HealthStarting      = status.HealthStarting
	HealthBackfill      = status.HealthBackfill
	HealthGood          = status.HealthGood
	HealthWaiting       = status.HealthWaiting
	HealthStopped       = status.HealthStopped
	HealthNone          = status.HealthNone
)

// The tones. Only what is well in every respect is good.
const (
	ToneTrouble = status.ToneTrouble
	ToneBusy    = status.ToneBusy
	ToneGood    = status.ToneGood
	ToneQuiet   = status.ToneQuiet
)

// WalkDeep names a deep run in a [Progress].
const WalkDeep = status.WalkDeep

// The kinds of a [Finding].
const (
	FoundDifference  = verify.FoundDifference
	FoundMoving      = verify.FoundMoving
	FoundQuarantined = verify.FoundQuarantined
)

// ProofOf sums up the verdicts that stand about a source's days; nil without any.
var ProofOf = proof.Of

// FailureOf is the failure of an error, nil without one.
func FailureOf(err error) *Failure { return status.FailureOf(err) }
