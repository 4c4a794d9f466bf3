package reconcile

import (
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// overdue is how many turns of the schedule a day may have missed: one may be under way.
const overdue = 2

// NextAsked is when the schedule asks for a day again that its turns of yesterday and
// today leave out; false for those that they do not, when such a day should have been asked
// for long ago, and when the schedule never asks for it.
func (st *Proofs) NextAsked(place totals.Span, now time.Time) (time.Time, bool) {
	times, name := st.Source.Timetable(), st.Source.Name
	if !times.Off(st.Def.Job) && st.Recent(place.From) && slices.Contains(st.Asked(), place.Location) {
		return time.Time{}, false
	}
	all := st.AskedSince()
	st.mu.Lock()
	deep := st.Deep.last
	st.mu.Unlock()
	last, j := all, schedule.FullResync
	if first, err := calendar.AddDays(calendar.DayOf(st.Source.ServiceNow()), 1-calendar.MaxRange); err == nil && place.From >= first {
		last, j = stream.Later(deep, all), schedule.ReconcileDeep
	}
	if !last.IsZero() && now.Sub(last) > overdue*times.Interval(j, last)+schedule.MaxSpread {
		return time.Time{}, false
	}
	next := times.Next(j, name, now)
	return next, !next.IsZero()
}
