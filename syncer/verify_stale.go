package syncer

import (
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/compare"
	"github.com/larder-sync/larder/syncer/schedule"
)

// A verification that holds the source asks for the days that differ and stores them,
// so that what differs then is a difference. A visitor writes nothing, and the process
// that serves the source asks for days before yesterday, and for single locations, in
// its deep runs and full resyncs only: until then such a row may be behind the service,
// which is the schedule and no mistake. It is one when the typed columns are not what
// the stored row says, or when the schedule should have brought it long ago.

// stale is true when a row of totals that differs is behind by schedule alone, and
// notes it.
func (v *verifyTotals) stale(id string, found []compare.Difference, place span) bool {
	if !v.visiting || v.open[id].Version > 0 {
		return false
	}
	until, ok := v.totals.nextAsked(place, time.Now())
	if !ok || slices.ContainsFunc(found, func(d compare.Difference) bool { return d.Column }) {
		return false
	}
	if v.stalest.from == "" {
		v.stalest = place
	}
	v.stalest.from, v.stalest.to = min(v.stalest.from, place.from), max(v.stalest.to, place.to)
	now := fmt.Sprintf("end the process that serves the source, then larder reconcile --source %s --from %s --to %s",
		v.stream.source.name, v.stalest.from, v.stalest.to)
	v.count(func(r *StreamVerify) {
		r.Stale++
		r.StaleUntil, r.StaleNow = later(r.StaleUntil, until), now
	})
	v.tellDifferences(FoundStale, id, found, "asked for again by schedule on "+until.In(calendar.Zone()).Format("2006-01-02 15:04"))
	return true
}

// overdue is how many turns of the schedule a day may have missed: one may be under way.
const overdue = 2

// nextAsked is when the schedule asks for a day again that its turns of yesterday and
// today leave out; false for those that they do not, and when such a day should have
// been asked for long ago.
func (st *totals) nextAsked(place span, now time.Time) (time.Time, bool) {
	if st.recent(place.from) && slices.Contains(st.asked(), place.location) {
		return time.Time{}, false
	}
	st.mu.Lock()
	deep, all := st.proofs.deep, st.memory.stored.StartedAt
	st.mu.Unlock()
	last, j := all, schedule.FullResync
	if first, err := calendar.AddDays(calendar.DayOf(st.source.serviceNow()), 1-calendar.MaxRange); err == nil && place.from >= first {
		last, j = later(deep, all), schedule.ReconcileDeep
	}
	times, name := st.source.timetable(), st.source.name
	if !last.IsZero() && now.Sub(last) > overdue*times.Interval(j, last)+schedule.MaxSpread {
		return time.Time{}, false
	}
	return times.Next(j, name, now), true
}
