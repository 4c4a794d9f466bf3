package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// tiny is a ledger whose only key may send one request a minute, sent already.
func tiny(t *testing.T) *Key {
	t.Helper()
	k := NewLedger(Options{Jitter: func() float64 { return 0 }}).Key("bistro", 1)
	k.SetLimits(Limits{PerMinute: 1, BusinessPerMinute: 1, HeavyPerMinute: 1}, "b")
	acquire(t, k, Fresh, false).Done(silentOK)
	return k
}

var silentOK = Answer{Status: 200, Limit: -1, Remaining: -1}

func acquire(t *testing.T, k *Key, lane Lane, heavy bool) *Permit {
	t.Helper()
	p, err := k.Acquire(t.Context(), lane, heavy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (l Lane) String() string {
	return [...]string{"probe", "fresh", "reconcile", "deep", "backfill", "unknown"}[min(l, lanes)]
}

func waiting(k *Key) int {
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	return k.waiting()
}

func TestLanesGoInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := tiny(t)
		var mu sync.Mutex
		var order []string
		var group sync.WaitGroup
		for i, lane := range []Lane{Backfill, Fresh, Deep, Reconcile, Probe, Fresh, Backfill, Probe} {
			group.Go(func() {
				p := acquire(t, k, lane, false)
				mu.Lock()
				order = append(order, fmt.Sprintf("%s%d", lane, i))
				mu.Unlock()
				p.Done(silentOK)
			})
			synctest.Wait() // so that they come in this order
		}
		group.Wait()
		if got, want := strings.Join(order, " "), "probe4 probe7 fresh1 fresh5 reconcile3 deep2 backfill0 backfill6"; got != want {
			t.Errorf("order %s, want %s", got, want)
		}
	})
}

func TestHeavyWaitsDoNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		k.SetLimits(Limits{PerMinute: 120, HeavyPerMinute: 1}, "b")
		acquire(t, k, Fresh, true).Done(silentOK)
		var group sync.WaitGroup
		var heavyAt, plainAt time.Time
		began := time.Now()
		group.Go(func() { acquire(t, k, Fresh, true).Done(silentOK); heavyAt = time.Now() })
		synctest.Wait()
		group.Go(func() { acquire(t, k, Backfill, false).Done(silentOK); plainAt = time.Now() })
		group.Wait()
		if plainAt.Sub(began) > time.Second || heavyAt.Sub(began) < time.Minute {
			t.Errorf("the plain one after %s, the heavy one after %s", plainAt.Sub(began), heavyAt.Sub(began))
		}
	})
}

func TestALowerLaneLeavesTheHigherItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The business is full until 60 s, key a until 30 s later; a's fresh request
		// waits for its own key, b's backfill may have the business's place.
		l := NewLedger(Options{})
		a, b := l.Key("a", 1), l.Key("b", 1)
		a.SetLimits(Limits{PerMinute: 1, BusinessPerMinute: 2}, "shared")
		b.SetLimits(Limits{PerMinute: 9, BusinessPerMinute: 2}, "shared")
		acquire(t, b, Fresh, false).Done(silentOK)
		time.Sleep(30 * time.Second)
		acquire(t, a, Fresh, false).Done(silentOK)
		began := time.Now()
		var group sync.WaitGroup
		var aAfter, bAfter, cAfter time.Duration
		group.Go(func() { acquire(t, b, Backfill, false).Done(silentOK); bAfter = time.Since(began) })
		group.Go(func() { acquire(t, a, Fresh, false).Done(silentOK); aAfter = time.Since(began) })
		time.Sleep(29 * time.Second)
		group.Go(func() { acquire(t, b, Fresh, false).Done(silentOK); cAfter = time.Since(began) })
		group.Wait()
		// b's fresh request, though last, takes the first place; b's backfill the
		// one after a's.
		if cAfter.Truncate(time.Second) != 30*time.Second || aAfter.Truncate(time.Second) != 60*time.Second || bAfter.Truncate(time.Second) != 90*time.Second {
			t.Errorf("b fresh after %s, a fresh after %s, b backfill after %s", cAfter, aAfter, bAfter)
		}
	})
}

func TestALeaverFreesTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := tiny(t)
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		var group sync.WaitGroup
		var gone error
		group.Go(func() { _, gone = k.Acquire(ctx, Probe, false) })
		synctest.Wait()
		group.Go(func() { acquire(t, k, Fresh, false).Done(silentOK) })
		synctest.Wait()
		if n := waiting(k); n != 2 {
			t.Errorf("%d wait", n)
		}
		began := time.Now()
		cancel(stopped)
		group.Wait()
		if !errors.Is(gone, stopped) || time.Since(began) > time.Minute+time.Second {
			t.Errorf("left with %v; the next one waited %s", gone, time.Since(began))
		}
		if _, err := k.Acquire(ctx, Fresh, false); !errors.Is(err, stopped) {
			t.Errorf("entered with an ended context: %v", err)
		}
		if u := k.Usage(); waiting(k) != 0 || u.Key.Used != 1 {
			t.Errorf("usage %+v", u)
		}
	})
}

// TestAPermitThatComesTooLateIsGivenBack runs into the moment at which a permit and
// the end of the context meet.
func TestAPermitThatComesTooLateIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := tiny(t)
		kept, lost := 0, 0
		for range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), minute+250*time.Millisecond)
			p, err := k.Acquire(ctx, Fresh, false)
			cancel()
			if err != nil {
				lost++
				time.Sleep(time.Second)
				if u := k.Usage(); u.Key.Used != 0 || waiting(k) != 0 {
					t.Fatalf("a place was lost: %+v", u)
				}
				p = acquire(t, k, Fresh, false)
			} else {
				kept++
			}
			p.Done(silentOK)
		}
		t.Logf("%d kept, %d lost", kept, lost)
	})
}

func TestWhoOnlyLooksTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := tiny(t)
		ctx, cancel := context.WithCancel(t.Context())
		looks := func(ctx context.Context, lane Lane) error { return k.Await(ctx, lane, true) }
		gone := make(chan error, 1)
		go func() { gone <- looks(ctx, Fresh) }()
		synctest.Wait()
		if n := waiting(k); n != 1 {
			t.Errorf("%d wait", n)
		}
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) || looks(ctx, Fresh) == nil {
			t.Errorf("it ended with %v", err)
		}
		began := time.Now()
		for range 3 { // the place comes back for the first of them, and stays
			if err := looks(t.Context(), Deep); err != nil || time.Since(began) != minute+250*time.Millisecond {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		}
		if u := k.Usage(); u.Key.Used+u.Heavy.Used+u.Business.Used != 0 || waiting(k) != 0 || u.Granted != [lanes]uint64{Fresh: 1} {
			t.Errorf("%+v", u)
		}
		acquire(t, k, Deep, true).Done(silentOK)
		if time.Since(began) != minute+250*time.Millisecond {
			t.Errorf("the place is there after %s", time.Since(began))
		}
	})
}

func TestAPermitCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		p := acquire(t, k, 200, true) // a lane that is none is the lowest
		if u := k.Usage(); u.Key.Used != 1 || u.Heavy.Used != 1 || u.Business.Used != 1 || u.Granted != [lanes]uint64{Backfill: 1} {
			t.Errorf("under way: %+v", u)
		}
		p.Done(silentOK)
		p.Done(Answer{Status: 429, RetryAfter: time.Hour})
		if u := k.Usage(); u.Key.Used != 1 || !u.PausedUntil.IsZero() {
			t.Errorf("answered: %+v", u)
		}
		time.Sleep(minute + 251*time.Millisecond)
		if u := k.Usage(); u.Key.Used+u.Heavy.Used+u.Business.Used != 0 {
			t.Errorf("a minute later: %+v", u)
		}
	})
}

func TestNoAnswerCountsLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		acquire(t, k, Fresh, false).Done(Answer{Limit: -1, Remaining: -1})
		acquire(t, k, Fresh, false).Done(silentOK)
		time.Sleep(minute + time.Second)
		if u := k.Usage(); u.Key.Used != 1 {
			t.Errorf("after a minute: %+v", u.Key)
		}
		time.Sleep(silence)
		if u := k.Usage(); u.Key.Used != 0 {
			t.Errorf("later: %+v", u.Key)
		}
	})
}

// TestKeysOfABusinessShareFairly has ten keys want 120 each of 600.
func TestKeysOfABusinessShareFairly(t *testing.T) { shareFairly(t, 20*time.Minute) }

func shareFairly(t *testing.T, d time.Duration) {
	for name := range algorithms {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := newService(name, DefaultLimits, 5*time.Millisecond, 60*time.Millisecond, 5)
				l := NewLedger(Options{})
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				var sources []*source
				for i := range 10 {
					src := newSource(l, service, fmt.Sprintf("key%d", i))
					src.key.SetLimits(DefaultLimits, "bistro")
					src.work(ctx, &group, 4, Backfill, false)
					sources = append(sources, src)
				}
				time.Sleep(2 * time.Minute)
				from := time.Now()
				time.Sleep(d)
				usage := service.rate(from, time.Now()) / float64(DefaultLimits.BusinessPerMinute)
				cancel()
				group.Wait()
				var counts []int
				for _, src := range sources {
					counts = append(counts, len(src.waits[Backfill]))
				}
				least, most := slices.Min(counts), slices.Max(counts)
				t.Logf("usage %.2f %%, %d × 429, each key sent %d to %d", 100*usage, service.refusals, least, most)
				if usage < 0.98 || service.refusals > 0 || float64(most-least) > 0.03*float64(most) {
					t.Errorf("usage %.2f %%, %d × 429, each key sent %d to %d", 100*usage, service.refusals, least, most)
				}
			})
		})
	}
}

// TestAKeyThatJoinsARestaurantKeepsItsPauses has a key join a restaurant whose other key has been at
// work for long.
func TestAKeyThatJoinsARestaurantKeepsItsPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{Jitter: func() float64 { return 0 }})
		a := l.Key("a", 1)
		a.SetLimits(DefaultLimits, "bistro")
		acquire(t, a, Fresh, false).Done(Answer{Status: 200, Limit: 600, Remaining: 599})
		time.Sleep(10 * time.Minute)
		b := l.Key("b", 1)
		b.FollowProcess("bistro")
		acquire(t, b, Probe, false).Done(Answer{Status: 200, Limit: 600, Remaining: 500})
		if u := a.Usage(); u.Business != (Share{Used: 100, Limit: 600}) {
			t.Errorf("what the process before has spent: %+v", u.Business)
		}
		c := l.Key("c", 1)
		acquire(t, c, Fresh, false).Done(Answer{Status: 429, Limit: 600, RetryAfter: 20 * time.Second})
		c.SetLimits(DefaultLimits, "bistro")
		if u := a.Usage(); u.Business != (Share{Used: 101, Others: 150, Limit: 600}) || u.PausedUntil.IsZero() {
			t.Errorf("a 429: %+v", u)
		}
		began := time.Now()
		acquire(t, a, Fresh, false).Done(silentOK)
		if waited := time.Since(began); waited < 20*time.Second || waited > 21*time.Second {
			t.Errorf("it waited %s", waited)
		}
	})
}

func TestKeysFoundToBeOneBusiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{})
		a, b, c := l.Key("a", 1), l.Key("b", 1), l.Key("c", 1)
		for _, k := range []*Key{a, b, c} {
			acquire(t, k, Fresh, false).Done(silentOK)
		}
		under := acquire(t, b, Fresh, false)
		limits := Limits{PerMinute: 100, BusinessPerMinute: 300, HeavyPerMinute: 20}
		a.SetLimits(limits, "one")
		b.SetLimits(limits, "one")
		c.SetLimits(limits, "other")
		if u := a.Usage(); u.Business != (Share{Used: 3, Limit: 300}) || u.Key != (Share{Used: 1, Limit: 100}) || u.Heavy.Limit != 20 {
			t.Errorf("a: %+v", u)
		}
		under.Done(silentOK)
		c.SetLimits(Limits{}, "one")
		b.SetLimits(Limits{PerMinute: -1}, "")
		if u := b.Usage(); u.Business != (Share{Used: 4, Limit: 300}) || u.Key.Limit != 100 {
			t.Errorf("b: %+v", u)
		}
		b.SetLimits(Limits{}, "a new one")
		if u := b.Usage(); u.Business.Used != 2 {
			t.Errorf("b elsewhere: %+v", u)
		}
		if l.Key("a", 0.5) != a {
			t.Error("a second key of one name")
		}
	})
}
