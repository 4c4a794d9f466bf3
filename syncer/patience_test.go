package syncer

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// patientSink notes how long each wait for a commit with rows may last, by stream.
type patientSink struct {
	sinks.Sink

	mu   sync.Mutex
	seen map[string][]time.Duration
}

func (s *patientSink) Write(ctx context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	r, err := s.Sink.Write(ctx, c)
	if err != nil || c.Batch == nil || len(c.Batch.Rows) == 0 {
		return r, err
	}
	noting := sinks.NewReceipt(func(patience time.Duration) {
		s.mu.Lock()
		s.seen[c.Stream] = append(s.seen[c.Stream], patience)
		s.mu.Unlock()
	})
	go func() {
		// As long as the test lasts; of the sink's receipt nobody waits.
		noting.Resolve(r.WaitPatiently(context.WithoutCancel(ctx), time.Minute))
	}()
	return noting, nil
}

// take returns what was noted of a stream since the last time.
func (s *patientSink) take(stream string) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer delete(s.seen, stream)
	return s.seen[stream]
}

// The rows of a turn may be flushed four seconds after another flush, or a third of the interval where that
// is less. A webhook, a command and what a proof walks wait for the next flush.
func TestTheRowsOfATurnMayWaitForOthers(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		sink := &patientSink{seen: map[string][]time.Duration{}}
		w.tune = func(o *Options) { sink.Sink, o.Sink = o.Sink, sink }
		w.schedule.OnlineOrders = "@every 6s"
		w.run(w.one())
		w.until("filled", time.Minute, w.filled)
		time.Sleep(time.Minute)
		sink.take("categories")
		f.set(cats, category("a", "A", stamp(0)))
		time.Sleep(time.Minute)
		if got := sink.take("categories"); len(got) != 1 || got[0] != 4*time.Second {
			t.Errorf("a turn every 30 seconds waits with a patience of %v", got)
		}
		sink.take(registry.Online)
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now()))
		time.Sleep(time.Minute)
		if got := sink.take(registry.Online); len(got) != 1 || got[0] != 2*time.Second {
			t.Errorf("a turn every 6 seconds waits with a patience of %v", got)
		}
		w.deliver(onlineOrder("o2", "received", "l1", time.Now()))
		if got := sink.take(registry.Online); len(got) != 1 || got[0] != 0 {
			t.Errorf("a webhook waits with a patience of %v", got)
		}
		f.set(cats, category("a", "B", stamp(0)))
		st := w.list("categories")
		if err := st.Hurry(t.Context(), st.CatchUp); err != nil {
			t.Fatal(err)
		}
		if got := sink.take("categories"); len(got) != 1 || got[0] != 0 {
			t.Errorf("a walk that somebody waits for waits with a patience of %v", got)
		}
	})
}

// TestWhatADeepRunStoresMayWaitForOthers: it is handed over after each question, and waited for at the end.
func TestWhatADeepRunStoresMayWaitForOthers(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 56, LocationsPer: 4, Orders: 200, Days: 10}, func(t *testing.T, w *world) {
		sink := &patientSink{seen: map[string][]time.Duration{}}
		w.tune = func(o *Options) { sink.Sink, o.Sink = o.Sink, sink }
		w.run()
		w.until("backfill", time.Hour, w.filled)
		w.until("a deep run", time.Hour, func() bool { return w.stream(registry.Daily).Progress != nil })
		sink.take(registry.Daily)
		w.until("its questions", time.Hour, func() bool { p := w.stream(registry.Daily).Progress; return p == nil || p.RequestsLeft == 0 })
		if got := sink.take(registry.Daily); len(got) > 1 {
			t.Errorf("beside its questions it waits for %d flushes", len(got))
		}
		w.compared()
		got := sink.take(registry.Daily)
		if slices.ContainsFunc(got, func(patience time.Duration) bool { return patience != 10*time.Second }) || len(got) < 3 {
			t.Errorf("it waits with a patience of %v", got)
		}
	})
}

// A proof does not wait out the patience of the turn that is under way.
func TestAWalkThatIsWaitedForEndsATurnsPatience(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("filled", time.Minute, w.filled)
		time.Sleep(time.Minute)
		st := w.list("categories")
		turn := st.Source.Timetable().Next(schedule.Incremental, "s", time.Now().Add(time.Second))
		time.Sleep(time.Until(turn.Add(-time.Second / 2)))
		w.deliver(onlineOrder("o2", "received", "l1", time.Now())) // a flush begins
		f.set(cats, category("a", "A", stamp(0)))
		time.Sleep(time.Until(turn.Add(time.Second / 4)))
		if !st.Guard.Taken() {
			t.Fatal("the turn does not wait for its flush")
		}
		asked := time.Now()
		if err := st.Hurry(t.Context(), func(ctx context.Context) error { return st.Guard.Run(ctx, st.CatchUp) }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(asked); took > time.Second {
			t.Errorf("it took %s behind the walk of a turn", took)
		}
	})
}
