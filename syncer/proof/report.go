package proof

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// Request says which days a pass of [Syncer.Reconcile] compares.
type Request struct {
	Sources []string `json:"sources,omitempty"` // all when empty
	// From and To are days, YYYY-MM-DD, inclusive; the first order's and today when
	// empty.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Heal bool   `json:"heal,omitempty"` // else what differs is only reported
}

// LogValue has the fields of the request by their names.
func (r Request) LogValue() slog.Value {
	return slog.GroupValue(slog.String("from", r.From), slog.String("to", r.To), slog.Bool("heal", r.Heal), slog.Any("sources", r.Sources))
}

// Report is what a reconciliation did, or has done so far.
type Report struct {
	StartedAt  time.Time      `json:"started_at"`
	FinishedAt time.Time      `json:"finished_at,omitzero"`
	Sources    []SourceReport `json:"sources"`
}

// VerdictCounts are verdicts, or days by the worst of their verdicts.
type VerdictCounts struct {
	Proven    uint64 `json:"proven"`
	Healed    uint64 `json:"healed"`
	Explained uint64 `json:"explained"`
	Drift     uint64 `json:"drift"`
	Unsettled uint64 `json:"unsettled"`
	Unproven  uint64 `json:"unproven"`
}

// All is how many there are.
func (d VerdictCounts) All() uint64 {
	return d.Proven + d.Healed + d.Explained + d.Drift + d.Unsettled + d.Unproven
}

// worse are the verdicts, from the best to the worst.
var worse = []string{sinks.VerdictProven, sinks.VerdictHealed, sinks.VerdictExplained, sinks.VerdictUnsettled, sinks.VerdictUnproven, sinks.VerdictDrift}

// rankOf is the rank of a verdict in worse; one of another release counts as unproven.
func rankOf(verdict string) int {
	if rank := slices.Index(worse, verdict); rank >= 0 {
		return rank
	}
	return slices.Index(worse, sinks.VerdictUnproven)
}

// count counts a verdict of a rank, which is its place in worse.
func (d *VerdictCounts) count(rank int) {
	*[]*uint64{&d.Proven, &d.Healed, &d.Explained, &d.Unsettled, &d.Unproven, &d.Drift}[rank]++
}

// SourceReport is the reconciliation of one source. Its counts are of verdicts: one
// for each day, subject, and location or all of them together; but for those of Days.
type SourceReport struct {
	Source string          `json:"source"`
	State  string          `json:"state"`
	Err    *status.Failure `json:"failure,omitempty"`
	From   string          `json:"from"`
	To     string          `json:"to"`
	Steps  int             `json:"steps"` // ranges of at most 92 days to ask for
	Asked  int             `json:"asked"` // of them so far
	// Suspects are days that differed once and are asked again, at SettlesAt.
	Suspects  int       `json:"suspects"`
	SettlesAt time.Time `json:"settles_at,omitzero"`
	// ToHeal are the days that differ still and are being healed, HealedDays those of
	// them that are done, whatever came of it.
	ToHeal     int `json:"to_heal"`
	HealedDays int `json:"healed_days"`
	// ExpectedLeft is until all is asked; after that until what differed is asked again;
	// then until the days that differ still are healed.
	ExpectedLeft status.Seconds `json:"expected_left_seconds"`
	// Backfill is what is waited for: before anything can be compared, or the full resync that is owed.
	Backfill *status.Progress `json:"backfill,omitempty"`

	// Days are the days that have verdicts, and Locations how many have verdicts of their own.
	Days      VerdictCounts `json:"days"`
	Locations int           `json:"locations"`

	VerdictCounts
	// Open are the verdicts that are not proven, healed ones included, in order of day;
	// at most 10,000.
	Open []sinks.Verdict `json:"open"`
}

// mostOpen bounds the verdicts that a report names.
const mostOpen = 10_000

// Check refuses days that are none.
func (r Request) Check() error {
	for name, day := range map[string]string{"from": r.From, "to": r.To} {
		if day == "" {
			continue
		}
		if t, err := time.Parse(time.DateOnly, day); err != nil || t.Year() < 1900 {
			return fmt.Errorf("%s %q is no day from 1900-01-01 on: write it as 2026-03-29", name, day)
		}
	}
	if r.From != "" && r.To != "" && r.From > r.To {
		return fmt.Errorf("from %s is after to %s", r.From, r.To)
	}
	return nil
}

// Drift is how many verdicts of all sources are a drift.
func (r Report) Drift() (n uint64) {
	for _, s := range r.Sources {
		n += s.Drift
	}
	return n
}

// Unproven is how many could not be compared.
func (r Report) Unproven() (n uint64) {
	for _, s := range r.Sources {
		n += s.Unproven
	}
	return n
}
