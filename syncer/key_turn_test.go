package syncer

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/verify"
)

// keyed is a source whose key can be changed, as a key file is.
func keyed(name, value string) (Source, *atomic.Value) {
	var key atomic.Value
	key.Store(value)
	s := sourceOf(name, "")
	s.Key = func() string { return key.Load().(string) }
	return s, &key
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func TestAChangedKeyIsTriedAtOnce(t *testing.T) {
	for state, refusal := range map[string]string{status.StateUnauthorized: "unauthorized", status.StateKeyDisabled: "api_key_disabled"} {
		t.Run(state, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				f.on("/me", func(w http.ResponseWriter, r *http.Request) bool {
					if bearer(r) == "new" {
						return false
					}
					fakeError(w, map[string]int{"unauthorized": 401, "api_key_disabled": 403}[refusal], refusal)
					return true
				})
				s, key := keyed("s1", "old")
				w.run(s)
				w.until("refused", time.Minute, func() bool { return w.source().State == state })
				time.Sleep(20 * time.Minute)
				key.Store("still wrong")
				time.Sleep(10 * time.Second)
				f.asked("/me")
				time.Sleep(10 * time.Second)
				if n := len(f.asked("/me")); n > 0 {
					t.Errorf("the wrong key is tried again %d times within seconds", n)
				}
				key.Store("new")
				w.until("the new key", 2*keyLook, func() bool { return w.source().State != state })
				w.until("running", 10*time.Minute, w.filled)
			})
		})
	}
}

func TestANextKeyThatAppearsIsTriedAtOnce(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{"next": true}
		s, next := keyed("s1", "")
		s.Key, s.NextKey = func() string { return "wrong" }, s.Key
		w.run(s)
		w.until("unauthorized", time.Minute, func() bool { return w.source().State == status.StateUnauthorized })
		next.Store("next")
		w.until("the next key", 2*keyLook, func() bool { return w.source().State != status.StateUnauthorized })
		w.until("running", 10*time.Minute, w.filled)
	})
}

func TestADisabledKeyIsProbedSoonerAtFirst(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("running", 10*time.Minute, w.filled)
		var mu sync.Mutex
		var probes []time.Time
		refuse := func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasSuffix(r.URL.Path, "/me") {
				probes = append(probes, time.Now())
			}
			fakeError(w, 403, "api_key_disabled")
			return true
		}
		for _, path := range []string{"/me", cats, "/products", "/ingredients", "/sales/orders", "/sales/daily", "/sales/products", "/locations", "/allergens"} {
			f.on(path, refuse)
		}
		time.Sleep(40 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(probes) < 6 {
			t.Fatalf("%d probes", len(probes))
		}
		for i, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute} {
			if got := probes[i+1].Sub(probes[i]); got < want*3/4 || got > want*5/4+time.Second {
				t.Errorf("probe %d came after %s, want about %s", i+1, got, want)
			}
		}
	})
}

// A pass beside the daemon that finds the key disabled still is no probe of the daemon's:
// when the restaurant enables the key, that is noticed as soon as without the pass.
func TestAPassPutsOffNoProbe(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("running", 10*time.Minute, w.filled)
		refuse := func(w http.ResponseWriter, _ *http.Request) bool {
			fakeError(w, 403, "api_key_disabled")
			return true
		}
		for _, path := range []string{"/me", cats, "/products", "/ingredients", "/sales/orders", "/sales/daily", "/sales/products", "/locations", "/allergens"} {
			f.on(path, refuse)
		}
		w.until("disabled", 10*time.Minute, func() bool { return w.source().State == status.StateKeyDisabled })
		for probe, base := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute} {
			next := w.source().NextProbe
			if wait := time.Until(next); wait > base*5/4 || wait < base/2 {
				t.Errorf("probe %d comes after %s, want about %s", probe, wait, base)
			}
			for range 3 {
				time.Sleep(time.Second)
				if err := w.tryOnce(Selection{}).Err(); !api.IsKeyDisabled(err) {
					t.Fatalf("the pass: %v", err)
				}
				if now := w.source().NextProbe; !now.Equal(next) {
					t.Fatalf("probe %d was to come at %s, and after a pass at %s", probe, next, now)
				}
			}
			w.until("the daemon's own probe", time.Until(next)+time.Second, func() bool { return !w.source().NextProbe.Equal(next) })
		}
	})
}

// How long the service wants to be left alone counts, whoever it was told.
func TestAPassThatIsToldToWaitPutsOffTheProbe(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("running", 10*time.Minute, w.filled)
		s := w.syncer.served()[0]
		s.link.Troubled(stream.Trouble{State: status.StateUnreachable})
		first := w.source().NextProbe
		s.link.Troubled(stream.Trouble{State: status.StateUnreachable, RetryAfter: time.Hour})
		if now := w.source().NextProbe; now.Before(time.Now().Add(time.Hour)) {
			t.Errorf("asked again at %s, as before at %s", now, first)
		}
	})
}

// A key of another restaurant, put in the place of this one's while it is mirrored,
// brings not a single row.
func TestAChangedKeyIsUsedWhenMeHasAnswered(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var mu sync.Mutex
		var foreign []string
		watch := func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			if bearer(r) != "theirs" {
				return false
			}
			foreign = append(foreign, r.URL.Path)
			if strings.HasSuffix(r.URL.Path, "/me") {
				fmt.Fprint(w, strings.Replace(fakeMe, `"b1"`, `"b2"`, 1))
				return true
			}
			return false
		}
		for _, path := range []string{"/me", cats, "/products", "/ingredients", "/sales/orders", "/sales/daily", "/sales/products", "/locations", "/allergens"} {
			f.on(path, watch)
		}
		s, key := keyed("s1", "ours")
		w.run(s)
		w.until("running", 10*time.Minute, w.filled)
		key.Store("theirs")
		w.until("refused", time.Minute, func() bool {
			return w.source().State == status.StateFailing && strings.Contains(w.source().Detail, "b2")
		})
		time.Sleep(20 * time.Minute)
		mu.Lock()
		if slices.ContainsFunc(foreign, func(path string) bool { return !strings.HasSuffix(path, "/me") }) {
			t.Errorf("asked with the other restaurant's key: %s", foreign)
		}
		mu.Unlock()
		key.Store("ours")
		w.until("running again", 2*keyLook, w.filled)
	})
}

// Hundreds of wrong keys stay far from the limit of their address, whatever their base
// URLs, and hold up neither a source that is well nor a key that is put right.
func TestHundredsOfWrongKeys(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{"good": true}
		var sources []Source
		var mended *atomic.Value
		for i := range 150 {
			s, key := keyed(fmt.Sprintf("wrong%d", i), "wrong")
			s.BaseURL = fmt.Sprintf("http://api%d.test/v1", i%7)
			if i%3 == 0 {
				s.NextKey = func() string { return "wrong too" }
			}
			sources, mended = append(sources, s), key
		}
		slow := w.slow()
		w.run(sources...)
		time.Sleep(25 * time.Minute)
		wrong := f.mostIn(time.Minute)
		if wrong > 22 {
			t.Errorf("%d requests with a wrong key within a minute", wrong)
		}
		if n := slow.states.Load(); n > int64(len(sources)) {
			t.Errorf("what is stored was read %d times for %d keys that are wrong", n, len(sources))
		}
		for minute := range 10 { // whatever the others do then
			mended.Store("good")
			w.until("the key that was put right", 2*keyLook, func() bool { return w.syncer.Status().Sources[149].State != status.StateUnauthorized })
			mended.Store("wrong")
			w.until("the key that is wrong again", time.Minute, func() bool { return w.syncer.Status().Sources[149].State == status.StateUnauthorized })
			time.Sleep(time.Duration(minute) * time.Minute)
		}
		good := sourceOf("good", "good")
		if _, err := w.syncer.Apply(append(sources, good), Schedule{}); err != nil {
			t.Fatal(err)
		}
		w.until("a source that is added", time.Minute, func() bool {
			all := w.syncer.Status().Sources
			return all[len(all)-1].State != status.StateStarting
		})
	})
}

// Many keys that are deleted at once cost each a few requests, and from then on the
// address stays far from its limit.
func TestManyKeysDeletedAtOnce(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.on("/me", func(w http.ResponseWriter, r *http.Request) bool {
			fmt.Fprint(w, strings.Replace(fakeMe, `"b1"`, `"b `+bearer(r)+`"`, 1))
			return true
		})
		var sources []Source
		for i := range 40 {
			sources = append(sources, sourceOf(fmt.Sprintf("s%d", i), fmt.Sprintf("k%d", i)))
		}
		w.run(sources...)
		w.until("running", time.Hour, w.filled)
		f.mu.Lock()
		f.keys = map[string]bool{"k0": true}
		f.mu.Unlock()
		time.Sleep(3 * time.Minute)
		if n := f.mostIn(time.Minute); n > 165 { // each of their walks that is under way is refused, and asks nothing else
			t.Errorf("%d requests with a wrong key within the first minutes", n)
		}
		f.mu.Lock()
		f.refusals = nil
		f.mu.Unlock()
		var lag time.Duration
		for range 30 {
			time.Sleep(time.Minute)
			lag = max(lag, w.stream("categories").Lag.Duration())
		}
		if n := f.mostIn(time.Minute); n < 5 || n > 22 {
			t.Errorf("%d requests with a wrong key within a minute", n)
		}
		if lag > time.Minute {
			t.Errorf("the source that is well was not walked for %s", lag)
		}
		for _, s := range w.syncer.Status().Sources[1:] {
			if s.State != status.StateUnauthorized {
				t.Errorf("%s is %s: %s", s.Name, s.State, s.Detail)
			}
		}
	})
}

// An orders-only key while online ordering is off has nothing to read, and nothing is
// wrong.
func TestOnlineOrderingThatIsOffIsNoFailure(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.me = strings.Replace(fakeMe, `"locations:read","menu:read","sales:read","stock:read"`, `"orders:write"`, 1)
		for _, path := range []string{"/locations", "/locations/l1/menu"} {
			f.on(path, func(w http.ResponseWriter, _ *http.Request) bool { fakeError(w, 403, "api_disabled"); return true })
		}
		w.open(w.one())
		r := w.once(Selection{RetryFor: time.Hour})
		for _, st := range r.Sources[0].Streams {
			if off := st.Stream == "locations" || st.Stream == "menus"; st.OrderingOff != off || st.OrderingOff && !strings.Contains(st.Off, "online ordering") {
				t.Errorf("%+v", st)
			}
		}
		report, err := w.syncer.Verify(t.Context(), Selection{}, func(verify.Finding) {}, func(verify.Progress) {})
		if err != nil || report.Err() != nil {
			t.Errorf("verify: %v, %v", err, report.Err())
		}
	})
}

func TestReconcilingWithoutTheScopeSaysSo(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.me = strings.Replace(fakeMe, `,"sales:read"`, "", 1)
		y := w.open(w.one())
		r, err := y.Reconcile(t.Context(), proof.Request{}, nil)
		if err != nil || !errors.Is(errorOf(r), stream.ErrNoScope) || !strings.Contains(errorOf(r).Error(), "sales:read") {
			t.Errorf("%v, %v", errorOf(r), err)
		}
	})
}

// Many keys end at once, and each source has another one. Where that is good, all are served again soon.
// Where it is wrong too, nothing goes on asking with a key that was refused.
func TestManyKeysTurnedAtOnce(t *testing.T) {
	const many = 150
	for name, good := range map[string]bool{"the next keys are good": true, "the next keys are wrong": false} {
		t.Run(name, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				f.on("/me", func(w http.ResponseWriter, r *http.Request) bool {
					fmt.Fprint(w, strings.Replace(fakeMe, `"b1"`, `"b `+strings.TrimLeft(bearer(r), "kn")+`"`, 1))
					return true
				})
				var sources []Source
				keys := map[string]bool{"k0": true}
				for i := range many {
					s, next := sourceOf(fmt.Sprintf("s%d", i), fmt.Sprintf("k%d", i)), fmt.Sprintf("n%d", i)
					s.NextKey = func() string { return next }
					sources, keys[next] = append(sources, s), good
				}
				w.run(sources...)
				w.until("running", time.Hour, w.filled)
				f.mu.Lock()
				f.keys = keys
				f.mu.Unlock()
				time.Sleep(90 * time.Second)
				running := 0
				for _, s := range w.syncer.Status().Sources {
					if s.State == status.StateRunning {
						running++
					}
				}
				if good && running < many || !good && running > 10 {
					t.Errorf("%d of %d sources are running after 90 s", running, many)
				}
				f.mu.Lock() // each source has learnt by a refusal of its own
				f.refusals = nil
				f.mu.Unlock()
				time.Sleep(11 * time.Minute)
				if n := f.mostIn(time.Minute); n > 30 {
					t.Errorf("%d requests with a wrong key within a minute", n)
				}
			})
		})
	}
}

// mostIn is the most requests with a wrong key in any such time.
func (f *fake) mostIn(d time.Duration) (most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.refusals {
		n := 0
		for j := i; j < len(f.refusals) && f.refusals[j].Sub(f.refusals[i]) < d; j++ {
			n++
		}
		most = max(most, n)
	}
	return most
}
