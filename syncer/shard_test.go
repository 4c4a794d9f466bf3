package syncer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/status"
)

// crew are processes that share a warehouse by themselves.
type crew struct {
	*world
	all     []*world
	sources []Source
	began   int          // processes so far
	paused  *world       // of them; nil: none
	step    atomic.Int64 // of the processes' wall clocks

	turns map[string][]string // by source: the processes that have held it since the last call of settled, in turn
}

// inCrew runs a test with a crew over a service with restaurants of two keys each.
func inCrew(t *testing.T, restaurants int, test func(t *testing.T, c *crew)) {
	t.Helper()
	inShort(t)
	service := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		restaurant, _, _ := strings.Cut(key, "/")
		switch path := strings.TrimPrefix(r.URL.Path, "/v1"); path {
		case "/me":
			fmt.Fprint(w, strings.Replace(strings.ReplaceAll(fakeMe, `"b1"`, `"`+restaurant+`"`), "app1", key, 1))
		case "/locations", "/allergens":
			fmt.Fprint(w, `{"data":[]}`)
		default:
			fmt.Fprint(w, `{"data":[],"next_cursor":null,"has_more":false}`)
		}
	}
	inScript(t, http.HandlerFunc(service), func(t *testing.T, w *world) {
		c := &crew{world: w, turns: map[string][]string{}}
		for i := range 2 * restaurants {
			c.sources = append(c.sources, sourceOf(fmt.Sprintf("s%02d", i), fmt.Sprintf("b%d/%d", i%restaurants, i)))
		}
		test(t, c)
	})
}

// join begins a process.
func (c *crew) join() *world {
	w := c.prepare()
	w.run(slices.Clone(c.sources)...)
	return w
}

// prepare makes a process that is not begun yet.
func (c *crew) prepare() *world {
	c.began++
	w := c.beside(fmt.Sprintf("p%d", c.began))
	w.edit = func(s *Source) { s.Streams = []string{"locations", "categories"} }
	w.schedule = Schedule{Incremental: "@every 6h", Snapshots: "@every 6h", Reconcile: "off", ReconcileDeep: "off", FullResync: "off"}
	w.tune = func(o *Options) {
		o.Shard.Auto = true
		o.Now = func() time.Time { return time.Now().Add(time.Duration(c.step.Load())) }
	}
	c.all = append(c.all, w)
	return w
}

// apply changes the list of a process.
func (c *crew) apply(w *world, sources []Source) {
	c.t.Helper()
	sources = slices.Clone(sources)
	for i := range sources {
		w.edit(&sources[i])
	}
	if _, err := w.syncer.Apply(sources, w.schedule); err != nil {
		c.t.Fatal(err)
	}
}

// leaves takes a process out that has ended.
func (c *crew) leaves(w *world) {
	c.all = slices.DeleteFunc(c.all, func(other *world) bool { return other == w })
}

// look notes who holds what.
func (c *crew) look() map[string][]string {
	held := holders(c.all)
	for name, by := range held {
		if len(by) > 1 {
			c.t.Errorf("%s is held by %q", name, by)
		}
		if turns := c.turns[name]; len(turns) == 0 || turns[len(turns)-1] != by[0] {
			c.turns[name] = append(turns, by[0])
		}
	}
	return held
}

// wanted is the process that each source belongs to: that of the first source of its restaurant.
func (c *crew) wanted() map[string]string {
	var ids []string
	for _, w := range c.all {
		if w != c.paused {
			ids = append(ids, w.process)
		}
	}
	slices.Sort(ids)
	of := map[string]string{}
	for i, s := range c.sources {
		of[s.Name] = owner(c.sources[i%(len(c.sources)/2)].Name, ids)
	}
	return of
}

// served reports whether each source is walked, by the process that it belongs to.
func (c *crew) served(held map[string][]string) bool {
	for name, by := range c.wanted() {
		if !slices.Equal(held[name], []string{by}) {
			return false
		}
	}
	for _, w := range c.all {
		if w == c.paused {
			continue
		}
		for _, s := range w.syncer.Status().Sources {
			if s.State != status.StateRunning {
				return false
			}
		}
	}
	return true
}

// settles waits until every source is served by its process, and fails when that lasts too long or
// when a source has changed hands that need not.
func (c *crew) settles(what string, limit time.Duration) {
	c.t.Helper()
	was := map[string]string{}
	for name, turns := range c.turns {
		was[name] = turns[len(turns)-1]
	}
	began := time.Now()
	for !c.served(c.look()) {
		if time.Since(began) > limit {
			c.t.Fatalf("%s: after %s the sources are held by %v, want %v", what, limit, holders(c.all), c.wanted())
		}
		time.Sleep(250 * time.Millisecond)
	}
	for name, by := range c.wanted() {
		turns := []string{was[name], by}
		if was[name] == by {
			turns = turns[1:]
		}
		if got := c.turns[name]; was[name] != "" && !slices.Equal(got, turns) {
			c.t.Errorf("%s: %s was held by %q in turn, want %q", what, name, got, turns)
		}
		c.turns[name] = []string{by}
	}
}

// Four processes share the sources, one is killed, one ends, and others join: within a minute each
// time every source is served again, and moves only when it must.
func TestProcessesShareTheSourcesByThemselves(t *testing.T) {
	inCrew(t, 20, func(t *testing.T, c *crew) {
		for range 4 {
			c.join()
		}
		c.settles("four begin together", 3*time.Minute) // restaurants become known
		for _, w := range c.all {
			if s := w.syncer.Status(); s.Processes != 4 || s.Configured != 40 || len(s.Sources) == 0 || len(s.Sources) > 20 {
				t.Errorf("%s has %d sources of %d, of %d processes", w.process, len(s.Sources), s.Configured, s.Processes)
			}
		}
		killed := c.all[2]
		before := holders(c.all)
		began := time.Now()
		killed.crash(0)
		c.leaves(killed)
		c.settles("one is killed", time.Minute-time.Since(began))
		for _, w := range c.all { // what is taken over at once is spread, and not by what is served already
			took := slices.DeleteFunc(w.syncer.served(), func(s *source) bool { return slices.Equal(before[s.Name], []string{w.process}) })
			for _, s := range took {
				if s.Beside != len(took) {
					t.Errorf("%s: %s began beside %d, with %d", w.process, s.Name, s.Beside, len(took))
				}
			}
		}
		c.join()
		c.settles("one joins", 30*time.Second)
		began = time.Now()
		ended := c.all[0]
		ended.halt()
		c.leaves(ended)
		c.settles("one ends", 30*time.Second-time.Since(began))
	})
}

// A source that only some processes have in their lists is served by one of those, whichever it falls
// to; nothing moves that need not, and when all lists are alike again one process claims each source.
func TestWhatSomeProcessesLackIsServed(t *testing.T) {
	inCrew(t, 8, func(t *testing.T, c *crew) {
		all := c.sources
		c.sources = all[:6]
		for range 3 {
			c.join()
		}
		// claimed is how many processes claim each source.
		claimed := func() map[string]int {
			n := map[string]int{}
			for _, w := range c.all {
				for _, s := range w.syncer.served() {
					n[s.Name]++
				}
			}
			return n
		}
		served := func(what string, sources []Source, limit time.Duration) map[string][]string {
			t.Helper()
			c.all[0].until(what, limit, func() bool {
				held := c.look()
				return !slices.ContainsFunc(sources, func(s Source) bool { return len(held[s.Name]) == 0 })
			})
			return c.look()
		}
		time.Sleep(time.Minute) // the first one may have had all
		clear(c.turns)
		before := served("three begin", c.sources, time.Minute)
		c.apply(c.all[0], all)
		time.Sleep(30 * time.Second)
		if n := claimed(); slices.Max(slices.Collect(maps.Values(n))) > 1 {
			t.Errorf("half a minute after one list has changed, processes claim %v", n)
		}
		now := served("one has more", all, 90*time.Second)
		c.apply(c.all[1], all)
		time.Sleep(10 * time.Minute)
		c.apply(c.all[2], all)
		c.all[0].until("each source is claimed once", time.Minute, func() bool {
			n := claimed()
			return len(n) == len(all) && slices.Max(slices.Collect(maps.Values(n))) == 1
		})
		after := served("all have more", all, time.Minute)
		for name, by := range before {
			if !slices.Equal(now[name], by) || !slices.Equal(after[name], by) || len(c.turns[name]) > 1 {
				t.Errorf("%s was held by %q, while lists differed by %q, then by %q: %q", name, by, now[name], after[name], c.turns[name])
			}
		}
	})
}

// Processes whose lists have differed for long stay apart when one of the lists changes again, or when the
// warehouse was away: what only one has in its list is never given to another.
func TestDifferentListsChange(t *testing.T) {
	inCrew(t, 8, func(t *testing.T, c *crew) {
		all := c.sources
		c.sources = all[:2]
		c.join()
		c.join()
		c.sources = all[:12]
		one := c.join()
		time.Sleep(5 * time.Minute)
		held := func(what string, lasts time.Duration) {
			for end := time.Now().Add(lasts); time.Now().Before(end); time.Sleep(time.Second) {
				for _, s := range all[2:12] {
					if by := c.look()[s.Name]; len(by) == 0 {
						t.Fatalf("%s: nobody holds %s", what, s.Name)
					}
				}
			}
		}
		held("before", time.Minute)
		c.apply(one, all)
		held("its list changes", 3*time.Minute)
		for _, w := range c.all {
			w.sink.SetStuck(true)
		}
		time.Sleep(40 * time.Second)
		for _, w := range c.all {
			w.sink.SetStuck(false)
		}
		time.Sleep(25 * time.Second)
		held("the warehouse was away", 3*time.Minute)
	})
}

// TestHoursOfDifferentLists changes the lists of processes, kills some and adds others, for hours. Each
// source that a process has in its list is served within two minutes, and when all lists are alike again
// one process claims each.
func TestHoursOfDifferentLists(t *testing.T) {
	ofDifferentLists(t, unlessShort(6*time.Hour, time.Hour))
}

// unlessShort is how long a test goes on: less in the short run, where the same goroutines meet.
func unlessShort(usual, short time.Duration) time.Duration {
	if testing.Short() {
		return short
	}
	return usual
}

func ofDifferentLists(t *testing.T, d time.Duration) {
	inCrew(t, 6, func(t *testing.T, c *crew) {
		random := rand.New(rand.NewPCG(2, 31))
		all, lists := c.sources, map[*world][]Source{}
		// some is a list without a few of the sources.
		some := func() []Source {
			return slices.DeleteFunc(slices.Clone(all), func(Source) bool { return random.IntN(4) == 0 })
		}
		join := func() {
			c.sources = some()
			w := c.join()
			lists[w] = c.sources
		}
		served := func(what string) {
			t.Helper()
			c.all[0].until(what, 2*time.Minute, func() bool {
				held := c.look()
				return !slices.ContainsFunc(c.all, func(w *world) bool {
					return slices.ContainsFunc(lists[w], func(s Source) bool { return len(held[s.Name]) == 0 })
				})
			})
		}
		for end := time.Now().Add(d); time.Now().Before(end) && !t.Failed(); {
			switch event := random.IntN(4); {
			case len(c.all) < 2 || event == 0 && len(c.all) < 5:
				join()
				served("one joins")
			case event == 1:
				one := c.all[random.IntN(len(c.all))]
				one.crash(random.IntN(3))
				c.leaves(one)
				served("one is killed")
			case event == 2:
				for _, w := range c.all {
					lists[w] = all
					c.apply(w, all)
				}
				c.sources = all
				c.all[0].until("each source is claimed once", 2*time.Minute, func() bool { c.look(); return c.served(holders(c.all)) })
			default:
				one := c.all[random.IntN(len(c.all))]
				lists[one] = some()
				c.apply(one, lists[one])
				served("a list changes")
			}
			clear(c.turns)
			time.Sleep(time.Duration(random.Int64N(int64(20 * time.Minute))))
		}
	})
}

// TestDaysOfSharedSources kills, ends, pauses and cuts off processes for days, has others join
// and clocks step. Nobody holds what another holds, every source is served again within a minute,
// and none moves that need not.
func TestDaysOfSharedSources(t *testing.T) { ofSharedSources(t, unlessShort(2*day, 12*time.Hour)) }

func ofSharedSources(t *testing.T, d time.Duration) {
	inCrew(t, 6, func(t *testing.T, c *crew) {
		random := rand.New(rand.NewPCG(1, 31))
		c.join()
		c.join()
		c.settles("two begin", 3*time.Minute)
		for end := time.Now().Add(d); time.Now().Before(end) && !t.Failed(); {
			time.Sleep(time.Duration(random.Int64N(int64(4 * time.Hour))))
			c.befalls(random)
		}
	})
}

// befalls is what befalls a process.
func (c *crew) befalls(random *rand.Rand) {
	upTo := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	one, began := c.all[random.IntN(len(c.all))], time.Now()
	since := func(limit time.Duration) time.Duration { return limit - time.Since(began) }
	switch event := random.IntN(7); {
	case len(c.all) < 2 || event == 0 && len(c.all) < 6:
		c.join().beatTime = upTo(time.Second)
		c.settles("one joins", time.Minute)
	case event == 1:
		one.crash(random.IntN(3))
		c.leaves(one)
		c.settles("one is killed", since(time.Minute))
	case event == 2:
		one.halt()
		c.leaves(one)
		c.settles("one ends", since(time.Minute))
	case event == 3:
		one.sink.SetStuck(true)
		time.Sleep(upTo(15 * time.Second))
		one.sink.SetStuck(false)
		c.settles("one is paused briefly", time.Minute)
	case event == 4:
		c.paused = one
		one.sink.SetStuck(true)
		c.settles("one is paused", time.Minute)
		time.Sleep(upTo(time.Hour))
		c.paused = nil
		one.sink.SetStuck(false)
		c.settles("one goes on", time.Minute)
	case event == 5:
		for _, w := range c.all {
			w.sink.SetDown(true)
		}
		time.Sleep(upTo(3 * time.Minute))
		for _, w := range c.all {
			w.sink.SetDown(false)
		}
		c.settles("the warehouse was away", time.Minute)
	default:
		c.step.Add(int64(upTo(4*time.Hour) - 2*time.Hour))
		c.store.Age(upTo(10*time.Second) - 5*time.Second) // the warehouse's clock steps
		c.settles("clocks step", time.Minute)
	}
}

// A source that moves stays claimed until what was written of it is durable, also when beats fail
// meanwhile for so long that it is held no more.
func TestWhatMovesIsClaimedUntilItIsDurable(t *testing.T) {
	inCrew(t, 1, func(t *testing.T, c *crew) {
		name := "s"
		for owner(name, []string{"p1", "p2"}) != "p2" {
			name += "s"
		}
		c.sources = []Source{sourceOf(name, "b0/0")}
		a, b := c.prepare(), c.prepare()
		slow, tune := &slowSink{}, a.tune
		a.tune = func(o *Options) { tune(o); slow.Sink, o.Sink = o.Sink, slow }
		slow.hold.Store(true)
		a.run(slices.Clone(c.sources)...)
		a.until("the first serves", 20*time.Second, func() bool { return a.syncer.leases.Check(name) == nil })
		time.Sleep(20 * time.Second)
		b.run(slices.Clone(c.sources)...)
		a.until("the source is removed", 30*time.Second, func() bool { return len(a.syncer.supervisors()) == 0 })
		a.sink.SetStuck(true)
		time.Sleep(25 * time.Second)
		a.sink.SetStuck(false)
		for range 30 {
			time.Sleep(time.Second)
			if b.syncer.leases.Check(name) == nil {
				t.Fatal("the second process holds the source while rows of the first are under way")
			}
		}
	})
}

// Where the warehouse was away for long, the process that reaches it first takes nothing over from
// those that have not yet come back.
func TestAfterAnOutageNothingMoves(t *testing.T) {
	inCrew(t, 6, func(t *testing.T, c *crew) {
		a, b := c.join(), c.join()
		c.settles("two begin", 3*time.Minute)
		a.sink.SetDown(true)
		b.sink.SetDown(true)
		time.Sleep(time.Minute)
		a.sink.SetDown(false)
		for range 24 {
			time.Sleep(250 * time.Millisecond)
			c.look()
		}
		b.sink.SetDown(false)
		c.settles("the second is back 6 s after the first", time.Minute)
	})
}
