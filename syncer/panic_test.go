package syncer

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// faultySink panics at its next beat when it is broken.
type faultySink struct {
	sinks.Sink
	broken atomic.Bool
}

func (s *faultySink) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	if s.broken.CompareAndSwap(true, false) {
		panic("a broken beat")
	}
	return s.Sink.Beat(ctx, p, wants)
}

// Outside of walks, too, a panic ends neither the daemon nor the mirroring of any source.
func TestAPanicOutsideOfAWalkEndsNothing(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 500, Businesses: 2}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.process = "p"
		sink := &faultySink{}
		tune := w.tune
		w.tune = func(o *Options) {
			tune(o)
			sink.Sink, o.Sink = o.Sink, sink
		}
		var brokenKey atomic.Bool
		sources := w.sources()
		key := sources[0].Key
		sources[0].Key = func() string {
			if brokenKey.CompareAndSwap(true, false) {
				panic("a broken key")
			}
			return key()
		}
		w.run(sources...)
		w.until("mirrored", 5*time.Minute, w.filled)
		for name, fault := range map[string]*atomic.Bool{"a broken key": &brokenKey, "a broken beat": &sink.broken} {
			log.take()
			fault.Store(true)
			time.Sleep(2 * time.Minute)
			lines := strings.Join(log.take(), "\n")
			if fault.Load() || !strings.Contains(lines, name) || !strings.Contains(lines, "stack=") {
				t.Errorf("%s: the log has no panic with a stack:\n%s", name, lines)
			}
			for i, s := range w.syncer.Status().Sources {
				if s.State != status.StateRunning || !walked(s) {
					t.Errorf("%s: source %d is %s, and walked within a minute: %t", name, i, s.State, walked(s))
				}
			}
		}
		if _, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{"allergens"}}, func(status.Status) { panic("a broken progress") }); err != nil {
			t.Errorf("a pass whose progress cannot be shown: %v", err)
		}
		broken := pass{
			visit: func(context.Context, int, *source) error { panic("a broken pass") },
			ended: func(_ int, _ string, err error) {
				if err == nil || !strings.Contains(err.Error(), "a broken pass") {
					t.Errorf("a visit that panics ends with %v", err)
				}
			},
		}
		must(t, w.syncer.pass(t.Context(), w.syncer.supervisors(), broken))
		w.until("the next lives are served", time.Minute, w.filled)
	})
}

// walked reports whether the categories of a source were walked within the last minute.
func walked(s status.SourceStatus) bool {
	i := slices.IndexFunc(s.Streams, func(st status.StreamStatus) bool { return st.Name == "categories" })
	return time.Since(s.Streams[i].LastSuccess) < time.Minute
}

// A source that cannot be built again after it was lost is tried again; the others go on.
func TestALostSourceThatCannotBeBuiltIsTriedAgain(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 500, Businesses: 2}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.process = "p"
		w.run()
		w.until("mirrored", 5*time.Minute, w.filled)
		synctest.Wait() // nothing reads the definitions while they change
		known := w.syncer.definitions
		w.syncer.definitions = append([]*registry.Definition{{Name: "unheard of", Kind: -1}}, known...)
		w.syncer.lost("r0", &lease.WaitingError{})
		time.Sleep(150 * time.Second)
		synctest.Wait()
		w.syncer.definitions = known
		lost, other := w.syncer.Status().Sources[0], w.syncer.Status().Sources[1]
		if walked(lost) || !walked(other) {
			t.Errorf("walked within a minute: the lost source %t, the other %t", walked(lost), walked(other))
		}
		w.until("both are served", 2*time.Minute, w.filled)
		if lines := strings.Join(loud(log.take()), "\n"); !strings.Contains(lines, "cannot be served, it is tried again") || !strings.Contains(lines, "r0") {
			t.Errorf("the log does not name it:\n%s", lines)
		}
	})
}

// A loop that panics at its beginning does so again after a pause.
func TestALoopThatKeepsPanickingWaits(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 100}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.run()
		w.until("mirrored", 5*time.Minute, w.filled)
		log.take()
		good := w.syncer.times.Load()
		w.syncer.times.Store(&schedule.Timetable{}) // which no loop can follow
		w.syncer.served()[0].wakeLoop()
		time.Sleep(time.Minute)
		if n := strings.Count(strings.Join(log.take(), "\n"), "stack="); n == 0 || n > 20 {
			t.Errorf("%d panics in a minute", n)
		}
		w.syncer.times.Store(good)
		w.until("served again", 10*time.Minute, func() bool { return walked(w.source()) })
	})
}

// A new life lists what the last one did, until it has read what is stored: what a sibling does not
// list any more stays while this one has it.
func TestANewLifeListsForItsSiblings(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		general, own := allergen("g", "Gluten"), allergen("l", "Lactose")
		f.rows["/allergens"] = []string{general, own}
		var narrow atomic.Bool
		f.answer["/allergens"] = func(out http.ResponseWriter, r *http.Request) bool {
			if !narrow.Load() || !strings.HasSuffix(r.Header.Get("Authorization"), "kb") {
				return false
			}
			fmt.Fprintf(out, `{"data":[%s]}`, general)
			return true
		}
		w.schedule = Schedule{Incremental: "@every 30s", Snapshots: "@every 5s"}
		live := func() uint64 {
			n, err := w.sink.CountLive(t.Context(), sinks.LiveQuery{Table: "allergens", Business: "b1"})
			must(t, err)
			return n
		}
		w.run(sourceOf("a", "ka"), sourceOf("b", "kb"))
		w.until("mirrored", 5*time.Minute, func() bool { return live() == 2 })
		time.Sleep(time.Minute)
		_ = w.syncer.served()[0].isolated("a test", func() error { panic("broken") })
		narrow.Store(true)
		time.Sleep(10 * time.Minute)
		if n := live(); n != 2 {
			t.Errorf("%d are live", n)
		}
	})
}

// brokenRows is a warehouse whose answers about stored online orders panic while it is broken.
type brokenRows struct {
	sinks.Sink
	broken *atomic.Bool
}

func (s brokenRows) Rows(ctx context.Context, table, business string, ids []string) ([]sinks.StoredRow, error) {
	if table == registry.Online && s.broken.Load() {
		panic("broken rows")
	}
	return s.Sink.Rows(ctx, table, business, ids)
}

// A panic in a delivery ends the life of its source, and the next one takes deliveries.
func TestAPanicInADeliveryEndsALife(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		var broken atomic.Bool
		w.tune = func(o *Options) { o.Sink = brokenRows{o.Sink, &broken} }
		w.run(w.one(keeping(t, personal.Keep)))
		w.until("filled", time.Minute, w.filled)
		first, asked := w.syncer.served()[0], w.source().Requests
		deliver := func() error {
			long := time.Now().Add(-time.Hour) // it is not remembered whether anything of it is stored
			_, err := w.syncer.Deliver(t.Context(), "s", []byte(onlineOrder("o1", "accepted", "l1", long)))
			return err
		}
		broken.Store(true)
		if err := deliver(); err == nil || !strings.Contains(err.Error(), "panic: broken rows") {
			t.Errorf("the delivery: %v", err)
		}
		if s := w.source(); first.over() == nil || s.Requests < asked {
			t.Errorf("after the panic the life is over: %v, with %d requests of %d", first.over(), s.Requests, asked)
		}
		w.until("the panic is shown", time.Second, func() bool {
			return w.source().State == status.StateFailing && strings.Contains(w.source().Detail, "broken rows")
		})
		if n := testutil.ToFloat64(w.syncer.metrics.panics); n != 1 {
			t.Errorf("%v panics are counted", n)
		}
		broken.Store(false)
		w.until("the next life is served", time.Minute, w.filled)
		if n := w.source().Requests; n <= asked {
			t.Errorf("it counts %d requests, %d before", n, asked)
		}
		must(t, deliver())
	})
}

// A panic of what follows a visit is an error of the pass.
func TestAPanicBehindAVisit(t *testing.T) {
	inFake(t, func(t *testing.T, _ *fake, w *world) {
		y := w.open(w.one())
		err := y.pass(t.Context(), y.supervisors(), pass{
			visit: func(context.Context, int, *source) error { return nil },
			ended: func(int, string, error) { panic("the report") },
		})
		if err == nil || !strings.Contains(err.Error(), "panic: the report") {
			t.Errorf("the pass: %v", err)
		}
	})
}
