// Package schedule computes when each job of a source is due, and the days of a restaurant: calendar
// days in Bucharest.
//
// Contents: cron forms and intervals (timetable.go), when the jobs of a source are due (turns.go),
// and days (days.go).
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
)

// Spec says when what is asked, in cron's form, "@every 30s" or "off". Cron times are
// Bucharest's; a CRON_TZ= prefix overrides that. Empty fields take the defaults of
// docs/configuration.md.
type Spec struct {
	Incremental   string // cursor lists
	OnlineOrders  string // orders placed through the key
	Snapshots     string // locations, allergens, the key
	Reconcile     string // totals of yesterday and today
	ReconcileDeep string // totals of the last 92 days, per location
	FullResync    string // a walk of everything, and the sweep after it
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
	Jobs // how many there are
)

// Why is why a stream runs when it does, in a word.
type Why string

// The reasons.
const (
	ByTurn    Why = "turn"      // the turn of one of its walks comes then
	UnderWay  Why = "under_way" // a walk of any kind runs just now
	Asked     Why = "asked"     // the service has asked to wait: the first turn after that
	Probed    Why = "probe"     // its source is in trouble, and is asked again first
	Elsewhere Why = "elsewhere" // another process serves its source
	Off       Why = "off"       // nothing is asked for it and nothing of it is to be removed, or the jobs of its walks are off
	Unserved  Why = ""          // no daemon serves its source
)

// MaxSpread bounds how far a source's turn moves within a long interval.
const MaxSpread = time.Hour

// group is how far apart the turns of yesterday and today are at least that do not begin together: those of a group
// add up their orders in the same statements.
const group = 30 * time.Second

// never is longer than any interval; two of it fit into a time.Duration.
const never = 100 * 365 * 24 * time.Hour

// Timetable gives the next time of each job.
type Timetable [Jobs]cron.Schedule

// off is the schedule of a job that has no turns.
type off struct{}

func (off) Next(time.Time) time.Time { return time.Time{} }

// Parse reads one schedule. What has no next time is an error.
func Parse(spec string) (cron.Schedule, error) {
	if spec == "off" {
		return off{}, nil
	}
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		if !strings.Contains(spec, " ") { // the parser panics
			return nil, errors.New("a time zone without a schedule")
		}
	}
	parsed, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, err
	}
	if c, ok := parsed.(*cron.SpecSchedule); ok && c.Location == time.Local {
		c.Location = Zone()
	}
	if parsed.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() { // looks five years ahead, over a leap day
		return nil, errors.New("it never runs: none of its months has that day")
	}
	return parsed, nil
}

// New reads a timetable. The error names the field and what stands there.
func New(s Spec) (Timetable, error) {
	var t Timetable
	for j, f := range []struct{ name, spec, standard string }{
		Incremental:   {"incremental", s.Incremental, "@every 30s"},
		Snapshots:     {"snapshots", s.Snapshots, "@every 5m"},
		Reconcile:     {"reconcile", s.Reconcile, "*/15 * * * *"},
		ReconcileDeep: {"reconcile_deep", s.ReconcileDeep, "30 2 * * *"},
		FullResync:    {"full_resync", s.FullResync, "0 4 * * 0"},
		OnlineOrders:  {"online_orders", s.OnlineOrders, "@every 15s"},
	} {
		spec := cmp.Or(f.spec, f.standard)
		parsed, err := Parse(spec)
		if err != nil {
			return t, fmt.Errorf("schedule.%s %q: %w", f.name, spec, err)
		}
		t[j] = parsed
	}
	return t, nil
}

// Next is when a source's job is due after an instant; zero for one that is off. The
// source's name decides where inside the interval its turn is, so that a thousand sources
// do not ask at once, and so that a restart does not move it.
func (t Timetable) Next(j Job, source string, after time.Time) time.Time {
	h := Hash(source, strconv.Itoa(int(j)))
	every, regular := t[j].(cron.ConstantDelaySchedule)
	within := every.Delay
	if !regular {
		within = max(min(t.Interval(j, after), MaxSpread), 1)
	}
	offset := time.Duration(h % uint64(within)) //nolint:gosec // above zero
	if j == Reconcile {
		offset = offset.Truncate(group)
	}
	if regular { // the first time at the source's phase of the interval
		since := (after.UnixNano() - int64(offset)) % int64(every.Delay)
		if since < 0 {
			since += int64(every.Delay)
		}
		return after.Add(every.Delay - time.Duration(since))
	}
	next := t[j].Next(after.Add(-offset))
	if next.IsZero() {
		return next
	}
	return next.Add(offset)
}

// Due is true when a job's turn has come since it was last done.
func (t Timetable) Due(j Job, source string, last, now time.Time) bool {
	return !last.IsZero() && isDue(t.Next(j, source, last), now)
}

// Memo keeps when one job of one source is due next after it was last done. Whether a full resync is due is computed at
// every incremental turn otherwise, and cron takes a third of what a turn takes for that. The zero Memo is ready to use.
type Memo struct {
	mu         sync.Mutex // guards what follows
	by         cron.Schedule
	last, next time.Time
}

// Due is [Timetable.Due], always of the same job and source.
func (m *Memo) Due(t Timetable, j Job, source string, last, now time.Time) bool {
	if last.IsZero() {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by != t[j] || !m.last.Equal(last) {
		m.by, m.last, m.next = t[j], last, t.Next(j, source, last)
	}
	return isDue(m.next, now)
}

// isDue reports whether a next time, if there is one, has come.
func isDue(next, now time.Time) bool { return !next.IsZero() && !next.After(now) }

// Off reports whether a job has no turns.
func (t Timetable) Off(j Job) bool { return t[j] == cron.Schedule(off{}) }

// Interval is the time between two turns of a job around an instant; 100 years for one that is off.
func (t Timetable) Interval(j Job, around time.Time) time.Duration {
	if every, ok := t[j].(cron.ConstantDelaySchedule); ok {
		return min(every.Delay, never)
	}
	first := t[j].Next(around)
	second := t[j].Next(first)
	if first.IsZero() || second.IsZero() {
		return never
	}
	return second.Sub(first)
}

// Patience is how long a job may take until what it brings is called behind. Of fresh data it is a
// turn that has not ended by the next but one, and the answer to a request takes a minute at most.
// Of other jobs some turns may fail, or have much to do.
func (t Timetable) Patience(j Job, now time.Time) time.Duration {
	interval := t.Interval(j, now)
	usual := max(10*time.Minute, 2*interval+5*time.Minute)
	if j == Incremental || j == OnlineOrders {
		return min(usual, max(time.Minute, 3*interval))
	}
	return usual
}

// Longest returns the longest time between two runs of a valid schedule, in a week without a change
// of clocks.
func Longest(spec string) (longest time.Duration) {
	parsed, err := Parse(spec)
	if err != nil {
		return 0
	}
	if every, ok := parsed.(cron.ConstantDelaySchedule); ok {
		return every.Delay
	}
	at := parsed.Next(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	for end := at.AddDate(0, 0, 7); at.Before(end); {
		next := parsed.Next(at)
		if next.IsZero() {
			return never
		}
		longest, at = max(longest, next.Sub(at)), next
	}
	return longest
}
