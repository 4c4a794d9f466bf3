package stream

import (
	"context"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/schedule"
)

func TestTheFirstTurnOfTasks(t *testing.T) {
	times, err := schedule.New(schedule.Spec{Incremental: "@every 1m", Reconcile: "@every 1h", FullResync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	turns := schedule.NewTurns("bistro", times, now)
	turns.Take(now)
	walk := func(context.Context) error { return nil }
	owed := func(is bool) func() bool { return func() bool { return is } }
	recent, hourly := NewSlot().Task(walk, schedule.Incremental), NewSlot().Task(walk, schedule.Reconcile)
	for name, c := range map[string]struct {
		tasks []Task
		from  time.Duration
		want  schedule.Job // whose turn comes first; -1 for none
	}{
		"by schedule":                {[]Task{recent}, 0, schedule.Incremental},
		"the first of several":       {[]Task{hourly, recent}, 0, schedule.Incremental},
		"later":                      {[]Task{recent}, 90 * time.Second, schedule.Incremental},
		"owed":                       {[]Task{NewSlot().LongTask(walk, owed(true)), hourly}, 0, schedule.Incremental},
		"not owed":                   {[]Task{NewSlot().LongTask(walk, owed(false)), hourly}, 0, schedule.Reconcile},
		"not owed, its job is off":   {[]Task{NewSlot().LongTask(walk, owed(false))}, 0, -1},
		"a slot that begins nothing": {[]Task{{Slot: NewSlot()}}, 0, -1},
		"nothing":                    {nil, 0, -1},
	} {
		var want time.Time
		from := now.Add(c.from)
		if c.want >= 0 {
			want = times.Next(c.want, "bistro", from)
		}
		if at := FirstTurn(c.tasks, turns, from); !at.Equal(want) {
			t.Errorf("%s: %s, want %s", name, at, want)
		}
	}
}

func TestATaskBeginsAtItsTurns(t *testing.T) {
	is := false
	task := NewSlot().LongTask(nil, func() bool { return is })
	if !task.Begins(schedule.FullResync) || task.Begins(schedule.Incremental) || task.Begins(schedule.Reconcile) {
		t.Error("a full resync that is not owed begins at other turns than its own")
	}
	if is = true; !task.Begins(schedule.Incremental) || task.Begins(schedule.Reconcile) {
		t.Error("a full resync that is owed does not begin at the next incremental turn alone")
	}
}
