package schedule

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/calendar"
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
	if at := times.Next(ReconcileDeep, "bistro", start).In(calendar.Zone()); at.Hour() != 3 && at.Hour() != 4 {
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
		Reconcile:     10*time.Minute + 36*time.Second + 27*time.Millisecond,
		ReconcileDeep: 2*time.Hour + 6*time.Minute + 37*time.Second + 185*time.Millisecond,
		FullResync:    146*time.Hour + 45*time.Minute + 44*time.Second + 660*time.Millisecond,
	} {
		if got := times.Next(j, "bistro", start).Sub(start).Truncate(time.Millisecond); got != want {
			t.Errorf("job %d: its turn is %s after midnight, and was %s", j, got, want)
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

func TestScheduleErrorsNameTheField(t *testing.T) {
	_, err := New(Spec{Reconcile: "every now and then"})
	if err == nil || err.Error()[:18] != "schedule.reconcile" {
		t.Errorf("error %v", err)
	}
}
