package syncer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// slow limits make a backfill last minutes.
var slow = types.RateLimits{PerMinute: 30, BusinessPerMinute: 120, HeavyPerMinute: 10}

// smallPages make the walk of a small world as long, in requests, as one of a world ten times as large.
var smallPages = sandbox.Readings{ShortPages: 20}

// apply applies sources to the daemon under way, with the schedule of the world.
func (w *world) apply(sources ...Source) Applied {
	w.t.Helper()
	a, err := w.syncer.Apply(sources, w.schedule)
	if err != nil {
		w.t.Fatalf("apply: %v", err)
	}
	return a
}

// askedIn counts the requests of a restaurant's main key from then until now.
func (w *world) askedIn(restaurant int, from time.Time) (n, backfill int) {
	key := w.box.Key(restaurant, sandbox.RoleMain)
	for _, r := range w.box.Requests() {
		if r.App != key.AppID || r.At.Before(from) {
			continue
		}
		n++
		if strings.Contains(r.URI, "cursor=") {
			backfill++
		}
	}
	return n, backfill
}

func TestApplyLeavesTheUnchangedAlone(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 21, Businesses: 3, Orders: 2500, Record: true, Limits: slow, Readings: smallPages}, func(t *testing.T, w *world) {
		w.schedule.OnlineOrders = "@every 1h"
		all := w.sources()
		w.run(all[0], all[1])
		time.Sleep(70 * time.Second)
		kept, before := w.syncer.served()[0], time.Now()
		changed := all[1]
		changed.Locations = w.box.Restaurant(1).LocationIDs()[:1]
		for i := range 10 { // whatever happens beside it
			a := w.apply([][]Source{{all[2], all[0]}, {all[0], all[1]}, {changed, all[0], all[2]}}[i%3]...)
			if slices.Contains(slices.Concat(a.Added, a.Removed, a.Changed), "r0") || a.Schedule {
				t.Errorf("turn %d: %+v", i, a)
			}
			time.Sleep(18 * time.Second)
		}
		if s := w.syncer.served(); !slices.Contains(s, kept) {
			t.Error("the unchanged source was made anew")
		}
		n, pages := w.askedIn(0, before)
		if n < 3*30-4 { // the window is a little longer than a minute
			t.Errorf("the unchanged source sent %d requests in three minutes, of 90", n)
		}
		stats := w.box.Stats()
		if pages < 50 || stats.RateLimited > 0 {
			t.Errorf("%d pages, %d answers 429", pages, stats.RateLimited)
		}
		w.apply(all...)
		w.until("backfill", 4*time.Hour, w.filled)
		w.equal()
	})
}

func TestARemovedSourceAsksNothingMore(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 22, Businesses: 2, Orders: 1500, Record: true, Limits: slow, Readings: smallPages}, func(t *testing.T, w *world) {
		all := w.sources()
		w.flush = 10 * time.Second
		w.run(all...)
		gathered := prometheus.NewPedanticRegistry()
		if err := w.syncer.metrics.register(gathered, w.syncer); err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		id := w.syncer.Status().Sources[1].BusinessID
		if !seriesOf(t, gathered, "r1") {
			t.Error("no metrics of the source while it is there")
		}
		synctest.Wait()
		before := time.Now()
		a := w.apply(all[0])
		if len(a.Removed) != 1 || a.Removed[0] != "r1" || len(a.Added)+len(a.Changed) > 0 {
			t.Errorf("%+v", a)
		}
		if s := w.syncer.Status().Sources; len(s) != 1 || s[0].Name != "r0" {
			t.Errorf("status of %d sources", len(s))
		}
		time.Sleep(10 * time.Minute)
		if n, _ := w.askedIn(1, before.Add(time.Millisecond)); n != 0 {
			t.Errorf("%d requests of a source that is not there", n)
		}
		if seriesOf(t, gathered, "r1") || !seriesOf(t, gathered, "r0") {
			t.Error("the metrics are not those of the sources there are")
		}
		// What had arrived was handed to the sink, and has become durable.
		cp, ok := w.store.Checkpoint("r1", "sales_orders", sinks.WalkBackfill)
		if rows := len(w.store.Rows("sales_orders", id)); !ok || cp.Rows == 0 || uint64(rows) < cp.Rows {
			t.Errorf("%d rows, checkpoint %+v", rows, cp)
		}
		if _, err := w.syncer.RunOnce(t.Context(), Selection{Sources: []string{"r1"}}, nil); err == nil {
			t.Error("a pass of a source that is not there")
		}
	})
}

// seriesOf is true when any metric is about a source.
func seriesOf(t *testing.T, r *prometheus.Registry, source string) bool {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "source" && l.GetValue() == source {
					return true
				}
			}
		}
	}
	return false
}

func TestAChangedSourceGoesOnFromItsCheckpoint(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 23, Businesses: 2, Orders: 1500, Record: true, Limits: slow, Readings: smallPages}, func(t *testing.T, w *world) {
		all := w.sources()
		w.flush = 5 * time.Second
		w.run(all...)
		time.Sleep(2 * time.Minute)
		asked := w.syncer.Status().Sources[1].Requests
		all[1].Revision++
		if a := w.apply(all...); len(a.Changed) != 1 || a.Changed[0] != "r1" || len(a.Added)+len(a.Removed) > 0 {
			t.Errorf("%+v", a)
		}
		w.until("it goes on", time.Minute, func() bool { return w.syncer.Status().Sources[1].State == status.StateBackfill })
		if n := w.syncer.Status().Sources[1].Requests; n <= asked {
			t.Errorf("it counts %d requests, %d before", n, asked)
		}
		w.until("backfill", 2*time.Hour, w.filled)
		stats := w.box.Stats()
		// The page that was under way is asked for again, and none that was stored:
		// one of each list.
		if stats.DuplicatePages > 3 || stats.RateLimited > 0 {
			t.Errorf("%d pages were asked for twice, %d answers 429", stats.DuplicatePages, stats.RateLimited)
		}
		w.equal()
	})
}

func TestASourceThatComesBackKnowsWhatItHasSpent(t *testing.T) {
	for _, algorithm := range []string{sandbox.AlgorithmFixed, sandbox.AlgorithmSliding, sandbox.AlgorithmBucket} {
		t.Run(algorithm, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 24, Orders: 800, Algorithm: algorithm, Limits: slow, Readings: smallPages}, func(t *testing.T, w *world) {
				all := w.sources()
				random := rand.New(rand.NewPCG(24, 1))
				w.run(all...)
				for i := range 40 {
					time.Sleep(time.Duration(random.Int64N(int64(20 * time.Second))))
					switch i % 3 {
					case 0:
						w.apply()
					case 1:
						w.apply(all...)
					default:
						all[0].Revision++
						w.apply(all...)
					}
				}
				w.apply(all...)
				w.until("backfill", 2*time.Hour, w.filled)
				if n := w.box.Stats().RateLimited; n > 0 {
					t.Errorf("%d answers 429", n)
				}
				w.equal()
			})
		})
	}
}

func TestApplyChangesTheScheduleWithoutBreakingWalks(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 25, Orders: 1000, Limits: slow, Readings: smallPages}, func(t *testing.T, w *world) {
		w.run()
		time.Sleep(time.Minute)
		a, err := w.syncer.Apply(w.sources(), Schedule{Incremental: "@every 5m", Snapshots: "@every 1h"})
		if err != nil || !a.Schedule || len(a.Changed) > 0 {
			t.Fatalf("%+v, %v", a, err)
		}
		w.until("backfill", time.Hour, w.filled)
		if n := w.box.Stats().DuplicatePages; n > 0 {
			t.Errorf("%d pages were asked for twice", n)
		}
		time.Sleep(10 * time.Minute)
		w.box.ResetStats()
		time.Sleep(time.Hour)
		stats := w.box.Stats()
		if stats.ByRoute["/products"] != 12 || stats.ByRoute["/me"] != 1 {
			t.Errorf("requests in an hour: %v", stats.ByRoute)
		}
		// A shorter one holds at once, not when the longer one would have ended.
		if _, err := w.syncer.Apply(w.sources(), Schedule{Incremental: "@every 20s", Snapshots: "@every 1h", OnlineOrders: "@every 1h"}); err != nil {
			t.Fatal(err)
		}
		w.box.ResetStats()
		time.Sleep(time.Minute)
		if n := w.box.Stats().ByRoute["/products"]; n != 3 {
			t.Errorf("%d requests in the minute after, want 3", n)
		}
	})
}

func TestApplyRefusesAsAWhole(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("running", 10*time.Minute, w.filled)
		kept := w.syncer.served()[0]
		wrong := w.one(func(s *Source) { s.BaseURL = "ftp://x"; s.Revision = 1 })
		other := sourceOf("other", "k")
		streams := sourceOf("other", "k")
		streams.Streams = []string{"prod-ucts"}
		for _, c := range []struct {
			sources  []Source
			schedule Schedule
			want     string
		}{
			{[]Source{other, wrong}, Schedule{}, "base URL"},
			{[]Source{other, other}, Schedule{}, "unique"},
			{[]Source{streams}, Schedule{}, "prod-ucts"},
			{[]Source{other}, Schedule{Incremental: "soon"}, "schedule.incremental"},
		} {
			if _, err := w.syncer.Apply(c.sources, c.schedule); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %s", err, c.want)
			}
			if s := w.syncer.served(); len(s) != 1 || s[0] != kept {
				t.Fatalf("after a refusal (%s) the sources are others", c.want)
			}
		}
		f.asked(cats)
		time.Sleep(5 * time.Minute)
		if n := len(f.asked(cats)); n != 10 {
			t.Errorf("%d walks in five minutes, want 10", n)
		}
	})
}

func TestAPassEndsWithItsSource(t *testing.T) {
	inShort(t)
	inWorld(t, sandbox.Options{Seed: 26, Businesses: 2, Orders: 1000, Limits: slow, Readings: smallPages}, func(t *testing.T, w *world) {
		all := w.sources()
		w.run(all...)
		time.Sleep(30 * time.Second)
		ended := make(chan Report, 1)
		go func() {
			r, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{"sales_orders"}}, nil)
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		time.Sleep(30 * time.Second)
		w.apply(all[0])
		r := <-ended
		if err := r.Sources[1].Streams[0].Err; err == nil || !strings.Contains(err.Error(), "not in the configuration any more") {
			t.Errorf("the pass of the removed source: %v", err)
		}
		if err := r.Sources[0].Streams[0].Err; err != nil {
			t.Errorf("the pass of the other: %v", err)
		}
	})
}

func TestApplyWithTheWarehouseDownWaitsBesideIt(t *testing.T) {
	inShort(t)
	inWorld(t, sandbox.Options{Seed: 27, Businesses: 2, Orders: 500, Limits: slow, Readings: smallPages}, func(t *testing.T, w *world) {
		all := w.sources()
		w.run(all...)
		time.Sleep(30 * time.Second)
		w.sink.SetDown(true)
		time.Sleep(time.Minute)
		all[0].Revision++
		began := time.Now()
		w.apply(all[0])
		w.apply(all...)
		if took := time.Since(began); took > time.Second {
			t.Errorf("apply took %s", took)
		}
		time.Sleep(10 * time.Minute)
		w.sink.SetDown(false)
		w.until("backfill", 2*time.Hour, w.filled)
		w.equal()
	})
}

func TestApplyTakesTheSourcesOfItsShard(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var all []Source
		for i := range 20 {
			all = append(all, sourceOf(fmt.Sprintf("s%d", i), "k"))
		}
		w.run(all[:1]...)
		w.syncer.opts.Shard = Shard{Index: 1, Count: 3}
		w.apply(all...)
		for _, s := range w.syncer.Status().Sources {
			if !w.syncer.opts.Shard.Takes(s.Name) {
				t.Errorf("%s is another shard's", s.Name)
			}
		}
		if n := len(w.syncer.Status().Sources); n == 0 || n == 20 {
			t.Errorf("%d sources of 20", n)
		}
	})
}

// Whatever is applied whenever, with passes beside it: nothing is lost, nobody is
// served twice, no limit is broken.
func TestManyAppliesEndWell(t *testing.T) {
	inShort(t)
	manyApplies(t, sandbox.Options{Orders: 400, Pace: 100, Readings: smallPages})
}

func manyApplies(t *testing.T, opts sandbox.Options) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			opts.Seed, opts.Businesses = int64(30+seed), 4
			inWorld(t, opts, func(t *testing.T, w *world) {
				random := rand.New(rand.NewPCG(seed, 30))
				freeze := w.alive()
				all := w.sources()
				w.run(all...)
				var passes sync.WaitGroup
				for range 60 {
					time.Sleep(time.Duration(random.Int64N(int64(15 * time.Second))))
					w.apply(some(random, all)...)
					if random.IntN(5) == 0 {
						passes.Go(func() {
							if _, err := w.syncer.RunOnce(t.Context(), Selection{}, nil); err != nil {
								t.Error(err)
							}
						})
					}
				}
				w.apply(all...)
				w.until("backfill", 2*time.Hour, w.filled)
				passes.Wait()
				freeze()
				time.Sleep(2 * time.Minute)
				w.equal()
				if n := w.box.Stats().RateLimited; n > 0 {
					t.Errorf("%d answers 429", n)
				}
				if n := len(w.syncer.all) - len(w.syncer.order); n > 0 {
					t.Errorf("%d removed sources have not ended", n)
				}
			})
		})
	}
}

// some are most of the sources, a few of them changed.
func some(random *rand.Rand, all []Source) []Source {
	var picked []Source
	for i := range all {
		if random.IntN(6) == 0 {
			all[i].Revision++
		}
		if random.IntN(4) > 0 {
			picked = append(picked, all[i])
		}
	}
	random.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked
}
