package budget

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestOthersAreGivenWay is docs/rules.md B3: another program uses the key, knowing
// nothing of us. It must get nearly all it asks for, and once it is gone the
// whole limit is used again.
func TestOthersAreGivenWay(t *testing.T) {
	uses := []struct {
		burst   int
		every   time.Duration
		refused float64 // at most
		ours    int     // requests a minute, at least
	}{
		{1, 2 * time.Second, 0.02, 50}, {1, 10 * time.Second, 0.02, 95}, {15, 30 * time.Second, 0.05, 35},
		{1, time.Second, 0.02, 25}, {1, 667 * time.Millisecond, 0.02, 12}, {15, 10 * time.Second, 0.05, 5},
	}
	for name := range algorithms {
		for _, use := range uses {
			t.Run(fmt.Sprintf("%s/%d every %s", name, use.burst, use.every), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newDice(4)
					service := newService(name, DefaultLimits, 5*time.Millisecond, 60*time.Millisecond, 9)
					src := newSource(NewLedger(Options{Jitter: r.Float64}), service, "bistro")
					ctx, cancel := context.WithCancel(t.Context())
					var group sync.WaitGroup
					src.work(ctx, &group, 8, Backfill, false)
					time.Sleep(3 * time.Minute)
					asked, refused, sent := 0, 0, src.sent()
					for began := time.Now(); time.Since(began) < time.Hour; time.Sleep(use.every/2 + time.Duration(r.Int64N(int64(use.every)))) {
						for range use.burst {
							asked++
							if service.count("bistro", false).Status == 429 {
								refused++
							}
						}
					}
					ours := src.refusals()
					sent = src.sent() - sent
					time.Sleep(13 * time.Minute)
					from := time.Now()
					time.Sleep(10 * time.Minute)
					usage := service.rate(from, time.Now()) / float64(DefaultLimits.PerMinute)
					cancel()
					group.Wait()
					t.Logf("%d of its %d requests refused, %d of %d of ours; %.2f %% used without it", refused, asked, ours, sent, 100*usage)
					if float64(refused) > use.refused*float64(asked) || ours > 8 {
						t.Errorf("%d of its %d requests refused, %d of ours", refused, asked, ours)
					}
					if sent < 60*use.ours {
						t.Errorf("%d of ours were sent in an hour, want %d a minute", sent, use.ours)
					}
					if usage < 0.98 {
						t.Errorf("usage %.2f %% once it is gone", 100*usage)
					}
				})
			})
		}
	}
}

// TestTwoProcessesWithHalfOfAKeyEach has two ledgers that know nothing of each other.
func TestTwoProcessesWithHalfOfAKeyEach(t *testing.T) {
	for name := range algorithms {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := newService(name, DefaultLimits, 5*time.Millisecond, 60*time.Millisecond, 14)
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				var both []*source
				for range 2 {
					l := NewLedger(Options{})
					src := newSource(l, service, "bistro")
					l.Key("bistro", 0.5)
					src.work(ctx, &group, 6, Backfill, false)
					src.every(ctx, &group, service.rand, 20*time.Second, single(nil), Fresh)
					both = append(both, src)
				}
				time.Sleep(2 * time.Minute)
				from := time.Now()
				time.Sleep(time.Hour)
				usage := service.rate(from, time.Now()) / float64(DefaultLimits.PerMinute)
				cancel()
				group.Wait()
				t.Logf("usage %.2f %%, %d × 429, %d and %d sent", 100*usage, service.refusals, both[0].sent(), both[1].sent())
				if usage < 0.96 || service.refusals > 0 {
					t.Errorf("usage %.2f %%, %d × 429", 100*usage, service.refusals)
				}
			})
		})
	}
}

// TestNobodyIsSeenWhereNobodyIs keeps the view on others free of false alarms.
func TestNobodyIsSeenWhereNobodyIs(t *testing.T) {
	for name := range algorithms {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDice(6)
				service := newService(name, Limits{PerMinute: 120, BusinessPerMinute: 200, HeavyPerMinute: 30}, 0, 2*time.Second, 11)
				l := NewLedger(Options{})
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				var keys []*Key
				for i := range 3 {
					src := newSource(l, service, fmt.Sprintf("key%d", i))
					src.key.SetLimits(service.limits, "bistro")
					src.every(ctx, &group, r, 20*time.Second, func() int { return r.IntN(40) }, Fresh)
					src.work(ctx, &group, i, Backfill, false)
					src.work(ctx, &group, 1, Reconcile, true)
					keys = append(keys, src.key)
				}
				for i := 0; i < 300 && !t.Failed(); i++ {
					time.Sleep(24 * time.Second)
					for _, k := range keys {
						if u := k.Usage(); u.Key.Others+u.Heavy.Others+u.Business.Others > 0 {
							t.Errorf("usage %+v", u)
						}
					}
				}
				cancel()
				group.Wait()
				if service.refusals > 0 {
					t.Errorf("%d × 429", service.refusals)
				}
			})
		})
	}
}

func TestA429IsHonoured(t *testing.T) {
	limits := Limits{PerMinute: 120, BusinessPerMinute: 600, HeavyPerMinute: 30}
	cases := []struct {
		name   string
		answer Answer
		heavy  bool // was it
		// how long the next requests wait: one of this key, a heavy one of this key,
		// one of another key of the restaurant
		plain, heavily, other time.Duration
	}{
		{"the key's", Answer{Limit: 120, RetryAfter: 20 * time.Second}, false, 20 * time.Second, 20 * time.Second, 0},
		{"the key's, by a heavy one", Answer{Limit: 120, RetryAfter: 20 * time.Second}, true, 20 * time.Second, 20 * time.Second, 0},
		{"the heavy routes'", Answer{Limit: 30, RetryAfter: 7 * time.Second}, true, 0, 7 * time.Second, 0},
		{"the restaurant's", Answer{Limit: 600, RetryAfter: 9 * time.Second}, false, 9 * time.Second, 9 * time.Second, 9 * time.Second},
		{"somebody's", Answer{Limit: -1, RetryAfter: 3 * time.Second}, false, 3 * time.Second, 3 * time.Second, 0},
		{"somebody's, by a heavy one", Answer{Limit: -1, RetryAfter: 3 * time.Second}, true, 3 * time.Second, 3 * time.Second, 0},
		{"without a time", Answer{Limit: 120}, false, time.Minute, time.Minute, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewLedger(Options{Jitter: func() float64 { return 0.5 }})
				k, other := l.Key("a", 1), l.Key("b", 1)
				k.SetLimits(limits, "bistro")
				other.SetLimits(limits, "bistro")
				c.answer.Status, c.answer.Remaining = 429, 0
				acquire(t, k, Fresh, c.heavy).Done(c.answer)
				if u := k.Usage(); u.PausedUntil.IsZero() {
					t.Errorf("usage %+v", u)
				}
				var plainly, heavily, others time.Duration
				var group sync.WaitGroup
				began := time.Now()
				ask := func(k *Key, heavy bool, after *time.Duration) {
					group.Go(func() {
						p := acquire(t, k, Fresh, heavy)
						*after = time.Since(began)
						p.Done(silentOK)
					})
				}
				ask(k, false, &plainly)
				ask(k, true, &heavily)
				ask(other, false, &others)
				group.Wait()
				for _, w := range []struct {
					name      string
					got, want time.Duration
				}{{"plain", plainly, c.plain}, {"heavy", heavily, c.heavily}, {"other", others, c.other}} {
					want := w.want
					if want > 0 {
						want += 50*time.Millisecond + maxJitter/2
					}
					if w.got != want {
						t.Errorf("%s waited %s, want %s", w.name, w.got, want)
					}
				}
			})
		})
	}
}

func TestAfterA429OneGoesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{Jitter: func() float64 { return 0 }}).Key("bistro", 1)
		acquire(t, k, Fresh, false).Done(silentOK)
		before := acquire(t, k, Fresh, false)
		acquire(t, k, Fresh, false).Done(Answer{Status: 429, Limit: 120, RetryAfter: time.Second})
		var group sync.WaitGroup
		var mu sync.Mutex
		var sent []time.Duration
		began := time.Now()
		for range 5 {
			group.Go(func() {
				p := acquire(t, k, Fresh, false)
				mu.Lock()
				sent = append(sent, time.Since(began))
				mu.Unlock()
				time.Sleep(time.Second)
				p.Done(Answer{Status: 200, Limit: 120, Remaining: 85})
			})
		}
		time.Sleep(500 * time.Millisecond)
		before.Done(Answer{Status: 200, Limit: 120, Remaining: 118}) // sent before: no all-clear
		group.Wait()
		slices.Sort(sent)
		at := func(d time.Duration) time.Duration { return d + 50*time.Millisecond }
		if sent[0] != at(time.Second) || sent[1] != at(2*time.Second) || sent[4] != at(2*time.Second) {
			t.Errorf("sent at %v, want one at 1 s and the others at 2 s", sent)
		}
	})
}

// TestAThousandKeysResumeApart has a service refuse everyone at once.
func TestAThousandKeysResumeApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{Jitter: newDice(8).Float64})
		var group sync.WaitGroup
		var mu sync.Mutex
		perTenth := map[time.Duration]int{}
		began := time.Now()
		for i := range 1000 {
			k := l.Key(fmt.Sprintf("key%d", i), 1)
			acquire(t, k, Fresh, false).Done(Answer{Status: 429, Limit: -1, Remaining: -1, RetryAfter: 30 * time.Second})
			group.Go(func() {
				p := acquire(t, k, Fresh, false)
				mu.Lock()
				perTenth[time.Since(began).Truncate(100*time.Millisecond)]++
				mu.Unlock()
				p.Done(silentOK)
			})
		}
		group.Wait()
		for at, n := range perTenth {
			if at < 30*time.Second || at > 36*time.Second || n > 50 {
				t.Errorf("%d keys resumed within a tenth of a second at %s", n, at)
			}
		}
	})
}

func TestALimitInAnAnswerIsBelievedDownwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		acquire(t, k, Fresh, false).Done(Answer{Status: 200, Limit: 60, Remaining: 59})
		acquire(t, k, Fresh, true).Done(Answer{Status: 200, Limit: 10, Remaining: 9})
		acquire(t, k, Fresh, false).Done(Answer{Status: 200, Limit: 5000, Remaining: 4000})
		if u := k.Usage(); u.Key.Limit != 60 || u.Heavy.Limit != 10 || u.Business.Limit != 600 || u.Key.Others != 0 {
			t.Errorf("usage %+v", u)
		}
		k.SetLimits(DefaultLimits, "bistro")
		if u := k.Usage(); u.Key.Limit != 120 || u.Heavy.Limit != 30 {
			t.Errorf("after /me: %+v", u)
		}
	})
}
