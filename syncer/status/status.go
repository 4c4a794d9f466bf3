package status

import (
	"time"

	"github.com/larder-sync/larder/sinks"
)

// The states of a source and of a stream, as status, page, metrics and
// sync_streams name them.
const (
	StateStarting     = "starting"
	StateRunning      = "running"
	StateBackfill     = "backfill"     // running, and its backfill is under way
	StateHeld         = "sweep_held"   // running, and a sweep waits for a person (docs/rules.md R6)
	StateOff          = "off"          // not configured, or the key lacks the scope
	StateUnauthorized = "unauthorized" // 401: wrong or deleted key
	StateKeyDisabled  = "key_disabled" // 403 api_key_disabled
	StateAPIDisabled  = "api_disabled" // 403 api_disabled: online ordering is off
	StateForbidden    = "forbidden"    // 403 insufficient_scope or location_forbidden
	StateUnreachable  = "unreachable"  // no answer, or none that makes sense
	StateWaiting      = "waiting"      // another process on the warehouse serves the source
	StateFailing      = "failing"      // the last walk failed; it is tried again
	StateUnstored     = "not_stored"   // it is walked, and the warehouse takes no rows
	StateStopped      = "stopped"      // no daemon runs: what the warehouse knows
)

// Status is a snapshot of the whole syncer at one moment.
type Status struct {
	Now       time.Time `json:"now"`
	StartedAt time.Time `json:"started_at,omitzero"`
	// Problems are the daemon's own, in words: the warehouse does not answer, a new
	// configuration was refused. The syncer adds none.
	Problems []string `json:"problems,omitempty"`
	// Warnings are what the configuration has that is allowed, but unwise.
	Warnings []string `json:"warnings,omitempty"`
	// What is among the problems: that the warehouse takes no rows, which is the first of them, that
	// part of what it holds is damaged, that a changed configuration was refused.
	WarehouseUnavailable bool `json:"warehouse_away,omitempty"`
	Damaged              bool `json:"warehouse_damaged,omitempty"`
	Refused              bool `json:"configuration_refused,omitempty"`
	// FolderLost: the data folder of the embedded warehouse was removed or replaced under the daemon.
	FolderLost bool `json:"folder_lost,omitempty"`
	// CountedAt is when the rows that the warehouse holds were last counted.
	CountedAt time.Time `json:"counted_at,omitzero"`
	// Processes share the Configured sources, each with Sources of its own; 0 where one has all.
	Processes  int            `json:"processes,omitempty"`
	Configured int            `json:"configured_sources,omitempty"`
	Sources    []SourceStatus `json:"sources"`
}

// SourceStatus is the state of one source.
type SourceStatus struct {
	Name         string         `json:"name"`
	BusinessID   string         `json:"business_id"`
	BusinessName string         `json:"business_name"`
	KeyMode      string         `json:"key_mode"` // test or live
	State        string         `json:"state"`
	Detail       string         `json:"detail"` // why, and what to do next
	Up           bool           `json:"-"`      // the API answers the key, whatever the warehouse does
	Since        time.Time      `json:"since,omitzero"`
	NextProbe    time.Time      `json:"next_probe,omitzero"` // when a source in trouble is asked again
	Requests     uint64         `json:"requests"`
	RateLimited  uint64         `json:"rate_limited"` // answers 429
	Budget       BudgetStatus   `json:"budget"`
	Proof        *ProofStatus   `json:"proof,omitempty"` // nil before the first verdict
	Streams      []StreamStatus `json:"streams"`
	// PersonalData is what is kept of the people who order online: drop, pseudonymise, keep.
	PersonalData string    `json:"personal_data,omitempty"`
	LastPing     time.Time `json:"last_ping,omitzero"` // of its webhooks, since the start
	// Lacks are the streams that the key should read and lacks the scope for: those that
	// the configuration names, or all.
	Lacks []string `json:"lacks,omitempty"`
}

// BudgetStatus is the use of the limits in the last 60 seconds.
type BudgetStatus struct {
	KeyUsed       int       `json:"key_used"`
	KeyLimit      int       `json:"key_limit"`
	HeavyUsed     int       `json:"heavy_used"`
	HeavyLimit    int       `json:"heavy_limit"`
	BusinessUsed  int       `json:"business_used"`
	BusinessLimit int       `json:"business_limit"`
	PausedUntil   time.Time `json:"paused_until,omitzero"` // after a 429
	// Shared is what others seem to use most of, by X-RateLimit-Remaining: the key, the key's
	// totals, or the restaurant; empty for nothing.
	Shared string `json:"shared,omitempty"`
}

// What others may use of the limits beside this process.
const (
	SharedKey      = "key"
	SharedTotals   = "totals"
	SharedBusiness = "restaurant"
)

// Pause says until when the service wants no requests; empty: it takes them.
func (b BudgetStatus) Pause() string {
	if b.PausedUntil.IsZero() {
		return ""
	}
	return "the service answers 429 and asks to wait until " + b.PausedUntil.UTC().Format("15:04:05 UTC")
}

// Notes are what slows requests down from outside, in words.
func (b BudgetStatus) Notes() (notes []string) {
	if pause := b.Pause(); pause != "" {
		notes = append(notes, pause)
	}
	if shared := map[string]string{
		SharedKey:      "someone else seems to use the key, and leaves few requests",
		SharedTotals:   "someone else seems to ask for totals with the key, and leaves few requests",
		SharedBusiness: "other keys of the restaurant seem to leave few requests",
	}[b.Shared]; shared != "" {
		notes = append(notes, shared)
	}
	return notes
}

// StreamStatus is the state of one stream of a source.
type StreamStatus struct {
	Name        string     `json:"name"`
	State       string     `json:"state"`
	Detail      string     `json:"detail"`
	NoScope     bool       `json:"no_scope,omitempty"` // it is off since the key lacks the scope
	Watermark   time.Time  `json:"watermark,omitzero"`
	LastSuccess time.Time  `json:"last_success,omitzero"` // end of the last walk that went well
	Lag         Seconds    `json:"lag_seconds"`           // now - LastSuccess; null, -1 in the program, before the first
	Behind      bool       `json:"behind"`                // no walk has ended well for longer than it may take
	Damaged     bool       `json:"damaged,omitempty"`     // rows that the warehouse held of it are lost
	Rows        *uint64    `json:"rows"`                  // live rows of the restaurant in the warehouse; null before they are counted
	Written     uint64     `json:"rows_written"`          // since the start of the process
	Quarantined int        `json:"quarantined"`           // entries open now, as far as they are remembered
	LastError   string     `json:"last_error"`
	LastErrorAt time.Time  `json:"last_error_at,omitzero"`
	Progress    *Progress  `json:"progress,omitempty"`   // of a backfill, full resync or deep run under way
	LastResync  time.Time  `json:"last_resync,omitzero"` // end of the last full resync, its sweep included
	SweepHeld   *SweepHeld `json:"sweep_held,omitempty"`
	// Next is when a walk of the stream begins next, zero when that is not known, and NextWhy why
	// then: turn, under_way, asked (to wait), probe, elsewhere or off.
	Next    time.Time `json:"next,omitzero"`
	NextWhy string    `json:"next_why,omitempty"`
	// BroughtSince is when the last walk of this process began that wrote every row anew
	// and came to its end: what was lost before it has been brought back. By our clock;
	// zero for none.
	BroughtSince time.Time `json:"-"`
}

// Progress is how far a long walk is, with its forecast (docs/rules.md B5). A deep run of
// reconciliation is one too; its Pages are the questions that were answered.
type Progress struct {
	Walk      string    `json:"walk"`
	StartedAt time.Time `json:"started_at,omitzero"`
	Pages     uint64    `json:"pages"`
	Rows      uint64    `json:"rows"`
	AtLeast   bool      `json:"at_least,omitempty"` // of Rows: the service has refused the walk's cursor
	TotalRows uint64    `json:"total_rows"`         // 0: unknown
	// RequestsLeft and ExpectedLeft are known of a deep run, of other walks when
	// TotalRows is.
	RequestsLeft uint64    `json:"requests_left"`
	ExpectedLeft Seconds   `json:"expected_left_seconds"`
	Reached      time.Time `json:"reached,omitzero"` // newest updated_at so far; of totals, the day their backfill has reached
	// Suspects are the days of a deep run, or the rows of a verification, that differed at first
	// sight: they are what is left, and asked for again.
	Suspects int `json:"suspects,omitempty"`
}

// Resync reports whether the walk is a full resync.
func (p *Progress) Resync() bool { return p.Walk == sinks.WalkFull }

// Deep reports whether it is a deep run.
func (p *Progress) Deep() bool { return p.Walk == WalkDeep }

// WalkVerify names the walks of a verification, which have no checkpoint.
const WalkVerify = "verify"

// WalkDeep names a deep run in a [Progress].
const WalkDeep = sinks.WalkDeep

// ProofStatus is how far the mirror of a source is proven, of the last 92 days.
type ProofStatus struct {
	// FirstDay is the first that has to be proven, YYYY-MM-DD: of the 92 days up to the
	// last that was asked about, the first with a mirrored order.
	FirstDay string `json:"first_day"`
	// ProvenUntil is the last day that is over and up to which each day from FirstDay on
	// is proven; empty when the first one is not.
	ProvenUntil string `json:"proven_until"`
	DriftDays   int    `json:"drift_days"` // days that differ from the service
	OpenDays    int    `json:"open_days"`  // days that are neither proven nor differ
	// ExplainedDays are proven days that differ by what the API's description leaves open.
	ExplainedDays int       `json:"explained_days"`
	UnaskedDays   int       `json:"unasked_days"`      // days from FirstDay on that were not compared yet
	AskedAt       time.Time `json:"asked_at,omitzero"` // of the newest verdict
	Late          bool      `json:"late"`              // yesterday is over for long enough to be proven, and is not
}

// Lag is the longest lag of the streams that are walked; -1 before the first walk.
func (s *SourceStatus) Lag() Seconds {
	lag := Seconds(-1)
	for i := range s.Streams {
		if st := &s.Streams[i]; st.State != StateOff && st.State != StateWaiting {
			lag = max(lag, st.Lag)
		}
	}
	return lag
}

// Stream finds a stream of the snapshot, nil when it is not there.
func (s *Status) Stream(source, name string) *StreamStatus {
	for i := range s.Sources {
		if s.Sources[i].Name != source {
			continue
		}
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; st.Name == name {
				return st
			}
		}
	}
	return nil
}
