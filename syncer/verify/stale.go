package verify

import (
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/compare"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// A verification that holds the source asks for the days that differ and stores them,
// so that what differs then is a difference. A visitor writes nothing. The process that
// serves the source asks for days before yesterday, and for single locations, only in its
// deep runs and full resyncs. Until then such a row may be behind the service, which is the
// schedule and no mistake. It is a mistake when the typed columns are not what the stored
// row says, or when the schedule should have brought it long ago.

// stale is true when a row of totals that differs is behind by schedule alone, and
// notes it.
func (v *totalsCheck) stale(id string, found []compare.Difference, place totals.Span) bool {
	if !v.visiting || v.open[id].Version > 0 {
		return false
	}
	until, ok := v.totals.NextAsked(place, time.Now())
	if !ok || slices.ContainsFunc(found, func(d compare.Difference) bool { return d.Column }) {
		return false
	}
	if v.stalest.From == "" {
		v.stalest = place
	}
	v.stalest.From, v.stalest.To = min(v.stalest.From, place.From), max(v.stalest.To, place.To)
	now := fmt.Sprintf("end the process that serves the source, then larder reconcile --source %s --from %s --to %s",
		v.stream.Source.Name, v.stalest.From, v.stalest.To)
	v.count(func(r *StreamReport) {
		r.Stale++
		r.StaleUntil, r.StaleNow = stream.Later(r.StaleUntil, until), now
	})
	v.tellDifferences(FoundStale, id, found, "asked for again by schedule on "+until.In(calendar.Zone()).Format("2006-01-02 15:04"))
	return true
}
