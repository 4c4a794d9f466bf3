package syncer

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule says when what is asked, in cron's form or "@every 30s". Cron times
// are Bucharest's; a CRON_TZ= prefix overrides that. Empty fields take the
// defaults of DESIGN §3.
type Schedule struct {
	Incremental   string // cursor lists
	Snapshots     string // locations, allergens, the key
	Reconcile     string // totals of yesterday and today
	ReconcileDeep string // totals of the last 92 days, per location
	FullResync    string // a walk of everything, and the sweep after it
}

// The jobs of a source, each on its own schedule.
type job int

const (
	jobIncremental job = iota
	jobSnapshots
	jobTotals
	jobTotalsDeep
	jobFull
	jobCount
)

// maxSpread bounds how far a source's turn moves within a long interval.
const maxSpread = time.Hour

// timetable gives the next time of each job, before the spread by source.
type timetable [jobCount]cron.Schedule

func newTimetable(s Schedule) (timetable, error) {
	var t timetable
	for j, f := range []struct{ name, spec, standard string }{
		jobIncremental: {"incremental", s.Incremental, "@every 30s"},
		jobSnapshots:   {"snapshots", s.Snapshots, "@every 5m"},
		jobTotals:      {"reconcile", s.Reconcile, "*/15 * * * *"},
		jobTotalsDeep:  {"reconcile_deep", s.ReconcileDeep, "30 3 * * *"},
		jobFull:        {"full_resync", s.FullResync, "0 4 * * 0"},
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
			c.Location = bucharest()
		}
		t[j] = parsed
	}
	return t, nil
}

// next returns when a source's job is due after t. The source's name decides
// where inside the interval its turn is, so that a thousand sources do not ask at
// once, and so that a restart does not move it.
func (t timetable) next(j job, source string, after time.Time) time.Time {
	h := nameHash(source, fmt.Sprint(int(j)))
	if every, ok := t[j].(cron.ConstantDelaySchedule); ok {
		return nextPhase(every.Delay, h, after)
	}
	offset := time.Duration(h % uint64(t.spread(j, after)))
	return t[j].Next(after.Add(-offset)).Add(offset)
}

// interval is the time between two turns of a job around t.
func (t timetable) interval(j job, around time.Time) time.Duration {
	if every, ok := t[j].(cron.ConstantDelaySchedule); ok {
		return every.Delay
	}
	first := t[j].Next(around)
	return t[j].Next(first).Sub(first)
}

func (t timetable) spread(j job, around time.Time) time.Duration {
	return max(min(t.interval(j, around), maxSpread), 1)
}

// nextPhase is the first time after t at the source's phase of the interval.
func nextPhase(every time.Duration, hash uint64, after time.Time) time.Time {
	phase := int64(hash % uint64(every))
	since := (after.UnixNano() - phase) % int64(every)
	if since < 0 {
		since += int64(every)
	}
	return after.Add(every - time.Duration(since))
}
