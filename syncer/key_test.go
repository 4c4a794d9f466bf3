package syncer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/status"
)

func (w *world) source() status.SourceStatus { return w.syncer.Status().Sources[0] }

func TestAWrongKeyIsProbedFarFromTheLimit(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{"right": true}
		w.run(w.one())
		w.until("unauthorized", time.Minute, func() bool { return w.source().State == status.StateUnauthorized })
		if s := w.source(); s.Detail == "" || s.NextProbe.Before(time.Now()) {
			t.Errorf("status %+v", s)
		}
		f.asked("/me")
		time.Sleep(time.Hour)
		if n := len(f.asked("/me")); n < 8 || n > 20 {
			t.Errorf("%d probes in an hour", n)
		}
		f.mu.Lock()
		f.keys["svc_live_1"] = true
		f.mu.Unlock()
		w.until("running", 10*time.Minute, w.filled)
	})
}

func TestManyWrongKeysDoNotShutTheAddressOut(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{}
		var sources []Source
		for i := range 100 {
			sources = append(sources, sourceOf(fmt.Sprintf("s%d", i), "wrong"))
		}
		w.run(sources...)
		time.Sleep(30 * time.Minute)
		f.mu.Lock()
		defer f.mu.Unlock()
		for i := range f.at {
			for j := i; j < len(f.at) && f.at[j].Sub(f.at[i]) < time.Minute; j++ {
				if j-i >= 25 {
					t.Fatalf("%d requests with a wrong key within a minute, at %s", j-i+1, f.at[i])
				}
			}
		}
	})
}

func TestTheNextKeyTakesOver(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{"svc_live_1": true, "next": true}
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		w.run(w.one(func(s *Source) { s.NextKey = func() string { return "next" } }))
		w.until("running", 10*time.Minute, w.filled)
		f.mu.Lock()
		delete(f.keys, "svc_live_1")
		f.mu.Unlock()
		f.set(cats, category("a", "A2", stamp(0)))
		w.until("the change", time.Minute, func() bool { return strings.Contains(w.store.Rows("categories", "b1")["a"].Raw, "A2") })
	})
}

func TestTheNextKeyIsMovedToItsPlaceWhileItIsInUse(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{"second": true}
		var key, next atomic.Value
		key.Store("first")
		next.Store("second")
		w.run(w.one(func(s *Source) {
			s.Key = func() string { return key.Load().(string) }
			s.NextKey = func() string { return next.Load().(string) }
		}))
		w.until("the next key", time.Minute, w.filled)
		key.Store("second")
		next.Store("")
		time.Sleep(20 * time.Minute)
		if s := w.source(); s.State != status.StateRunning || s.RateLimited > 0 {
			t.Errorf("state %s: %s", s.State, s.Detail)
		}
	})
}

func TestADisabledKeyAndAnUnreachableServiceAreStates(t *testing.T) {
	for state, answer := range map[string]func(http.ResponseWriter, *http.Request) bool{
		status.StateKeyDisabled: func(w http.ResponseWriter, _ *http.Request) bool { fakeError(w, 403, "api_key_disabled"); return true },
		status.StateUnreachable: func(w http.ResponseWriter, _ *http.Request) bool {
			fakeError(w, 503, "service_unavailable")
			return true
		},
	} {
		t.Run(state, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				w.run(w.one())
				w.until("running", 10*time.Minute, w.filled)
				for _, path := range []string{"/me", cats, "/products", "/ingredients", "/sales/orders"} {
					f.on(path, answer)
				}
				w.until(state, 10*time.Minute, func() bool { return w.source().State == state })
				f.asked("/me")
				time.Sleep(30 * time.Minute)
				if log, _ := f.taken(); len(log) > 80 {
					t.Errorf("%d requests in half an hour of trouble", len(log))
				}
				for _, path := range []string{"/me", cats, "/products", "/ingredients", "/sales/orders"} {
					f.on(path, nil)
				}
				w.until("running again", 10*time.Minute, w.filled)
			})
		})
	}
}

func TestAMissingScopeSwitchesItsStreamsOffAndOn(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		whole := f.me
		f.me = strings.Replace(whole, `,"stock:read"`, "", 1)
		w.run(w.one())
		w.until("running", 10*time.Minute, w.filled)
		st := w.stream("ingredients")
		if st.State != status.StateOff || !strings.Contains(st.Detail, "stock:read") {
			t.Fatalf("ingredients: %+v", st)
		}
		if n := len(f.asked("/ingredients")); n != 0 {
			t.Errorf("%d requests outside the scopes", n)
		}
		f.mu.Lock()
		f.me = whole
		f.mu.Unlock()
		w.until("on", 10*time.Minute, func() bool { return w.stream("ingredients").State == status.StateRunning })
	})
}

func TestAScopeLostInMidRunSwitchesTheStreamOff(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("running", 10*time.Minute, w.filled)
		f.mu.Lock()
		f.me = strings.Replace(fakeMe, `,"stock:read"`, "", 1)
		f.mu.Unlock()
		f.on("/ingredients", func(w http.ResponseWriter, _ *http.Request) bool {
			fakeError(w, 403, "insufficient_scope")
			return true
		})
		w.until("off", 2*time.Minute, func() bool { return w.stream("ingredients").State == status.StateOff })
		if s := w.source(); s.State != status.StateRunning {
			t.Errorf("the source is %s", s.State)
		}
	})
}

func TestAnUnknownLocationInTheConfigurationIsNamed(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one(func(s *Source) { s.Locations = []string{"l1", "l9"} }))
		w.until("the error", time.Minute, func() bool { return strings.Contains(w.source().Detail, `"l9"`) })
		w.until("the known location runs", 10*time.Minute, func() bool { return w.stream("sales_orders").State == status.StateRunning })
	})
}

func TestAKeyOfAnotherRestaurantIsRefused(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("running", 10*time.Minute, w.filled)
		w.halt()
		f.mu.Lock()
		f.me = strings.Replace(fakeMe, `"b1"`, `"b2"`, 1)
		f.mu.Unlock()
		w.run(w.one())
		w.until("refused", time.Minute, func() bool {
			return w.source().State == status.StateFailing && strings.Contains(w.source().Detail, "b2")
		})
	})
}

func TestTroubleStaysWithItsSource(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{"good": true}
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		w.run(sourceOf("bad", "bad"), sourceOf("good", "good"))
		w.until("good runs", 10*time.Minute, func() bool { return w.syncer.Status().Sources[1].State == status.StateRunning })
		f.set(cats, category("a", "A2", stamp(0)))
		changed := time.Now()
		w.until("the change", time.Minute, func() bool { return strings.Contains(w.store.Rows("categories", "b1")["a"].Raw, "A2") })
		if took := time.Since(changed); took > 33*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestAPassThatFindsTheKeyGoodEndsTheDaemonsWait(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{}
		w.run(w.one())
		w.until("unauthorized", time.Minute, func() bool { return w.source().State == status.StateUnauthorized })
		f.mu.Lock()
		f.keys["svc_live_1"] = true
		f.mu.Unlock()
		w.once(Selection{Streams: []string{"allergens"}})
		mended := time.Now()
		f.set(cats, category("a", "A", stamp(0)))
		w.until("the daemon goes on", 10*time.Minute, func() bool { return len(w.store.Rows("categories", "b1")) == 1 })
		if took := time.Since(mended); took > time.Minute {
			t.Errorf("the daemon went on after %s", took)
		}
	})
}

func TestAPanicInOneWalkIsAnErrorOfItsStream(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.open(w.one())
		st := w.list("categories")
		broken := *st.Def
		broken.List = nil // calling it panics
		st.Def = &broken
		r := w.tryOnce(Selection{})
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), "panic") {
			t.Errorf("error %v", err)
		}
		if w.stream("categories").State != status.StateFailing || w.stream("products").State != status.StateRunning {
			t.Error(w.describe())
		}
	})
}

// A panic in the question for a later page is an error of the stream, too, in each kind of walk.
func TestAPanicInALaterPageIsAnErrorOfItsStream(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var rows []string
		for i := range api.PageLimit + 1 {
			rows = append(rows, category(fmt.Sprintf("c%03d", i), "Supe", stamp(-time.Duration(500-i)*time.Second)))
		}
		f.set(cats, rows...)
		w.open(w.one())
		st := w.list("categories")
		sound, broken := st.Def, *st.Def
		broken.List = func(ctx context.Context, c *api.Client, q api.ListQuery) (api.Page, error) {
			if q.Cursor != "" {
				panic("a fault in ask")
			}
			return sound.List(ctx, c, q)
		}
		st.Def = &broken
		r := w.tryOnce(Selection{Streams: []string{"categories"}})
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), "panic: a fault in ask") || strings.Contains(err.Error(), "goroutine") {
			t.Errorf("walked: %v", err)
		}
		if w.stream("categories").State != status.StateFailing {
			t.Error(w.describe())
		}
		if n := testutil.ToFloat64(w.syncer.metrics.panics); n == 0 {
			t.Error("the panic was not counted")
		}
		st.Def = sound
		w.once(Selection{Streams: []string{"categories"}})
		w.syncer.definitions = slices.Clone(w.syncer.definitions) // others share them
		w.syncer.definitions[slices.Index(w.syncer.definitions, sound)] = &broken
		report, err := w.syncer.Verify(t.Context(), Selection{Streams: []string{"categories"}}, nil, nil)
		if err = errors.Join(err, report.Err()); err == nil || !strings.Contains(err.Error(), "panic: a fault in ask") {
			t.Errorf("verified: %v", err)
		}
	})
}

// A source that panics whenever it is probed is shown as failing, and begins anew less than a
// minute later.
func TestAPanicInAProbeIsTriedAgainInItsTime(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var broken atomic.Bool
		broken.Store(true)
		var tried []time.Time
		w.run(w.one(func(s *Source) {
			key := s.Key
			s.Key = func() string {
				if broken.Load() {
					tried = append(tried, time.Now())
					panic("a broken key")
				}
				return key()
			}
		}))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := len(tried); n < 10 || n > 20 || tried[1].Sub(tried[0]) > time.Minute || tried[n-1].Sub(tried[n-2]) < 30*time.Second {
			t.Errorf("it was tried at %v", tried)
		}
		if s := w.source(); s.State != status.StateFailing || !strings.Contains(s.Detail, "a broken key") || !s.NextProbe.After(time.Now()) {
			t.Errorf("source %+v", s)
		}
		broken.Store(false)
		w.until("served", 2*time.Minute, w.filled)
	})
}
