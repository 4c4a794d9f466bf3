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
	burst   int           // fresh requests at once
	every   time.Duration // between the bursts
	catchUp bool          // fresh requests one after the other, without end

	mu      sync.Mutex
	stored  time.Time // when a page was last made durable
	stalled []time.Duration
	sent    int
}

// live is one process, from its start to its kill.
func (v *lives) live(span time.Duration) {
	l := NewLedger(Options{Jitter: v.r.Float64})
	src := &source{key: l.Key("bistro", 1), service: v.service, name: "bistro", waits: map[Lane][]time.Duration{}}
	if v.seen() {
		src.key.FollowProcess()
	}
	ctx, kill := context.WithCancel(v.t.Context())
	defer kill()
	killed := time.Now().Add(span)
	began := time.Now()
	go func() {
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
	}()
	time.Sleep(span)
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

// TestKilledAgainAndAgain is DESIGN B2 for a process that forgets what the one
// before it spent: killed 2 to 10 seconds after its start for half an hour, at
// moments that no algorithm of the service likes better than others, it draws no
// 429; nor does one that is killed after minutes of a backfill or of bursts.
func TestKilledAgainAndAgain(t *testing.T) {
	works := []struct {
		name        string
		burst       int
		every       time.Duration
		catchUp     bool
		least, most time.Duration // a life
	}{
		{"backfill", 0, 0, false, 2 * time.Second, 10 * time.Second},
		{"bursts", 12, 5 * time.Second, false, 2 * time.Second, 10 * time.Second},
		{"catching up", 0, 0, true, 2 * time.Second, 10 * time.Second},
		{"longer lives", 12, 5 * time.Second, false, 5 * time.Second, 200 * time.Second},
		{"longer lives with large bursts", 100, 90 * time.Second, false, 2 * time.Second, 200 * time.Second},
	}
	for name := range algorithms {
		for _, work := range works {
			t.Run(fmt.Sprintf("%s/%s", name, work.name), func(t *testing.T) {
				for seed := range uint64(4) {
					synctest.Test(t, func(t *testing.T) {
						r := newDice(100 + seed)
						service := newService(name, DefaultLimits, 5*time.Millisecond, 60*time.Millisecond, 200+seed)
						v := &lives{t: t, service: service, r: r, limits: DefaultLimits, burst: work.burst, every: work.every, catchUp: work.catchUp}
						n := 0
						for began := time.Now(); time.Since(began) < 30*time.Minute; n++ {
							v.live(work.least + time.Duration(r.Int64N(int64(work.most-work.least))))
						}
						time.Sleep(time.Minute) // the last one's requests are answered
						synctest.Wait()
						t.Logf("%d lives, %d requests, %d × 429; the first answer after p50 %s, at most %s", n, len(service.counted), service.refusals,
							percentile(v.stalled, 0.5), percentile(v.stalled, 1))
						if service.refusals > 0 {
							t.Errorf("%d × 429", service.refusals)
						}
					})
				}
			})
		}
	}
}

// TestInherit has answers tell, one by one, what a process before has spent.
func TestInherit(t *testing.T) {
	type answer struct{ confirmed, remaining, left int }
	cases := []struct {
		name    string
		answers []answer // one second apart, one request under way
		paced   bool
	}{
		{"nothing was spent", []answer{{0, 119, 0}}, false},
		{"much was", []answer{{0, 49, 70}}, true},
		{"all but one place was", []answer{{0, 0, 119}}, true},
		{"some comes back", []answer{{0, 49, 70}, {1, 58, 60}}, true},
		{"a fixed minute ends", []answer{{0, 49, 70}, {1, 119, 0}}, false},
		{"more arrives late", []answer{{0, 49, 70}, {1, 44, 74}}, true},
		{"a place not surely ours", []answer{{0, 49, 70}, {0, 48, 70}}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWindow(120, 1, 0)
			w.begin(0)
			now := instant(0)
			for i, a := range c.answers {
				now += time.Second
				sent, gone := now-time.Second/2, w.gone
				w.take(sent, false)
				w.answered(now, 0)
				w.observe(now, sent, gone, a.confirmed, a.remaining)
				if len(w.others) != a.left {
					t.Errorf("answer %d: %d places taken to be spent before, want %d", i, len(w.others), a.left)
				}
			}
			if w.previousSpent(now) != c.paced || w.oneByOne(now) {
				t.Errorf("paced for what was spent before: %v, one by one: %v", w.previousSpent(now), w.oneByOne(now))
			}
			if w.expire(2 * minute); len(w.others) > 0 || w.previousSpent(2*minute) {
				t.Error("still paced a minute later")
			}
		})
	}
}

// TestTheFirstHeavyRequestGoesAlone: the heavy limit has a past of its own, which
// only answers to heavy requests tell.
func TestTheFirstHeavyRequestGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		enter(t, k, Probe, false).Leave(Answer{Status: 200, Limit: 120, Remaining: 119})
		first := enter(t, k, Fresh, true)
		enter(t, k, Fresh, false).Leave(Answer{Status: 200, Limit: 120, Remaining: 117})
		began := time.Now()
		go func() {
			time.Sleep(5 * time.Second)
			first.Leave(Answer{Status: 200, Limit: 30, Remaining: 4})
		}()
		enter(t, k, Fresh, true).Leave(Answer{Status: 200, Limit: 30, Remaining: 3})
		if waited := time.Since(began); waited < 5*time.Second || waited > 20*time.Second {
			t.Errorf("the second waited %s", waited)
		}
		if u := k.Usage(); u.Heavy != (Share{Used: 2, Others: 25, Limit: 30}) || u.Key.Others != 0 {
			t.Errorf("usage %+v", u)
		}
	})
}
