package syncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// deliver hands an order over as a webhook does.
func (w *world) deliver(order string) list.Delivered {
	w.t.Helper()
	what, err := w.syncer.Deliver(w.t.Context(), "s", []byte(order))
	if err != nil {
		w.t.Fatal(err)
	}
	return what
}

// inDelivery runs a test against a fake whose orders were walked once.
func inDelivery(t *testing.T, test func(t *testing.T, f *fake, w *world)) {
	t.Helper()
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Hour)))
		w.schedule.OnlineOrders = "@every 1h"
		w.run(w.one())
		w.until("filled", time.Minute, w.filled)
		time.Sleep(time.Minute)
		test(t, f, w)
	})
}

// What is acknowledged is durable, and told as brought by a webhook; of the customer no more
// is stored than polling would.
func TestADeliveredOrderIsDurable(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		accepted := onlineOrder("o1", "accepted", "l1", time.Now())
		if what := w.deliver(accepted); what != list.DeliveredStored {
			t.Errorf("became %d", what)
		}
		if c := w.onlineColumns("o1"); string(c["via"]) != `"webhook"` {
			t.Errorf("via %s", c["via"])
		}
		w.crash(0)
		if r := w.store.Row(registry.Online, "b1", "o1"); !strings.Contains(r.Raw, `"status":"accepted"`) || strings.Contains(r.Raw, "ecret") {
			t.Errorf("after a kill -9: %s", r.Raw)
		}
		f.set("/orders", accepted)
		w.run(w.one())
		w.until("running", 2*time.Minute, w.filled)
		// After a restart nothing is remembered: the warehouse knows.
		if what := w.deliver(onlineOrder("o1", "received", "l1", time.Now().Add(-30*time.Minute))); what != list.DeliveredOlder {
			t.Errorf("an older one became %d", what)
		}
	})
}

// The service sends again for a day what was not acknowledged. After a restart nothing is
// remembered, and what comes again changes nothing all the same: neither while the walks
// bring the order, too, nor later, nor before the first of them.
func TestAReplayAfterARestartChangesNothing(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		at := time.Now()
		accepted, completed := onlineOrder("o1", "accepted", "l1", at), onlineOrder("o1", "completed", "l1", at.Add(time.Second))
		w.deliver(accepted)
		w.deliver(completed)
		f.set("/orders", completed)
		replay := func(when string) {
			t.Helper()
			before := w.store.Row(registry.Online, "b1", "o1")
			for what, c := range map[string]struct {
				order string
				want  list.Delivered
			}{"the newest event": {completed, list.DeliveredSame}, "the one before": {accepted, list.DeliveredOlder}} {
				if got := w.deliver(c.order); got != c.want {
					t.Errorf("%s: %s became %d, want %d", when, what, got, c.want)
				}
			}
			if after := w.store.Row(registry.Online, "b1", "o1"); after != before {
				t.Errorf("%s: the row changed from %+v to %+v", when, before, after)
			}
		}
		for _, later := range []time.Duration{time.Minute, 3 * list.Lookback} {
			time.Sleep(later)
			w.halt()
			f.on("/orders", func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 500, "server_error"); return true })
			w.run(w.one())
			w.until("the key is known", time.Minute, func() bool { return w.source().State == status.StateRunning })
			replay(fmt.Sprintf("%s later, before the first walk", later))
			f.on("/orders", nil)
			w.until("walked", time.Hour, func() bool { return w.stream(registry.Online).State == status.StateRunning })
			time.Sleep(time.Minute)
			replay(fmt.Sprintf("%s later", later))
		}
	})
}

func TestDeliveriesInAnyOrderAndMoreThanOnce(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		at := time.Now()
		states := []string{"accepted", "ready", "completed"}
		version := func(i int) string { return onlineOrder("o1", states[i], "l1", at.Add(time.Duration(i)*time.Second)) }
		for _, step := range []struct {
			i    int
			want list.Delivered
		}{{2, list.DeliveredStored}, {2, list.DeliveredSame}, {0, list.DeliveredOlder}, {1, list.DeliveredOlder}, {2, list.DeliveredSame}} {
			if what := w.deliver(version(step.i)); what != step.want {
				t.Errorf("%s became %d, want %d", states[step.i], what, step.want)
			}
		}
		// All at once, of many orders.
		var all sync.WaitGroup
		for o := range 40 {
			for i := range states {
				for range 2 {
					all.Go(func() {
						order := onlineOrder(fmt.Sprint("m", o), states[(i+o)%3], "l1", at.Add(time.Duration((i+o)%3)*time.Second))
						if _, err := w.syncer.Deliver(t.Context(), "s", []byte(order)); err != nil {
							t.Error(err)
						}
					})
				}
			}
		}
		all.Wait()
		for o := range 40 {
			if r := w.store.Row(registry.Online, "b1", fmt.Sprint("m", o)); !strings.Contains(r.Raw, `"status":"completed"`) {
				t.Errorf("m%d: %s", o, r.Raw)
			}
		}
	})
}

// What is told more than once within a flush is acknowledged with that flush: neither before
// it, nor after another. What polling has queued is not durable before it either.
func TestDeliveriesOfOneOrderWaitForOneFlush(t *testing.T) {
	const flush = 4 * time.Second
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		w.flush = flush
		w.run(w.one())
		w.until("filled", time.Minute, w.filled)
		time.Sleep(time.Minute)
		at := time.Now()
		polled := onlineOrder("polled", "accepted", "l1", at)
		f.set("/orders", polled)
		flushed := make(chan struct{})
		first := sync.OnceFunc(func() {
			w.deliver(onlineOrder("o0", "accepted", "l1", at)) // at once: the last flush was long ago
			close(flushed)
		})
		f.on("/orders", func(http.ResponseWriter, *http.Request) bool { first(); return false })
		<-flushed
		time.Sleep(time.Millisecond) // the answer is queued, for the next flush
		var all sync.WaitGroup
		for _, order := range []string{
			polled,
			onlineOrder("o1", "accepted", "l1", at), onlineOrder("o1", "ready", "l1", at.Add(time.Second)), onlineOrder("o1", "completed", "l1", at.Add(2*time.Second)),
			onlineOrder("o1", "ready", "l1", at.Add(time.Second)), onlineOrder("o1", "completed", "l1", at.Add(2*time.Second)),
		} {
			all.Go(func() {
				began := time.Now()
				w.deliver(order)
				if took := time.Since(began); took > flush {
					t.Errorf("%.80s: acknowledged after %s", order, took)
				}
				for _, id := range []string{"o1", "polled"} {
					if r := w.store.Row(registry.Online, "b1", id); strings.Contains(order, `"id":"`+id+`"`) && r.Raw == "" {
						t.Errorf("%s was acknowledged before it was durable", id)
					}
				}
			})
			synctest.Wait() // it waits for the warehouse
		}
		all.Wait()
		if !w.haveOnline("o1", "completed")() {
			t.Errorf("stored %s", w.store.Row(registry.Online, "b1", "o1").Raw)
		}
	})
}

// What polling says later is right, whatever a webhook has said.
func TestPollingCorrectsAForgottenWebhook(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		at := time.Now()
		w.deliver(onlineOrder("o1", "accepted", "l1", at))
		f.set("/orders", onlineOrder("o1", "cancelled", "l1", at.Add(time.Minute)))
		w.until("polled", time.Hour, w.haveOnline("o1", "cancelled"))
		if c := w.onlineColumns("o1"); string(c["via"]) != `"polling"` {
			t.Errorf("via %s", c["via"])
		}
	})
}

func TestWhatIsNotTakenOfADelivery(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		// A location that was added since the last /me.
		if what := w.deliver(onlineOrder("o9", "accepted", "added", time.Now())); what != list.DeliveredStored {
			t.Errorf("of a location that /me did not list: %d", what)
		}
		if _, err := w.syncer.Deliver(t.Context(), "nobody", nil); !errors.Is(err, list.ErrNotFollowed) {
			t.Errorf("of a source that is not there: %v", err)
		}
		bad := onlineOrder("o2", "accepted", "l1", time.Now(), `"quantity":2`, `"quantity":"Secretescu"`)
		if what := w.deliver(bad); what != list.DeliveredBad {
			t.Errorf("a bad one became %d", what)
		}
		if e := w.store.Entries(); len(e) != 1 || e[0].ID != "o2" || strings.Contains(string(e[0].Raw), "ecret") {
			t.Errorf("entries %+v", e)
		}
		if what := w.deliver(onlineOrder("o2", "ready", "l1", time.Now())); what != list.DeliveredStored || w.store.Open() != 0 {
			t.Errorf("a good one became %d, %d entries are open", what, w.store.Open())
		}
		if what := w.deliver(onlineOrder("o4", "eaten", "l1", time.Now())); what != list.DeliveredStored || !w.haveOnline("o4", "eaten")() {
			t.Errorf("one of an unknown status became %d", what)
		}
		if drift := strings.Join(w.store.Drift(), "\n"); !strings.Contains(drift, "eaten") {
			t.Errorf("the unknown status is not reported: %s", drift)
		}
		w.sink.SetDown(true)
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		if _, err := w.syncer.Deliver(ctx, "s", []byte(onlineOrder("o3", "accepted", "l1", time.Now()))); err == nil {
			t.Error("acknowledged while the warehouse is away")
		}
		w.sink.SetDown(false)
	})
}

// Orders of locations that the configuration leaves out need no second try.
func TestADeliveryOfALocationThatIsLeftOut(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one(func(s *Source) { s.Locations = []string{"l2"} }))
		w.until("filled", time.Minute, w.filled)
		if what := w.deliver(onlineOrder("o1", "accepted", "l1", time.Now())); what != list.DeliveredLeftOut {
			t.Errorf("became %d", what)
		}
		if n := len(w.store.Rows(registry.Online, "b1")); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

// While a source is in trouble, the service has to send again.
func TestADeliveryToASourceInTrouble(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		for _, path := range []string{"/me", "/orders", "/products"} {
			f.on(path, func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 401, "unauthorized"); return true })
		}
		w.until("refused", 10*time.Minute, func() bool { return w.source().State == status.StateUnauthorized })
		if _, err := w.syncer.Deliver(t.Context(), "s", []byte(onlineOrder("o2", "accepted", "l1", time.Now()))); !errors.Is(err, list.ErrNotFollowed) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
	})
}

// A delivery moves no checkpoint: what else changed before it is still asked for.
func TestADeliveryMovesNoWatermark(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		before := w.stream(registry.Online).Watermark
		var seen []sinks.Checkpoint
		w.store.Watch(func(c *sinks.Commit, _ bool) {
			if c.Stream == registry.Online && c.Checkpoint != nil {
				seen = append(seen, *c.Checkpoint)
			}
		})
		w.deliver(onlineOrder("o5", "accepted", "l1", time.Now()))
		if after := w.stream(registry.Online).Watermark; !after.Equal(before) || len(seen) > 0 {
			t.Errorf("the watermark went from %s to %s, checkpoints %+v", before, after, seen)
		}
	})
}

// What a webhook brings while an older answer to a poll is on its way is not undone by it.
func TestAPollThatIsUnderWayUndoesNoWebhook(t *testing.T) {
	f := newFake()
	f.me = meOf("l1", "l2")
	var late, asked atomic.Bool
	inScript(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/orders" || !late.CompareAndSwap(true, false) {
			f.ServeHTTP(rw, r)
			return
		}
		answer := httptest.NewRecorder()
		f.ServeHTTP(answer, r)
		asked.Store(true)
		time.Sleep(3 * time.Second)
		maps.Copy(rw.Header(), answer.Header())
		if _, err := rw.Write(answer.Body.Bytes()); err != nil {
			t.Error(err)
		}
	}), func(t *testing.T, w *world) {
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now()))
		w.run(w.one())
		w.until("stored", time.Minute, w.haveOnline("o1", "received"))
		time.Sleep(time.Minute)
		late.Store(true)
		w.until("asked", time.Minute, asked.Load)
		accepted := onlineOrder("o1", "accepted", "l1", time.Now())
		f.set("/orders", accepted)
		if what := w.deliver(accepted); what != list.DeliveredStored {
			t.Fatalf("became %d", what)
		}
		for range 400 { // until after the next poll
			if !w.haveOnline("o1", "accepted")() {
				t.Fatal("what was acknowledged is gone")
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// When Larder learned of an order is told by the clock, not by the second of the service's
// Date header: nothing is known before it has happened.
func TestWhenAnOrderWasLearnedOf(t *testing.T) {
	inDelivery(t, func(t *testing.T, f *fake, w *world) {
		learned := func(id string) time.Time { return w.store.Row(registry.Online, "b1", id).FetchedAt }
		time.Sleep(700 * time.Millisecond)
		began := time.Now()
		w.deliver(onlineOrder("o5", "accepted", "l1", began))
		if at := learned("o5"); at.Before(began) || at.After(time.Now()) {
			t.Errorf("by a webhook: at %s, it moved at %s", at, began)
		}
		var moved atomic.Pointer[time.Time]
		f.on("/orders", func(rw http.ResponseWriter, _ *http.Request) bool {
			at := time.Now().Truncate(time.Microsecond)
			moved.CompareAndSwap(nil, &at)
			fmt.Fprintf(rw, `{"data":[%s],"next_updated_since":null}`, onlineOrder("o6", "accepted", "l1", *moved.Load()))
			return true
		})
		w.until("polled", 2*time.Hour, w.haveOnline("o6", "accepted"))
		began = *moved.Load()
		if at := learned("o6"); at.Before(began) || at.After(time.Now()) {
			t.Errorf("by polling: at %s, it moved at %s", at, began)
		}
	})
}
