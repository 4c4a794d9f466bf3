// Package schedule says when each job of a source is due, and when a stream runs next.
//
// What may live here: cron forms and intervals (timetable.go), how the turns of many sources
// are spread (turns.go), and when a stream runs next, with the reason (next.go). What may
// not: what a job does, and how it is found out that there is something to do.
package schedule

import (
	"fmt"
	"reflect"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/larder-sync/larder/syncer/calendar"
)

// Spec says when what is asked, in cron's form or "@every 30s". Cron times are
// Bucharest's; a CRON_TZ= prefix overrides that. Empty fields take the defaults of
// DESIGN §3.
type Spec struct {
	Incremental   string // cursor lists
	Snapshots     string // locations, allergens, the key
	Reconcile     string // totals of yesterday and today
	ReconcileDeep string // totals of the last 92 days, per location
	FullResync    string // a walk of everything, and the sweep after it
	OnlineOrders  string // orders placed through the key
}

// Job is one of the jobs of a source, each with a schedule of its own.
type Job int

// The jobs. A new one goes to the end: a job's number decides where its turns are, and one in
// between would move those of all jobs after it, in every source.
const (
	Incremental Job = iota
	Snapshots
	Reconcile
	ReconcileDeep
	FullResync
	OnlineOrders
	jobs
)

// MaxSpread bounds how far a source's turn moves within a long interval.
const MaxSpread = time.Hour

// Timetable gives the next time of each job.
type Timetable [jobs]cron.Schedule

// New reads a timetable. The error names the field and what stands there.
func New(s Spec) (Timetable, error) {
	var t Timetable
	for j, f := range []struct{ name, spec, standard string }{
		Incremental:   {"incremental", s.Incremental, "@every 30s"},
		Snapshots:     {"snapshots", s.Snapshots, "@every 5m"},
		Reconcile:     {"reconcile", s.Reconcile, "*/15 * * * *"},
		ReconcileDeep: {"reconcile_deep", s.ReconcileDeep, "30 3 * * *"},
		FullResync:    {"full_resync", s.FullResync, "0 4 * * 0"},
		OnlineOrders:  {"online_orders", s.OnlineOrders, "@every 15s"},
	} {
		spec := f.spec
		if spec == "" {
			spec = f.standard
		}
		parsed, err := cron.ParseStandard(spec)
		if err != nil {
			return t, fmt.Errorf("schedule.%s %q: %w", f.name, spec, err)
		}
		if c, ok := parsed.(*cron.SpecSchedule); ok && c.Location == time.Local {
			c.Location = calendar.Zone()
		}
		t[j] = parsed
	}
	return t, nil
}

// Keep takes over the schedules of before that say the same, so that nothing moves
// because of them. It is true when any says something else.
func (t *Timetable) Keep(before Timetable) (changed bool) {
	for j := range t {
		if reflect.DeepEqual(t[j], before[j]) {
			t[j] = before[j]
		} else {
			changed = true
		}
	}
	return changed
}

// Next is when a source's job is due after an instant. The source's name decides where
// inside the interval its turn is, so that a thousand sources do not ask at once, and so
// that a restart does not move it.
func (t Timetable) Next(j Job, source string, after time.Time) time.Time {
	h := Hash(source, fmt.Sprint(int(j)))
	if every, ok := t[j].(cron.ConstantDelaySchedule); ok {
		return nextPhase(every.Delay, h, after)
	}
	offset := time.Duration(h % uint64(t.spread(j, after)))
	return t[j].Next(after.Add(-offset)).Add(offset)
}

// Due is true when a job's turn has come since it was last done.
func (t Timetable) Due(j Job, source string, last, now time.Time) bool {
	return !last.IsZero() && !t.Next(j, source, last).After(now)
}

// Interval is the time between two turns of a job around an instant.
func (t Timetable) Interval(j Job, around time.Time) time.Duration {
	if every, ok := t[j].(cron.ConstantDelaySchedule); ok {
		return every.Delay
	}
	first := t[j].Next(around)
	return t[j].Next(first).Sub(first)
}

func (t Timetable) spread(j Job, around time.Time) time.Duration {
	return max(min(t.Interval(j, around), MaxSpread), 1)
}

// nextPhase is the first time after an instant at the source's phase of the interval.
func nextPhase(every time.Duration, hash uint64, after time.Time) time.Time {
	phase := int64(hash % uint64(every))
	since := (after.UnixNano() - phase) % int64(every)
	if since < 0 {
		since += int64(every)
	}
	return after.Add(every - time.Duration(since))
}
