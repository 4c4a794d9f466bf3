package syncer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/status"
)

// pair is two processes on one warehouse, and a look at both all the time.
type pair struct {
	*world
	a, b *world
}

// inPair runs a test with two processes over one store, neither started. It fails
// when both hold a source at one instant.
func inPair(t *testing.T, opts sandbox.Options, test func(t *testing.T, p *pair)) {
	t.Helper()
	inShort(t)
	inWorld(t, opts, func(t *testing.T, w *world) {
		p := &pair{world: w, a: w.beside("a"), b: w.beside("b")}
		defer w.watch(p.a, p.b)()
		test(t, p)
	})
}

// beside is another process on the world's warehouse.
func (w *world) beside(name string) *world {
	other := &world{t: w.t, box: w.box, handler: w.handler, transport: w.transport, store: w.store, process: name}
	w.t.Cleanup(other.close)
	return other
}

// watch looks for two processes that hold one source, until stop is called.
func (w *world) watch(all ...*world) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-time.After(50 * time.Millisecond):
			case <-quit:
				return
			}
			for name, holders := range holders(all) {
				if len(holders) > 1 {
					w.t.Errorf("%s: source %s is held by %q", time.Now().Format(time.TimeOnly), name, holders)
				}
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// holders are the processes that hold each source.
func holders(all []*world) map[string][]string {
	found := map[string][]string{}
	for _, w := range all {
		y := w.opened.Load()
		if y == nil {
			continue
		}
		for _, s := range y.served() {
			if y.leases.Check(s.cfg.Name) == nil {
				found[s.cfg.Name] = append(found[s.cfg.Name], w.process)
			}
		}
	}
	return found
}

// states are those of a process's sources.
func (w *world) states() string {
	var states []string
	for _, s := range w.syncer.Status().Sources {
		states = append(states, s.State)
	}
	return strings.Join(states, " ")
}

func (w *world) serves() bool {
	return !strings.Contains(w.states(), status.StateWaiting) && !strings.Contains(w.states(), status.StateStarting)
}

// asks are the requests that a process has made.
func (w *world) asks() (n uint64) {
	for _, s := range w.syncer.Status().Sources {
		n += s.Requests
	}
	return n
}

func TestTheSecondProcessWaits(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 3, Orders: 2000, Businesses: 2}, func(t *testing.T, p *pair) {
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		p.b.run()
		time.Sleep(2 * time.Minute)
		if p.b.asks() != 0 || p.b.sink.Applied() != 0 {
			t.Errorf("the second made %d requests and %d commits", p.b.asks(), p.b.sink.Applied())
		}
		for _, s := range p.b.syncer.Status().Sources {
			if s.State != status.StateWaiting || !strings.Contains(s.Detail, "held by host a since ") || s.Streams[0].State != status.StateWaiting {
				t.Errorf("source %s is %s: %s, its stream %s", s.Name, s.State, s.Detail, s.Streams[0].State)
			}
		}
		report := p.b.tryOnce(Selection{})
		var waiting *lease.WaitingError
		if err := report.Err(); !errors.As(err, &waiting) || waiting.Holder != "host a" || report.Sources[0].State != status.StateWaiting {
			t.Errorf("a pass of the second: %v", err)
		}
	})
}

func TestAPassIsRefusedWhileADaemonServes(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 3, Orders: 500}, func(t *testing.T, p *pair) {
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		began := time.Now()
		err := p.b.tryOnce(Selection{}).Err()
		if err == nil || !strings.Contains(err.Error(), "held by host a") || time.Since(began) > 15*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		p.a.halt()
		if err := p.b.tryOnce(Selection{}).Err(); err != nil {
			t.Errorf("a pass when the daemon has ended: %v", err)
		}
		p.b.equal()
	})
}

// TestAPassWaitsForTheEndOfAHolderThatDied: a command can be given again at once.
func TestAPassWaitsForTheEndOfAHolderThatDied(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 3, Orders: 500}, func(t *testing.T, p *pair) {
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		p.a.crash(0)
		began := time.Now()
		p.b.open()
		r, err := p.b.syncer.RunOnce(t.Context(), Selection{Streams: []string{"allergens"}}, nil)
		if err != nil || r.Err() != nil || time.Since(began) > time.Minute {
			t.Errorf("after %s: %v, %v", time.Since(began), err, r.Err())
		}
	})
}

func TestTheSecondTakesOverFromOneThatDied(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 5, Orders: 600, Pace: 100, Readings: smallPages}, func(t *testing.T, p *pair) {
		freeze := p.alive()
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		p.b.run()
		time.Sleep(40 * time.Second)
		p.a.crash(2)
		p.b.until("the second serves", time.Minute, p.b.serves)
		p.b.until("backfill", 30*time.Minute, p.b.filled)
		freeze()
		time.Sleep(2 * time.Minute)
		p.b.equal()
	})
}

func TestTheSecondTakesOverAtOnceFromOneThatEnds(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 5, Orders: 600, Pace: 100, Readings: smallPages}, func(t *testing.T, p *pair) {
		freeze := p.alive()
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		p.b.run()
		time.Sleep(40 * time.Second)
		p.a.halt()
		p.b.until("the second serves", 10*time.Second, p.b.serves)
		p.b.until("backfill", 30*time.Minute, p.b.filled)
		freeze()
		time.Sleep(2 * time.Minute)
		p.b.equal()
	})
}

func TestOfTwoThatBeginAtOnceOneServes(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inPair(t, sandbox.Options{Seed: 5, Orders: 20, Businesses: 2}, func(t *testing.T, p *pair) {
				random := rand.New(rand.NewPCG(seed, 2))
				upTo := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
				p.a.beatTime, p.b.beatTime = upTo(1600*time.Millisecond), upTo(200*time.Millisecond)
				p.a.run()
				time.Sleep(upTo(2 * p.a.beatTime))
				p.b.run()
				time.Sleep(time.Minute)
				held := holders([]*world{p.a, p.b})
				for _, s := range p.a.syncer.served() {
					if len(held[s.cfg.Name]) != 1 {
						t.Errorf("source %s is held by %q", s.cfg.Name, held[s.cfg.Name])
					}
				}
			})
		})
	}
}

// TestAHolderThatWasPausedWritesNothingLate pauses one in the middle of a flush,
// with rows on their way, for as long as the other needs to take over.
func TestAHolderThatWasPausedWritesNothingLate(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 6, Orders: 2000, Pace: 100, Readings: smallPages}, func(t *testing.T, p *pair) {
		freeze := p.alive()
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		p.b.run()
		time.Sleep(30 * time.Second)
		p.a.sink.SetStuck(true)
		p.b.until("the second serves", time.Minute, p.b.serves)
		before, asked := p.a.sink.Applied(), p.a.asks()
		time.Sleep(5 * time.Second)
		p.a.sink.SetStuck(false)
		time.Sleep(time.Minute)
		if p.a.sink.Applied() != before || p.a.asks() != asked {
			t.Errorf("the first wrote %d commits and made %d requests late", p.a.sink.Applied()-before, p.a.asks()-asked)
		}
		if !strings.Contains(p.a.states(), status.StateWaiting) {
			t.Errorf("the first is %s", p.a.states())
		}
		p.b.halt()
		p.a.until("the first serves again", 10*time.Second, p.a.serves)
		p.a.until("backfill", 30*time.Minute, p.a.filled)
		freeze()
		time.Sleep(2 * time.Minute)
		p.a.equal()
	})
}

// TestWhatWasFencedIsFetchedAgain pauses a process while a list is on its way to the
// warehouse: what it remembers of the list is stored nowhere.
func TestWhatWasFencedIsFetchedAgain(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/allergens", `{"code":"1","name":"Gluten"}`)
		one := w.beside("a")
		f.on("/allergens", func(http.ResponseWriter, *http.Request) bool {
			one.sink.SetStuck(true)
			return false
		})
		one.run(w.one())
		time.Sleep(20 * time.Second)
		f.on("/allergens", nil)
		time.Sleep(20 * time.Second)
		one.sink.SetStuck(false)
		one.until("stored", time.Minute, func() bool { return len(w.store.Rows("allergens", "b1")) == 1 })
	})
}

func TestARequestThatWaitedIsNotMadeForALostSource(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		one := w.beside("a")
		one.run(w.one())
		one.until("served", 20*time.Second, one.serves)
		s := one.syncer.served()[0]
		why := error(&lease.WaitingError{Holder: "another"})
		s.lost.Store(&why)
		asked := one.asks()
		if _, err := s.link.Me(t.Context(), true); !lease.IsWaiting(err) || one.asks() != asked {
			t.Errorf("%d requests, error %v", one.asks()-asked, err)
		}
	})
}

// What a source that has begun anew with another configuration was before is lost with
// it, and writes nothing when the source is held again.
func TestWhatIsEndingIsLostToo(t *testing.T) {
	for _, removed := range []bool{false, true} {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			f.set("/allergens", `{"code":"1","name":"Gluten"}`)
			one := w.beside("a")
			f.on("/allergens", func(http.ResponseWriter, *http.Request) bool { one.sink.SetStuck(true); return false })
			one.run(w.one())
			one.until("rows on their way", 20*time.Second, func() bool { return len(f.asked("/allergens")) > 0 })
			first, now := one.syncer.served()[0], []Source{w.one(func(s *Source) { s.Revision = 2 })}
			if removed {
				now = nil
			}
			if _, err := one.syncer.Apply(now, Schedule{}); err != nil {
				t.Fatal(err)
			}
			why := error(&lease.WaitingError{Holder: "another"})
			one.syncer.lost("s", why)
			if got := first.fence(); !errors.Is(got, why) {
				t.Errorf("removed %v: what is ending: %v", removed, got)
			}
			one.sink.SetStuck(false)
			if !removed {
				one.until("the next life is served", time.Minute, func() bool { return one.serves() && one.syncer.served()[0].fence() == nil })
			}
		})
	}
}

func TestAWarehouseThatIsAwayForBoth(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 7, Orders: 600, Pace: 100, Readings: smallPages}, func(t *testing.T, p *pair) {
		freeze := p.alive()
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		p.b.run()
		time.Sleep(30 * time.Second)
		for range 3 {
			p.a.sink.SetDown(true)
			p.b.sink.SetDown(true)
			time.Sleep(25 * time.Second)
			asked := p.a.asks() + p.b.asks()
			time.Sleep(5 * time.Minute)
			if n := p.a.asks() + p.b.asks() - asked; n > 0 {
				t.Errorf("%d requests while nobody could know who serves", n)
			}
			p.b.sink.SetDown(false)
			time.Sleep(700 * time.Millisecond)
			p.a.sink.SetDown(false)
			time.Sleep(time.Minute)
			if p.a.serves() == p.b.serves() {
				t.Errorf("after the outage one is %q, the other %q", p.a.states(), p.b.states())
			}
		}
		served := p.a
		if p.b.serves() {
			served = p.b
		}
		served.until("backfill", 30*time.Minute, served.filled)
		freeze()
		time.Sleep(2 * time.Minute)
		served.equal()
	})
}

// TestManyProcessesComeAndGo kills, ends, pauses and cuts off three processes at
// random; nobody may hold what another holds, and nothing may be missing at the end.
func TestManyProcessesComeAndGo(t *testing.T) {
	inShort(t)
	manyProcesses(t, sandbox.Options{Orders: 300, Pace: 200, Readings: smallPages})
}

func manyProcesses(t *testing.T, opts sandbox.Options) {
	opts.Seed, opts.Businesses = 8, 2
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, opts, func(t *testing.T, w *world) {
				random := rand.New(rand.NewPCG(seed, 1))
				freeze := w.alive()
				all := []*world{w.beside("a"), w.beside("b"), w.beside("c")}
				for _, one := range all {
					one.beatTime = time.Duration(random.Int64N(int64(time.Second)))
					one.run()
				}
				defer w.watch(all...)()
				for range 60 {
					misfortune(random, all[random.IntN(len(all))])
					time.Sleep(time.Duration(random.Int64N(int64(25 * time.Second))))
				}
				for _, one := range all[1:] {
					one.halt()
				}
				all[0].until("backfill", time.Hour, all[0].filled)
				freeze()
				time.Sleep(2 * time.Minute)
				all[0].equal()
			})
		})
	}
}

// misfortune is what befalls a process.
func misfortune(random *rand.Rand, w *world) {
	pause := time.Duration(random.Int64N(int64(50 * time.Second)))
	switch random.IntN(5) {
	case 0:
		w.crash(random.IntN(3))
		w.run()
	case 1:
		w.halt()
		w.run()
	case 2:
		w.sink.SetDown(true)
		time.Sleep(pause)
		w.sink.SetDown(false)
	case 3:
		w.sink.SetStuck(true)
		time.Sleep(pause)
		w.sink.SetStuck(false)
	}
}

func TestASourceThatIsTakenOutIsGivenBack(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 5, Orders: 300, Businesses: 2}, func(t *testing.T, p *pair) {
		p.a.run()
		p.a.until("the first serves", 20*time.Second, p.a.serves)
		p.b.run()
		time.Sleep(20 * time.Second)
		left := p.a.sources()[:1]
		if _, err := p.a.syncer.Apply(left, Schedule{}); err != nil {
			t.Fatal(err)
		}
		p.b.until("the second serves what the first gave back", 10*time.Second, func() bool {
			held := holders([]*world{p.a, p.b})
			kept, given := held[p.b.syncer.served()[0].cfg.Name], held[p.b.syncer.served()[1].cfg.Name]
			return slices.Equal(kept, []string{"a"}) && slices.Equal(given, []string{"b"})
		})
	})
}

func TestAProcessOfItsOwnSaysNothing(t *testing.T) {
	inShort(t)
	inWorld(t, sandbox.Options{Seed: 5, Orders: 100}, func(t *testing.T, w *world) {
		w.run()
		time.Sleep(5 * time.Minute)
		claims, err := w.sink.Beat(t.Context(), sinks.Process{ID: "other"}, []string{"x"})
		if err != nil || len(claims) != 1 {
			t.Errorf("claims %v, %v", claims, err)
		}
	})
}

// TestVersionsOfTheOtherProcessAreLower: what the process before has stored with a
// clock that was ahead is not newer than what this one fetches.
func TestVersionsOfTheOtherProcessAreLower(t *testing.T) {
	inShort(t)
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		ahead, behind := w.beside("a"), w.beside("b")
		ahead.run(w.one())
		ahead.until("the first serves", 20*time.Second, ahead.serves)
		behind.run(w.one())
		time.Sleep(20 * time.Second)
		ahead.syncer.versions.StartAbove(uint64(time.Now().Add(time.Hour).UnixMicro()))
		f.set(cats, category("a", "A again", stamp(0)))
		ahead.until("the change", time.Minute, func() bool { return strings.Contains(w.store.Row("categories", "b1", "a").Raw, "again") })
		ahead.halt()
		f.set(cats, category("a", "B", stamp(0)))
		behind.until("the change", time.Minute, func() bool { return strings.Contains(w.store.Row("categories", "b1", "a").Raw, `"B"`) })
	})
}

// slowSink has the INSERT of every commit hang while it holds, and counts how often the state is
// read.
type slowSink struct {
	sinks.Sink
	hold   atomic.Bool
	states atomic.Int64
}

func (s *slowSink) Write(ctx context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	if s.hold.Load() {
		return sinks.NewReceipt(nil), nil
	}
	return s.Sink.Write(ctx, c)
}

func (s *slowSink) State(ctx context.Context, source string) (sinks.State, error) {
	s.states.Add(1)
	return s.Sink.State(ctx, source)
}

// slow puts a slowSink before the world's sink.
func (w *world) slow() *slowSink {
	s := &slowSink{}
	w.tune = func(o *Options) { s.Sink, o.Sink = o.Sink, s }
	return s
}

// TestWhatIsNotDurableIsNotGivenBack: a run that ends while an INSERT hangs leaves its claims to the
// time that the others wait for one that is silent. A pass beside it waits for none of that.
func TestWhatIsNotDurableIsNotGivenBack(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		a, b := w.beside("a"), w.beside("b")
		slow := a.slow()
		a.run(w.one())
		a.until("the first serves", 20*time.Second, a.serves)
		b.run(w.one())
		time.Sleep(time.Minute)
		slow.hold.Store(true)
		f.set(cats, category("a", "B", stamp(0)))
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		_ = a.syncer.pass(ctx, a.syncer.supervisors(), pass{
			held:  true,
			visit: func(context.Context, int, *source) error { cancel(); return nil },
			ended: func(int, string, error) {},
		})
		if took := time.Since(began); took > time.Second {
			t.Errorf("a pass beside the daemon takes %s", took)
		}
		began = time.Now()
		a.halt()
		if took := time.Since(began); took < lease.Lasts || took > lease.Lasts+5*time.Second {
			t.Errorf("the end of the first takes %s", took)
		}
		b.until("the second serves", 2*time.Minute, b.serves)
		if after := time.Since(began); after < sinks.ClaimTimeout+lease.Lasts/2 || after > time.Minute {
			t.Errorf("the second serves after %s", after)
		}
	})
}
