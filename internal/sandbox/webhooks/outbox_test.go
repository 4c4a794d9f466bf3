package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// receiver is a key's server: it answers as told, and notes when what came.
type receiver struct {
	mu     sync.Mutex
	began  time.Time
	answer func(n int, r *http.Request) (int, time.Duration)
	got    []string // "minutes id signature"
}

// RoundTrip is http.RoundTripper's: a network that has one server.
func (v *receiver) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	n := len(v.got)
	v.got = append(v.got, fmt.Sprintf("%s %s %s", time.Since(v.began).Round(time.Second), r.Header.Get("Service-Event-Id"), body))
	v.mu.Unlock()
	status, wait := v.answer(n, r)
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	if status/100 == 3 {
		w.Header().Set("Location", "http://elsewhere.invalid/")
	}
	w.WriteHeader(status)
	return w.Result(), nil
}

func at(t time.Time) int64 { return t.UnixMicro() }

// play runs an outbox in simulated time until nothing is left to send.
func play(t *testing.T, v *receiver, send func(o *Outbox)) []Delivery {
	t.Helper()
	v.began = time.Now()
	o := New(Options{Transport: v, Now: time.Now, Endpoint: func(string) (Endpoint, bool) {
		return Endpoint{URL: "http://shop.test/hook", Secret: "whsec_x"}, true
	}})
	send(o)
	for {
		next, ok := o.Next()
		if !ok {
			return o.Deliveries()
		}
		time.Sleep(time.Until(time.UnixMicro(next)))
		o.Deliver(t.Context(), at(time.Now()))
	}
}

func always(status int) func(int, *http.Request) (int, time.Duration) {
	return func(int, *http.Request) (int, time.Duration) { return status, 0 }
}

// docs/openapi.yaml, webhooks: a webhook without an answer 2xx is sent six times more, and then
// its delivery has failed.
func TestRetries(t *testing.T) {
	want := []string{"0s", "1m0s", "6m0s", "21m0s", "1h21m0s", "7h21m0s", "31h21m0s"}
	for name, c := range map[string]struct {
		answer   func(n int, r *http.Request) (int, time.Duration)
		attempts int
		late     time.Duration // an attempt takes so long
		state    string
	}{
		"always 500":   {always(500), 7, 0, Failed},
		"never":        {func(int, *http.Request) (int, time.Duration) { return 200, time.Hour }, 7, Timeout, Failed},
		"a redirect":   {always(302), 7, 0, Failed},
		"404":          {always(404), 7, 0, Failed},
		"at once":      {always(204), 1, 0, Delivered},
		"just in time": {func(int, *http.Request) (int, time.Duration) { return 200, Timeout - time.Millisecond }, 1, 0, Delivered},
		"at the third attempt": {func(n int, _ *http.Request) (int, time.Duration) {
			return map[bool]int{true: 200, false: 503}[n == 2], 0
		}, 3, 0, Delivered},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &receiver{answer: c.answer}
				all := play(t, v, func(o *Outbox) {
					o.Send(at(time.Now()), "app", Message{ID: "evt_1", Type: "order.ready", Body: []byte("{}")}, Mishap{})
				})
				if len(all) != 1 || all[0].State != c.state || all[0].Attempts != c.attempts || len(v.got) != c.attempts {
					t.Fatalf("%+v, %d requests", all, len(v.got))
				}
				for i, got := range v.got {
					due, err := time.ParseDuration(want[i])
					if err != nil {
						t.Fatal(err)
					}
					if due += time.Duration(i) * c.late; got != fmt.Sprintf("%s evt_1 {}", due) {
						t.Errorf("attempt %d: %s, want %s", i+1, got, due)
					}
				}
			})
		})
	}
}

// Each misfortune, on demand.
func TestMishaps(t *testing.T) {
	for name, c := range map[string]struct {
		first Mishap
		want  []string
	}{
		"none":         {Mishap{}, []string{"0s evt_1 a", "30s evt_2 b"}},
		"lost":         {Mishap{Lost: true}, []string{"30s evt_2 b"}},
		"twice":        {Mishap{Twice: true}, []string{"0s evt_1 a", "1s evt_1 a", "30s evt_2 b"}},
		"delayed":      {Mishap{Delay: time.Minute}, []string{"30s evt_2 b", "1m0s evt_1 a"}},
		"out of order": {Mishap{Behind: true}, []string{"30s evt_2 b", "31s evt_1 a"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &receiver{answer: always(200)}
				play(t, v, func(o *Outbox) {
					o.Send(at(time.Now()), "app", Message{ID: "evt_1", Body: []byte("a")}, c.first)
					o.Send(at(time.Now().Add(30*time.Second)), "app", Message{ID: "evt_2", Body: []byte("b")}, Mishap{})
				})
				if !slices.Equal(v.got, c.want) {
					t.Errorf("%v, want %v", v.got, c.want)
				}
			})
		})
	}
}

// One that waits for another that never comes is sent all the same; of another key it knows
// nothing.
func TestNobodyComesAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: always(200)}
		play(t, v, func(o *Outbox) {
			o.Send(at(time.Now()), "app", Message{ID: "evt_1", Body: []byte("a")}, Mishap{Behind: true})
			o.Send(at(time.Now()), "other", Message{ID: "evt_2", Body: []byte("b")}, Mishap{})
		})
		if want := []string{"0s evt_2 b", "10m0s evt_1 a"}; !slices.Equal(v.got, want) {
			t.Errorf("%v, want %v", v.got, want)
		}
	})
}

// A forged one is signed with another secret, and not tried again.
func TestForged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right := 0
		v := &receiver{answer: func(_ int, r *http.Request) (int, time.Duration) {
			if r.Header.Get("Service-Signature") == Sign("whsec_x", time.Now().Unix(), []byte("a")) {
				right++
				return 200, 0
			}
			return 401, 0
		}}
		all := play(t, v, func(o *Outbox) {
			o.Send(at(time.Now()), "app", Message{ID: "evt_1", Body: []byte("a")}, Mishap{Forged: true})
		})
		if right != 1 || len(v.got) != 2 || len(all) != 2 || all[0].State != Delivered || all[1].State != Failed || all[1].Attempts != 1 {
			t.Errorf("%d genuine, %v, %+v", right, v.got, all)
		}
	})
}

// A stop in the middle of an attempt is no attempt: it is made again.
func TestAStopIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: func(n int, _ *http.Request) (int, time.Duration) {
			return 200, map[bool]time.Duration{true: time.Hour}[n == 0]
		}}
		v.began = time.Now()
		o := New(Options{Transport: v, Now: time.Now, Endpoint: func(string) (Endpoint, bool) { return Endpoint{URL: "http://shop.test/"}, true }})
		o.Send(at(time.Now()), "app", Message{ID: "evt_1"}, Mishap{})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		o.Deliver(ctx, at(time.Now()))
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) || o.Deliveries()[0].State != Pending {
			t.Fatalf("%+v", o.Deliveries())
		}
		if n := o.Deliver(t.Context(), at(time.Now())); n != 1 || o.Deliveries()[0].State != Delivered || o.Deliveries()[0].Attempts != 1 {
			t.Errorf("%d, %+v", n, o.Deliveries())
		}
	})
}

// A receiver that hangs holds up no other.
func TestASlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &receiver{answer: func(_ int, r *http.Request) (int, time.Duration) {
			if strings.Contains(r.Header.Get("Service-Event-Id"), "slow") {
				return 200, 9 * time.Second
			}
			return 200, 0
		}}
		v.began = time.Now()
		o := New(Options{Transport: v, Now: time.Now, Endpoint: func(string) (Endpoint, bool) { return Endpoint{URL: "http://shop.test/"}, true }})
		o.Send(at(time.Now()), "a", Message{ID: "evt_slow"}, Mishap{})
		o.Send(at(time.Now()), "b", Message{ID: "evt_fast"}, Mishap{})
		done := make(chan struct{})
		go func() { defer close(done); o.Deliver(t.Context(), at(time.Now())) }()
		time.Sleep(time.Second)
		synctest.Wait()
		if all := o.Deliveries(); all[0].State != Pending || all[1].State != Delivered {
			t.Errorf("%+v", all)
		}
		<-done
	})
}
