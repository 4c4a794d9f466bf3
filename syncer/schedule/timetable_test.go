package schedule

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

func TestTheScheduleIsSpreadAndStable(t *testing.T) {
	times, err := New(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	seconds := map[int]int{}
	for i := range 300 {
		name := fmt.Sprintf("source%d", i)
		first := times.Next(Incremental, name, start)
		if second := times.Next(Incremental, name, first); second.Sub(first) != 30*time.Second {
			t.Fatalf("%s: %s after %s", name, second, first)
		}
		if again := times.Next(Incremental, name, start.Add(time.Millisecond)); again != first {
			t.Fatalf("%s: a restart moves its turn from %s to %s", name, first, again)
		}
		seconds[first.Second()%30]++
	}
	for s := range 30 {
		if seconds[s] > 30 {
			t.Errorf("%d of 300 sources in second %d", seconds[s], s)
		}
	}
	for _, j := range []Job{Reconcile, ReconcileDeep} {
		at := times.Next(j, "bistro", start)
		for range 4 {
			next := times.Next(j, "bistro", at)
			if gap := next.Sub(at); gap <= 0 || gap > 25*time.Hour {
				t.Errorf("job %d: %s after %s", j, next, at)
			}
			at = next
		}
	}
	at := times.Next(ReconcileDeep, "bistro", start).In(Zone())
	if late := at.Sub(time.Date(at.Year(), at.Month(), at.Day(), 2, 30, 0, 0, Zone())); late < 0 || late > time.Hour {
		t.Errorf("the deep run is at %s in Bucharest", at)
	}
}

// The turns are where they were in the release before, whatever jobs there are by now.
func TestTurnsStayWhereTheyAre(t *testing.T) {
	times, err := New(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for j, want := range map[Job]time.Duration{
		Incremental:   10*time.Second + 478*time.Millisecond,
		Snapshots:     4*time.Minute + 24*time.Second + 150*time.Millisecond,
		Reconcile:     10*time.Minute + 30*time.Second,
		ReconcileDeep: 1*time.Hour + 6*time.Minute + 37*time.Second + 185*time.Millisecond,
		FullResync:    146*time.Hour + 45*time.Minute + 44*time.Second + 660*time.Millisecond,
	} {
		if got := times.Next(j, "bistro", start).Sub(start).Truncate(time.Millisecond); got != want {
			t.Errorf("job %d: its turn is %s after midnight, and was %s", j, got, want)
		}
	}
}

// TestTurnsOfYesterdayAndTodayComeInGroups, whose orders are added up together, and all over the interval.
func TestTurnsOfYesterdayAndTodayComeInGroups(t *testing.T) {
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for _, spec := range []string{"*/15 * * * *", "@every 15m"} {
		times, err := New(Spec{Reconcile: spec})
		if err != nil {
			t.Fatal(err)
		}
		groups := map[time.Time]int{}
		for i := range 1000 {
			groups[times.Next(Reconcile, fmt.Sprint("source", i), start)]++
		}
		for at, n := range groups {
			if n < 10 || n > 70 || at.Sub(start)%(30*time.Second) != 0 {
				t.Errorf("%s: %d of 1000 sources at %s", spec, n, at)
			}
		}
		if len(groups) != 30 {
			t.Errorf("%s: %d groups", spec, len(groups))
		}
	}
}

// A field that New does not read would take its default, whatever it says.
func TestEveryFieldOfTheScheduleIsRead(t *testing.T) {
	for i := range reflect.TypeFor[Spec]().NumField() {
		var s Spec
		reflect.ValueOf(&s).Elem().Field(i).SetString("every now and then")
		if _, err := New(s); err == nil {
			t.Errorf("%s is not read", reflect.TypeFor[Spec]().Field(i).Name)
		}
	}
}

// Of a job that is off no turn is ever due, and the others go on.
func TestAJobThatIsOffHasNoTurns(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	some, err := New(Spec{Reconcile: "off", ReconcileDeep: "off", FullResync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := New(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	rare := some
	rare[FullResync], err = Parse("0 0 29 2 *") // from 2096 on none for eight years, which the parser calls never
	if err != nil {
		t.Fatal(err)
	}
	late := time.Date(2096, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		times Timetable
		now   time.Time
	}{"off": {some, now}, "no leap year in sight": {rare, late}} {
		turns := NewTurns("bistro", c.times, c.now)
		if due := turns.Take(c.now); !slices.Equal(due, []Job{Incremental, Snapshots, OnlineOrders}) {
			t.Errorf("%s: due at the start: %v", name, due)
		}
		if at := turns.Next(); at.Before(c.now) || at.Sub(c.now) > 30*time.Second {
			t.Errorf("%s: the next turn is at %s", name, at)
		}
		for range 1000 {
			at := turns.Next()
			for _, j := range turns.Take(at) {
				if j == Reconcile || j == ReconcileDeep || j == FullResync {
					t.Fatalf("%s: job %d is due at %s", name, j, at)
				}
			}
		}
		if c.times.Due(FullResync, "bistro", c.now.AddDate(0, 0, -1), c.now) {
			t.Errorf("%s: a full resync is owed", name)
		}
		if c.times.Interval(FullResync, c.now) != never || !turns.From(FullResync, c.now).IsZero() {
			t.Errorf("%s: a full resync is to come", name)
		}
		turns.Follow(all, c.now)
		if at := turns.From(FullResync, c.now); at.Sub(c.now) <= 0 || at.Sub(c.now) > 8*24*time.Hour {
			t.Errorf("%s: switched on, a full resync is to come at %s", name, at)
		}
		turns.Follow(some, c.now)
		if at := turns.From(FullResync, c.now); !at.IsZero() {
			t.Errorf("%s: switched off, a full resync is to come at %s", name, at)
		}
	}
}

func TestASchedule(t *testing.T) {
	for spec, want := range map[string]string{
		"0 0 31 2 *":                   "it never runs",
		"0 0 30 2 *":                   "it never runs",
		"0 0 31 4,6,9,11 *":            "it never runs",
		"0 0 29 2 *":                   "",
		"off":                          "",
		"":                             "empty spec string",
		"CRON_TZ=Europe/Bucharest":     "time zone without a schedule",
		"TZ=UTC":                       "time zone without a schedule",
		"TZ=Europe/Bukarest 0 4 * * *": "provided bad location Europe/Bukarest",
		"61 * * * *":                   "above maximum (59)",
	} {
		_, err := Parse(spec)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", spec, err, want)
		}
	}
}

func TestTheDefaultsRunOnceOnEveryDay(t *testing.T) {
	times, err := New(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range []Job{ReconcileDeep, FullResync} {
		at := times.Next(j, "bistro", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		for range 400 {
			next := times.Next(j, "bistro", at)
			if days := next.Sub(at).Hours() / 24; j == ReconcileDeep && (days < 0.95 || days > 1.05) || j == FullResync && (days < 6.95 || days > 7.05) {
				t.Errorf("job %d: %s after %s", j, next, at)
			}
			at = next
		}
	}
}

func TestScheduleErrorsNameTheField(t *testing.T) {
	_, err := New(Spec{Reconcile: "every now and then"})
	if err == nil || err.Error()[:18] != "schedule.reconcile" {
		t.Errorf("error %v", err)
	}
}

// counted counts how many times are computed.
type counted struct {
	cron.Schedule
	times *int
}

func (c counted) Next(at time.Time) time.Time {
	*c.times++
	return c.Schedule.Next(at)
}

// A memo says what the timetable says, and computes anew only what has changed.
func TestAMemoComputesOnce(t *testing.T) {
	times, err := New(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	computed := 0
	times[FullResync] = counted{times[FullResync], &computed}
	var m Memo
	last := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	ask := func(last time.Time) (n int) {
		for at := last.Add(-time.Hour); at.Before(last.Add(8 * 24 * time.Hour)); at = at.Add(10 * time.Minute) {
			want := times.Due(FullResync, "bistro", last, at)
			before := computed
			if got := m.Due(times, FullResync, "bistro", last, at); got != want {
				t.Fatalf("last done at %s, due at %s: %v", last, at, got)
			}
			n += computed - before
		}
		return n
	}
	if n := ask(last); n > 3 {
		t.Errorf("%d times were computed", n)
	}
	if n := ask(last); n > 0 {
		t.Errorf("%d times were computed once more", n)
	}
	if n := ask(last.Add(3 * 24 * time.Hour)); n == 0 {
		t.Error("nothing was computed for another last time")
	}
	for _, spec := range []string{"0 5 * * 2", "off", "@every 1h"} {
		if times[FullResync], err = Parse(spec); err != nil {
			t.Fatal(err)
		}
		ask(last)
	}
	if m.Due(times, FullResync, "bistro", time.Time{}, last) {
		t.Error("due though it was never done")
	}
}
