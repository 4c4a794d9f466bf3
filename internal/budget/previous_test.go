package budget

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lives are processes one after the other, each killed and started again.
type lives struct {
	t       *testing.T
	service *service
	r       *dice
	limits  Limits
	keys    int           // of one restaurant
	burst   int           // fresh requests at once
	every   time.Duration // between the bursts
	catchUp bool          // fresh requests one after the other, without end

	silent, smallest bool // see service

	mu      sync.Mutex
	stored  time.Time // when a page was last made durable
	stalled []time.Duration
	sent    int
}

// live is one process, from its start to its kill.
func (v *lives) live(span time.Duration) {
	l := NewLedger(Options{Jitter: v.r.Float64})
	ctx, kill := context.WithCancel(v.t.Context())
	defer kill()
	killed := time.Now().Add(span)
	began := time.Now()
	var sources []*source
	for i := range v.keys {
		src := newSource(l, v.service, fmt.Sprintf("key%d", i))
		if v.seen() {
			src.key.FollowProcess("bistro")
		}
		sources = append(sources, src)
		go v.work(ctx, src, began, killed)
	}
	time.Sleep(span)
	for _, src := range sources {
		if v.service.smallest {
			break // the figures of one limit say nothing of another's
		}
		// what the process before has spent is not taken for others'
		if u := src.key.Usage(); u.Key.Others+u.Heavy.Others+u.Business.Others > 0 {
			v.t.Errorf("%s: %+v", src.name, u)
		}
	}
}

func (v *lives) work(ctx context.Context, src *source, began, killed time.Time) {
	if !src.ask(ctx, Probe, false) {
		return
	}
	v.answered(time.Since(began))
	src.key.SetLimits(v.limits, "bistro")
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() { v.walk(ctx, src, killed, false) })
	}
	for range 2 {
		group.Go(func() { v.walk(ctx, src, killed, true) })
	}
	if v.burst > 0 {
		src.every(ctx, &group, v.r, v.every, func() int { return v.burst }, Fresh)
	}
	if v.catchUp {
		src.work(ctx, &group, 3, Fresh, false)
	}
}

// walk sends requests of a backfill whose pages become durable a second later.
func (v *lives) walk(ctx context.Context, src *source, killed time.Time, heavy bool) {
	for src.ask(ctx, Backfill, heavy) {
		v.mu.Lock()
		v.sent++
		if durable := time.Now().Add(time.Second); durable.Before(killed) {
			v.stored = durable
		}
		v.mu.Unlock()
	}
}

func (v *lives) seen() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.stored.IsZero() && time.Since(v.stored) < time.Hour
}

func (v *lives) answered(after time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stalled = append(v.stalled, after)
}

// TestKilledAgainAndAgain is docs/rules.md B2 for a process that forgets what the one
// before it spent: killed 2 to 10 seconds after its start again and again, at
// moments that no algorithm of the service likes better than others, it draws no
// 429; nor does one that is killed after minutes of a backfill or of bursts.
func TestKilledAgainAndAgain(t *testing.T) { killedAgainAndAgain(t, 1, 12*minute) }

func killedAgainAndAgain(t *testing.T, seeds uint64, d time.Duration) {
	if testing.Short() {
		t.Skip("one process after the other")
	}
	const short, long = 10 * time.Second, 200 * time.Second
	works := []struct {
		name        string
		keys, burst int
		every       time.Duration
		catchUp     bool
		least, most time.Duration // a life
		headers     string
	}{
		{"backfill", 1, 0, 0, false, 2 * time.Second, short, ""},
		{"bursts", 1, 12, 5 * time.Second, false, 2 * time.Second, short, ""},
		{"catching up", 1, 0, 0, true, 2 * time.Second, short, ""},
		{"longer lives", 1, 12, 5 * time.Second, false, 5 * time.Second, long, ""},
		{"longer lives with large bursts", 1, 100, 90 * time.Second, false, 2 * time.Second, long, ""},
		{"a restaurant's backfill", 5, 0, 0, false, 2 * time.Second, short, ""},
		{"a restaurant's bursts", 5, 12, 5 * time.Second, false, 2 * time.Second, short, ""},
		{"longer lives of a restaurant", 5, 12, 5 * time.Second, false, 5 * time.Second, long, ""},
		{"a restaurant that catches up", 5, 0, 0, true, 5 * time.Second, long, ""},
		{"a backfill without figures", 1, 0, 0, false, 2 * time.Second, long, "none"},
		{"bursts without figures", 1, 12, 5 * time.Second, false, 2 * time.Second, long, "none"},
		{"a restaurant that catches up by the smallest limit's figures", 5, 0, 0, true, 2 * time.Second, long, "smallest"},
		{"a restaurant's bursts by the smallest limit's figures", 5, 12, 5 * time.Second, false, 2 * time.Second, long, "smallest"},
	}
	for name := range algorithms {
		for _, work := range works {
			t.Run(fmt.Sprintf("%s/%s", name, work.name), func(t *testing.T) {
				for seed := range seeds {
					v := &lives{keys: work.keys, burst: work.burst, every: work.every, catchUp: work.catchUp, silent: work.headers == "none", smallest: work.headers == "smallest"}
					synctest.Test(t, func(t *testing.T) { v.againAndAgain(t, name, work.least, work.most, seed, d) })
				}
			})
		}
	}
}

// begin makes the service of the lives.
func (v *lives) begin(t *testing.T, algorithm string, seed uint64) {
	v.t, v.r = t, newDice(100+seed)
	v.service = newService(algorithm, v.limits, 5*time.Millisecond, 60*time.Millisecond, 200+seed)
	v.service.silent, v.service.smallest = v.silent, v.smallest
}

func (v *lives) againAndAgain(t *testing.T, algorithm string, least, most time.Duration, seed uint64, d time.Duration) {
	v.limits = DefaultLimits
	if v.keys > 1 {
		v.limits.BusinessPerMinute = 250 // less than the keys' together
	}
	v.begin(t, algorithm, seed)
	n := 0
	for began := time.Now(); time.Since(began) < d; n++ {
		v.live(least + time.Duration(v.r.Int64N(int64(most-least))))
	}
	time.Sleep(time.Minute) // the last one's requests are answered
	synctest.Wait()
	t.Logf("%d lives, %d requests, %d × 429; the first answer after p50 %s, at most %s", n, len(v.service.counted), v.service.refusals,
		percentile(v.stalled, 0.5), percentile(v.stalled, 1))
	if v.service.refusals > 0 {
		t.Errorf("%d × 429", v.service.refusals)
	}
}

// TestKilledAgainAndAgainUnderOtherLimits is docs/rules.md B2 for processes that do not know the limits until /me
// has answered: after two minutes or more of work one is killed, and those after it every few seconds.
func TestKilledAgainAndAgainUnderOtherLimits(t *testing.T) { killedUnderOtherLimits(t, 1) }

func killedUnderOtherLimits(t *testing.T, times int) {
	if testing.Short() {
		t.Skip("one process after the other")
	}
	works := []struct {
		name        string
		keys, burst int
		catchUp     bool
		headers     string
	}{
		{"backfill", 1, 0, false, ""},
		{"bursts", 1, 12, false, ""},
		{"catching up", 1, 0, true, ""},
		{"catching up without figures", 1, 0, true, "none"},
		{"a restaurant that catches up", 3, 0, true, ""},
		{"bursts by the smallest limit's figures", 1, 12, false, "smallest"},
	}
	for _, limits := range []Limits{{20, 600, 30}, {60, 600, 8}, {120, 60, 30}, {120, 600, 30}, {600, 600, 30}, {600, 2000, 200}} {
		for name := range algorithms {
			for _, work := range works {
				t.Run(fmt.Sprintf("%d and %d/%s/%s", limits.PerMinute, limits.BusinessPerMinute, name, work.name), func(t *testing.T) {
					v := &lives{limits: limits, keys: work.keys, burst: work.burst, every: 25 * time.Second, catchUp: work.catchUp, silent: work.headers == "none", smallest: work.headers == "smallest"}
					synctest.Test(t, func(t *testing.T) { v.underOtherLimits(t, name, times) })
				})
			}
		}
	}
}

func (v *lives) underOtherLimits(t *testing.T, algorithm string, times int) {
	v.begin(t, algorithm, 1)
	for range times {
		v.live(2*minute + time.Duration(v.r.Int64N(int64(minute))))
		for began := time.Now(); time.Since(began) < 2*minute; {
			v.live(3500*time.Millisecond + time.Duration(v.r.Int64N(int64(5*time.Second))))
		}
	}
	time.Sleep(minute) // the last one's requests are answered
	synctest.Wait()
	if v.service.refusals > 0 {
		t.Errorf("%d × 429 in %d lives, %d requests", v.service.refusals, len(v.stalled), len(v.service.counted))
	}
}

// TestWithoutStateTheFirstMinuteIsTheProcessBefores has a process that found nothing stored, since
// the one before was killed too early.
func TestWithoutStateTheFirstMinuteIsTheProcessBefores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		acquire(t, k, Probe, false).Done(Answer{Status: 200, Limit: 600, Remaining: 100})
		if u := k.Usage(); u.Business != (Share{Used: 500, Limit: 600}) {
			t.Errorf("usage %+v", u)
		}
	})
}

// TestTheFirstHeavyRequestGoesAlone: the heavy limit has a past of its own, which
// only answers to heavy requests tell.
func TestTheFirstHeavyRequestGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		acquire(t, k, Probe, false).Done(Answer{Status: 200, Limit: 120, Remaining: 119})
		first := acquire(t, k, Fresh, true)
		acquire(t, k, Fresh, false).Done(Answer{Status: 200, Limit: 120, Remaining: 117})
		began := time.Now()
		go func() {
			time.Sleep(5 * time.Second)
			first.Done(Answer{Status: 200, Limit: 30, Remaining: 4})
		}()
		acquire(t, k, Fresh, true).Done(Answer{Status: 200, Limit: 30, Remaining: 3})
		if waited := time.Since(began); waited < 5*time.Second || waited > 20*time.Second {
			t.Errorf("the second waited %s", waited)
		}
		if u := k.Usage(); u.Heavy != (Share{Used: 27, Limit: 30}) || u.Key.Others != 0 {
			t.Errorf("usage %+v", u)
		}
	})
}

// TestAStandbyTakesNothingForOthers has a process that has waited for long while another one held
// its source: what that one spent in the last minute is not another program's.
func TestAStandbyTakesNothingForOthers(t *testing.T) {
	for name := range algorithms {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDice(1)
				service := newService(name, DefaultLimits, 5*time.Millisecond, 60*time.Millisecond, 3)
				one := newSource(NewLedger(Options{Jitter: r.Float64}), service, "bistro")
				one.key.SetLimits(DefaultLimits, "bistro")
				two := newSource(NewLedger(Options{Jitter: r.Float64}), service, "bistro")
				ctx, end := context.WithCancel(t.Context())
				var group sync.WaitGroup
				one.work(ctx, &group, 6, Backfill, false)
				time.Sleep(20*time.Minute + 17*time.Second)
				end()
				group.Wait()
				time.Sleep(two.key.FollowProcess("bistro"))
				ctx, end = context.WithCancel(t.Context())
				two.ask(ctx, Probe, false)
				two.key.SetLimits(DefaultLimits, "bistro")
				two.work(ctx, &group, 6, Backfill, false)
				time.Sleep(2 * time.Minute)
				first := two.sent()
				time.Sleep(time.Minute)
				if n := two.sent() - first; n < 110 || two.key.Usage().Key.Others > 0 || service.refusals > 0 {
					t.Errorf("the third minute has %d requests, others are taken to use %d; %d × 429", n, two.key.Usage().Key.Others, service.refusals)
				}
				end()
				group.Wait()
			})
		})
	}
}

// TestAKeyThatComesBackBeginsAnew has a source that was removed and configured again, hours later.
func TestAKeyThatComesBackBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{})
		k := l.Key("a", 1)
		k.SetLimits(DefaultLimits, "bistro")
		acquire(t, k, Fresh, false).Done(Answer{Status: 200, Limit: 120, Remaining: 119})
		l.Forget("a")
		time.Sleep(3 * time.Hour)
		if again := l.Key("a", 0.5); again == k || again.share != 0.5 || again.FollowProcess("bistro") == 0 {
			t.Errorf("the key of before: %t, share %g", again == k, again.share)
		}
	})
}
