package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLifecycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Cleanups{Log: slog.New(slog.DiscardHandler)}
		var order []string
		note := func(name string, err error) func(context.Context) error {
			return func(context.Context) error { order = append(order, name); return err }
		}
		l.Add("first", time.Second, note("first", nil))
		l.Add("broken", time.Second, note("broken", errors.New("no")))
		stuck := make(chan struct{})
		l.Add("stuck", 5*time.Second, func(context.Context) error { <-stuck; return nil })
		l.Add("obedient", 3*time.Second, func(ctx context.Context) error { <-ctx.Done(); return nil })
		l.Add("last", time.Second, note("last", nil))

		began := time.Now()
		err := l.Close()
		if got := strings.Join(order, " "); got != "last broken first" {
			t.Errorf("order = %s", got)
		}
		if err == nil || !strings.Contains(err.Error(), "stop broken: no") || !strings.Contains(err.Error(), "stop stuck: still not done after 5s") {
			t.Errorf("err = %v", err)
		}
		if took := time.Since(began); took != 9*time.Second {
			t.Errorf("took %s, want the deadlines of what hangs", took)
		}
		if err := l.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
		close(stuck)
	})
}

func TestALoopGoesOnAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := slog.New(slog.NewTextHandler(&out, nil))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		turns, began := 0, time.Now()
		Loop(ctx, log, "a test", func(context.Context) {
			if turns++; turns < 4 {
				panic("broken")
			}
		})
		if turns != 4 || time.Since(began) != 3*panicPause {
			t.Errorf("%d turns within %s, want 4 with a pause after each panic", turns, time.Since(began))
		}
		Loop(ctx, log, "a test", func(context.Context) { cancel(); panic("broken") })
		if n := strings.Count(out.String(), "in=\"a test\" panic=broken stack="); n != 4 {
			t.Errorf("%d panics are logged, want 4:\n%s", n, out.String())
		}
	})
}

func TestBackoffDoubles(t *testing.T) {
	for failures, want := range map[int]time.Duration{0: time.Second, 1: 2 * time.Second, 5: 32 * time.Second, 6: time.Minute, 1000: time.Minute} {
		if got := Backoff(time.Second, time.Minute, failures); got != want {
			t.Errorf("after %d failures %s, want %s", failures, got, want)
		}
	}
	if least, most := Between(time.Second, time.Minute, 0), Between(time.Second, time.Minute, 0.999999); least != time.Second || most < 59*time.Second || most >= time.Minute {
		t.Errorf("between %s and %s", least, most)
	}
}
