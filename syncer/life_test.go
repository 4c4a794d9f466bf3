package syncer

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// lateRows is a warehouse that answers what it is asked of stored online orders only when it
// is let go, whatever ends meanwhile.
type lateRows struct {
	sinks.Sink
	asked func()
	again chan struct{}
}

func (s lateRows) Rows(ctx context.Context, table, business string, ids []string) ([]sinks.StoredRow, error) {
	rows, err := s.Sink.Rows(ctx, table, business, ids)
	if table == registry.Online {
		s.asked()
		<-s.again
	}
	return rows, err
}

// inLateDelivery runs a test while a delivery of order o1 waits for the warehouse. The
// delivery ends before arrive returns.
func inLateDelivery(t *testing.T, test func(t *testing.T, w *world, arrive func() error)) {
	t.Helper()
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		asked, answers := make(chan struct{}), make(chan struct{})
		w.tune = func(o *Options) { o.Sink = lateRows{o.Sink, sync.OnceFunc(func() { close(asked) }), answers} }
		w.run(w.one(keeping(t, personal.Keep)))
		w.until("filled", time.Minute, w.filled)
		time.Sleep(time.Minute)
		delivered := make(chan error, 1)
		go func() {
			long := time.Now().Add(-time.Hour) // it is not remembered whether anything of it is stored
			_, err := w.syncer.Deliver(t.Context(), "s", []byte(onlineOrder("o1", "accepted", "l1", long)))
			delivered <- err
		}()
		<-asked
		test(t, w, func() error { close(answers); return <-delivered })
	})
}

// erasesBehind holds that the source of now begins when the delivery to the one before has
// ended, and that nothing of the customer is stored then.
func (w *world) erasesBehind(arrive func() error) {
	w.t.Helper()
	time.Sleep(time.Minute)
	if state := w.source().State; state != status.StateStarting {
		w.t.Errorf("the source is %s beside a delivery to one before", state)
	}
	err := arrive()
	w.until("the source is served", time.Minute, w.filled)
	time.Sleep(time.Minute)
	if w.tells("o1") {
		w.t.Errorf("the customer is stored; the delivery: %v", err)
	}
}

// A delivery to a source whose personal_data is lowered ends before the source after it
// erases: else it would store what is never erased.
func TestADeliveryEndsBeforeTheNextSourceErases(t *testing.T) {
	inLateDelivery(t, func(t *testing.T, w *world, arrive func() error) {
		w.apply(w.one(keeping(t, personal.Drop)))
		w.erasesBehind(arrive)
	})
}

// A source that ends while it waits for the one before leaves that one to be waited for.
func TestASourceWaitsForAllOfItsNameBefore(t *testing.T) {
	inLateDelivery(t, func(t *testing.T, w *world, arrive func() error) {
		w.apply(w.one(func(s *Source) { s.Revision = 1 }))
		time.Sleep(time.Second)
		w.apply()
		time.Sleep(time.Second)
		w.apply(w.one(keeping(t, personal.Drop)))
		w.erasesBehind(arrive)
	})
}

// The counters of a source that was removed go when nobody is at work on it any more, nor on
// one of its name before.
func TestTheCountersOfARemovedSourceGoWithItsLastWork(t *testing.T) {
	inLateDelivery(t, func(t *testing.T, w *world, arrive func() error) {
		counters := prometheus.NewPedanticRegistry()
		if err := w.syncer.metrics.register(counters, w.syncer); err != nil {
			t.Fatal(err)
		}
		w.apply(w.one(func(s *Source) { s.Revision = 1 }))
		time.Sleep(time.Second)
		w.apply()
		time.Sleep(time.Minute)
		if !seriesOf(t, counters, "s") {
			t.Error("the counters have gone while a delivery is under way")
		}
		_ = arrive() // it has ended, well or not
		time.Sleep(time.Millisecond)
		if seriesOf(t, counters, "s") {
			t.Error("the counters are there after the last delivery")
		}
	})
}
