package syncer

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
)

// keeping has a source keep what a mode says, as it was written down.
func keeping(t *testing.T, mode personal.Mode) func(*Source) {
	t.Helper()
	p, err := personal.New(mode, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(s *Source) { s.Personal, s.ErasesBeyond = p, true }
}

// tells is true when what is stored of an order tells of its customer.
func (w *world) tells(id string) bool {
	return strings.Contains(w.store.Row(registry.Online, "b1", id).Raw, "Secretescu")
}

// soon is an instant as the service writes them.
func soon(in time.Duration) time.Time { return time.Now().Add(in).Truncate(time.Microsecond) }

// Whatever brings a forgotten order again, in whichever state, nothing of its customer is
// stored. Another order of the same person is another order.
func TestAForgottenCustomerStaysAway(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		now := time.Now()
		f.set("/orders", onlineOrder("o1", "received", "l1", now.Add(-time.Hour)))
		w.run(w.one(keeping(t, personal.Keep)))
		w.until("stored", time.Minute, w.haveOnline("o1", "received"))
		w.until("filled", time.Minute, w.filled)
		if !w.tells("o1") {
			t.Fatal("it was not kept at first")
		}
		report, err := w.syncer.Forget(t.Context(), ForgetRequest{Source: "s", Phone: "+40 722 123 456"})
		if err != nil || strings.Join(report.Orders, " ") != "o1" || w.tells("o1") {
			t.Errorf("%+v, %v: %s", report, err, w.store.Row(registry.Online, "b1", "o1").Raw)
		}
		f.set("/orders", onlineOrder("o1", "accepted", "l1", soon(0)), onlineOrder("o2", "received", "l1", soon(0)))
		w.until("polled", time.Minute, w.haveOnline("o1", "accepted"))
		w.until("the later order", time.Minute, w.haveOnline("o2", "received"))
		if w.tells("o1") || !w.tells("o2") {
			t.Errorf("polled: of o1 %t, of o2 %t", w.tells("o1"), w.tells("o2"))
		}
		sent := onlineOrder("o1", "ready", "l1", soon(time.Second))
		if what, err := w.syncer.Deliver(t.Context(), "s", []byte(sent)); err != nil || what != list.DeliveredStored || w.tells("o1") {
			t.Errorf("sent: %v, %v, tells %t", what, err, w.tells("o1"))
		}
		w.halt()
		f.set("/orders", onlineOrder("o1", "completed", "l1", soon(time.Minute)))
		w.run(w.one(keeping(t, personal.Keep)))
		w.until("by another process", 10*time.Minute, w.haveOnline("o1", "completed"))
		if w.tells("o1") {
			t.Error("another process has stored it")
		}
	})
}

// unerasing is a warehouse that cannot take anything back.
type unerasing struct{ sinks.Sink }

func (s unerasing) Personal() sinks.Personal { return unerased{s.Sink.Personal()} }

type unerased struct{ sinks.Personal }

func (unerased) Redact(context.Context, sinks.Redaction) error {
	return errors.New("no right to do that")
}

// Where erasing fails, what arrives is kept as it is to be, the rest is mirrored on, and the
// next start erases.
func TestAnErasingThatFailsStopsNothing(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Hour)))
		w.run(w.one(keeping(t, personal.Keep)))
		w.until("stored", time.Minute, w.haveOnline("o1", "received"))
		w.until("filled", time.Minute, w.filled)
		w.halt()

		w.tune = func(o *Options) { o.Sink = unerasing{o.Sink} }
		f.set("/orders", onlineOrder("o2", "received", "l1", soon(0)))
		f.set("/categories", category("c1", "Supe", soon(0).UTC().Format(time.RFC3339Nano)))
		w.run(w.one(keeping(t, personal.Drop)))
		w.until("the new order", 10*time.Minute, w.haveOnline("o2", "received"))
		w.until("filled", 10*time.Minute, w.filled)
		if w.store.Row("categories", "b1", "c1").Raw == "" || w.tells("o2") || !w.tells("o1") {
			t.Errorf("category %q, of o1 %t, of o2 %t", w.store.Row("categories", "b1", "c1").Raw, w.tells("o1"), w.tells("o2"))
		}
		if report, err := w.syncer.Forget(t.Context(), ForgetRequest{Source: "s", Orders: []string{"o1"}}); err == nil || !strings.Contains(err.Error(), "no right to do that") {
			t.Errorf("forgotten: %+v, %v", report, err)
		}
		w.halt()

		w.tune = nil
		w.run(w.one(keeping(t, personal.Drop)))
		w.until("erased", 10*time.Minute, func() bool { return !w.tells("o1") })
	})
}

// A line of the configuration that is gone erases nothing: only one that is there and keeps less.
func TestADeletedLineErasesNothing(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Hour)))
		w.run(w.one(keeping(t, personal.Keep)))
		w.until("stored", time.Minute, w.haveOnline("o1", "received"))
		w.until("filled", time.Minute, w.filled)
		w.halt()

		f.set("/orders", onlineOrder("o2", "received", "l1", soon(0)))
		drop := keeping(t, personal.Drop)
		w.run(w.one(func(s *Source) { drop(s); s.ErasesBeyond = false }))
		w.until("the new order", 10*time.Minute, w.haveOnline("o2", "received"))
		w.until("filled", 10*time.Minute, w.filled)
		if !w.tells("o1") || w.tells("o2") {
			t.Errorf("of the old order %t, of the new one %t", w.tells("o1"), w.tells("o2"))
		}
	})
}

// A sweep asks the service for rows one by one, in the lowest lane. Nobody waits for that:
// neither who forgets a customer, nor the service's webhooks, nor polling.
func TestForgettingWaitsForNoRequest(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		bad := strings.Replace(onlineOrder("bad", "received", "l1", time.Now().Add(-2*time.Hour)), `"test":false`, `"test":7`, 1)
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Hour)), bad)
		w.run(w.one(keeping(t, personal.Keep)))
		w.until("quarantined", time.Minute, func() bool { return len(w.store.Entries()) == 1 })
		w.until("filled", time.Minute, w.filled)
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Hour)))
		asking, answer := make(chan struct{}), make(chan struct{})
		f.on("/orders/bad", func(rw http.ResponseWriter, _ *http.Request) bool {
			close(asking)
			<-answer
			fakeError(rw, http.StatusNotFound, "not_found")
			return true
		})
		swept := make(chan error, 1)
		go func() {
			_, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{registry.Online}, Full: true}, nil)
			swept <- err
		}()
		<-asking
		began := time.Now()
		if _, err := w.syncer.Forget(t.Context(), ForgetRequest{Source: "s", Orders: []string{"o1"}}); err != nil {
			t.Error(err)
		}
		what, err := w.syncer.Deliver(t.Context(), "s", []byte(onlineOrder("o2", "received", "l1", soon(0))))
		if err != nil || what != list.DeliveredStored {
			t.Errorf("a webhook meanwhile: %v, %v", what, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		close(answer)
		if err := <-swept; err != nil {
			t.Error(err)
		}
		if w.store.Open() != 0 || w.tells("o1") {
			t.Errorf("%d entries are open, o1 tells of its customer: %t", w.store.Open(), w.tells("o1"))
		}
	})
}
