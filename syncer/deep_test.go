package syncer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// heavyRequest is a question to one of the two routes of totals.
type heavyRequest struct {
	app, route string
	at         time.Time
	deep       bool // about 92 days
	recent     bool // about yesterday and today
}

// heavy are the questions among requests, in order of time.
func heavy(requests []sandbox.Request) []heavyRequest {
	var all []heavyRequest
	for _, r := range requests {
		if r.Route != "/sales/daily" && r.Route != "/sales/products" {
			continue
		}
		today := schedule.DayOf(r.At)
		all = append(all, heavyRequest{
			app: r.App, route: r.Route, at: r.At,
			deep:   strings.Contains(r.URI, "from="+daysBefore(today, proof.MaxRange-1)),
			recent: strings.Contains(r.URI, "from="+daysBefore(today, 1)),
		})
	}
	return all
}

// mostWithin is the most of the instants that lie within a span of time.
func mostWithin(instants []time.Time, within time.Duration) int {
	instants = slices.SortedFunc(slices.Values(instants), time.Time.Compare)
	most, first := 0, 0
	for i, at := range instants {
		for at.Sub(instants[first]) >= within {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// lateTurns are the turns of yesterday and today, of both routes, that were not asked
// for within so long. Every source has one key.
func (w *world) lateTurns(asked []heavyRequest, from, to time.Time, within time.Duration) (turns int, late []string) {
	const recorded = time.Millisecond // the sandbox notes instants to the microsecond
	for _, k := range w.box.Keys() {
		if k.Role != sandbox.RoleMain {
			continue
		}
		name := fmt.Sprintf("r%d", k.Business)
		for due := w.syncer.times.Load().Next(schedule.Reconcile, name, from); due.Before(to); due = w.syncer.times.Load().Next(schedule.Reconcile, name, due) {
			for _, route := range []string{"/sales/daily", "/sales/products"} {
				turns++
				if !slices.ContainsFunc(asked, func(r heavyRequest) bool {
					return r.app == k.AppID && r.route == route && r.recent && !r.at.Before(due.Add(-recorded)) && r.at.Before(due.Add(within))
				}) {
					late = append(late, fmt.Sprintf("%s %s at %s", name, route, due.UTC().Format(time.TimeOnly)))
				}
			}
		}
	}
	return turns, late
}

// TestDeepRunsOfManySourcesAreSpread runs the night of 30 restaurants with 10 locations
// each, in one process.
func TestDeepRunsOfManySourcesAreSpread(t *testing.T) { deepRunsAreSpread(t, (*world).ordersAndTotals) }

func deepRunsAreSpread(t *testing.T, mirror func(*world)) {
	const restaurants, locations = 30, 10
	inWorld(t, sandbox.Options{
		Seed: 41, Businesses: restaurants, LocationsPer: locations, ProductsPer: 4, Orders: 80, Days: 20, Record: true,
		Algorithm: sandbox.AlgorithmSliding,
	}, func(t *testing.T, w *world) {
		mirror(w)
		w.schedule.ReconcileDeep = "30 3 * * *" // later than the default: the backfill has ended
		w.run()
		w.until("backfill", time.Hour, w.filled)
		begins := time.Date(2000, 1, 1, 3, 30, 0, 0, schedule.Zone())
		time.Sleep(time.Until(begins))
		synctest.Wait()
		before := len(w.box.Requests())
		time.Sleep(75 * time.Minute)
		synctest.Wait()
		asked := heavy(w.box.Requests()[before:])

		byApp, starts, ends := map[string][]time.Time{}, []time.Time{}, map[string]time.Time{}
		deep := map[string]int{}
		for _, r := range asked {
			byApp[r.app] = append(byApp[r.app], r.at)
			if !r.deep {
				continue
			}
			if deep[r.app]++; deep[r.app] == 1 {
				starts = append(starts, r.at)
			}
			ends[r.app] = r.at
		}
		if len(deep) != restaurants {
			t.Errorf("%d of %d restaurants had their deep run", len(deep), restaurants)
		}
		for app, n := range deep {
			if n != locations+2 { // overall, each location, and the products
				t.Errorf("%s: %d questions of a deep run", app, n)
			}
			if n := mostWithin(byApp[app], time.Minute); n > 30 {
				t.Errorf("%s: %d heavy requests in a minute", app, n)
			}
			if n := mostWithin(byApp[app], 10*time.Second); n > 8 {
				t.Errorf("%s: %d heavy requests in ten seconds: not spread", app, n)
			}
		}
		if spread := slices.MaxFunc(starts, time.Time.Compare).Sub(slices.MinFunc(starts, time.Time.Compare)); spread < 45*time.Minute {
			t.Errorf("all deep runs begin within %s", spread)
		}
		if n := mostWithin(starts, time.Minute); n > 4 {
			t.Errorf("%d deep runs begin within a minute", n)
		}
		if n := w.box.Stats().RateLimited; n != 0 {
			t.Errorf("%d answers were 429", n)
		}
		turns, late := w.lateTurns(asked, begins, begins.Add(74*time.Minute), 5*time.Second)
		if len(late) > 0 || turns < 2*4*restaurants {
			t.Errorf("%d of %d turns came late: %v", len(late), turns, late)
		}
		for _, s := range w.syncer.Status().Sources {
			if s.Proof == nil || s.Proof.DriftDays+s.Proof.OpenDays > 0 || s.Proof.ProvenUntil < "1999-12-31" {
				t.Errorf("%s: %+v", s.Name, s.Proof)
			}
		}
		t.Logf("%d questions; at most %d runs begin within a minute", len(asked), mostWithin(starts, time.Minute))
	})
}

// A fifth of the limits is 6 questions a minute, of which the turns need two: the deep
// run of ten locations takes three minutes, and they go on meanwhile, ahead of it. Questions
// are a tenth of their even distance of ten seconds further apart, so that a turn that falls due
// just after one has its two answers within 23 seconds.
func TestTheTurnsGoOnBesideADeepRun(t *testing.T) {
	inShort(t)
	inWorld(t, sandbox.Options{Seed: 42, LocationsPer: 10, ProductsPer: 4, Orders: 300, Days: 20, Record: true}, func(t *testing.T, w *world) {
		w.edit = func(s *Source) { withoutOrdering(s); s.BudgetShare = 0.2 }
		w.schedule = Schedule{Reconcile: "@every 1m", ReconcileDeep: "30 2 * * *"}
		w.run()
		w.until("backfill", time.Hour, w.filled)
		w.until("a deep run", 3*time.Hour, func() bool { return w.stream(registry.Daily).Progress != nil })
		began, before := time.Now(), len(w.box.Requests())
		w.until("its end", time.Hour, func() bool { return w.stream(registry.Daily).Progress == nil })
		took := time.Since(began)
		if took < 2*time.Minute || took > 5*time.Minute {
			t.Errorf("the deep run took %s", took)
		}
		time.Sleep(time.Minute)
		turns, late := w.lateTurns(heavy(w.box.Requests()[before:]), began, began.Add(took), 23*time.Second)
		if len(late) > 0 || turns < 4 {
			t.Errorf("%d of %d turns came late: %v", len(late), turns, late)
		}
		if n := w.box.Stats().RateLimited; n != 0 {
			t.Errorf("%d answers were 429", n)
		}
		if n := w.syncer.served()[0].link.Key.Usage().Granted[budget.Deep]; n != 12 {
			t.Errorf("%d questions stood behind the turns", n)
		}
	})
}

// wantGauge looks for a value of a gauge among the metrics of the daily totals.
func (w *world) wantGauge(name string, want float64) {
	w.t.Helper()
	gathered := prometheus.NewPedanticRegistry()
	gathered.MustRegister(gauges{w.syncer})
	families, err := gathered.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name || !strings.Contains(m.String(), registry.Daily) {
				continue
			}
			if got := m.GetGauge().GetValue(); got != want {
				w.t.Errorf("%s is %v, want %v", name, got, want)
			}
			return
		}
	}
	w.t.Errorf("no %s", name)
}

// left is how many questions about 92 days of a route were asked, of requests.
func left(requests []sandbox.Request, route string) (n int) {
	for _, r := range heavy(requests) {
		if r.deep && r.route == route {
			n++
		}
	}
	return n
}

func TestTheForecastOfADeepRunIsExact(t *testing.T) {
	for _, latency := range []time.Duration{50 * time.Millisecond, 3 * time.Second} {
		t.Run(fmt.Sprint(latency), func(t *testing.T) {
			inWorld(t, sandbox.Options{
				Seed: 43, LocationsPer: 40, ProductsPer: 2, Orders: 300, Days: 20, Record: true,
				Faults: []faults.Fault{{Kind: faults.Latency, Probability: 1, Delay: latency}},
			}, func(t *testing.T, w *world) {
				w.edit = withoutOrdering
				w.run()
				w.until("backfill", time.Hour, w.filled)
				w.compared() // that one goes on beside the end of the backfills
				time.Sleep(time.Until(w.syncer.times.Load().Next(schedule.ReconcileDeep, "r0", time.Now())))
				w.until("a deep run", 10*time.Minute, func() bool {
					p := w.stream(registry.Daily).Progress
					return p != nil && p.Pages >= 5
				})
				p, asked, before := *w.stream(registry.Daily).Progress, time.Now(), len(w.box.Requests())
				w.wantGauge("larder_walk_requests_left", float64(p.RequestsLeft))
				if p.Walk != status.WalkDeep || p.Pages+p.RequestsLeft != 41 || w.stream(registry.Daily).State != status.StateRunning {
					t.Errorf("%+v, %s", p, w.stream(registry.Daily).State)
				}
				w.until("its end", time.Hour, func() bool { return w.stream(registry.Daily).Progress == nil })
				took := time.Since(asked)
				// One may be under way at the instant at which it was read.
				if n := left(w.box.Requests()[before:], "/sales/daily"); n != int(p.RequestsLeft) && n != int(p.RequestsLeft)-1 {
					t.Errorf("%d questions were left, and %d asked", p.RequestsLeft, n)
				}
				t.Logf("said %s, took %s", p.ExpectedLeft, took)
				if ratio := float64(took) / float64(p.ExpectedLeft); ratio < 0.9 || ratio > 1.1 {
					t.Errorf("expected %s, took %s", p.ExpectedLeft, took)
				}
			})
		})
	}
}

func TestADeepRunTellsWhatDiffersAtFirstSight(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 44, Orders: 600, Days: 20}, func(t *testing.T, w *world) {
		business := w.proven()
		w.store.EditColumn(registry.Orders, business, w.liveOrders(business, daysAgo(10))[0], "totals_tip", `"7.77"`)
		time.Sleep(time.Until(w.syncer.times.Load().Next(schedule.ReconcileDeep, "r0", time.Now())))
		w.until("a suspect", 5*time.Minute, func() bool {
			p := w.stream(registry.Daily).Progress
			return p != nil && p.Suspects > 0 && p.Pages == 3 // overall, and of two locations
		})
		// The day is asked for again, overall and of its location.
		p := w.stream(registry.Daily).Progress
		if p.Suspects != 1 || p.RequestsLeft != 2 || p.ExpectedLeft < status.Seconds(proof.SettleAfter-10*time.Second) || p.ExpectedLeft > status.Seconds(proof.SettleAfter+10*time.Second) {
			t.Errorf("%+v", p)
		}
		w.until("the end", 10*time.Minute, func() bool { return w.stream(registry.Daily).Progress == nil })
		if n := w.wrongOrders(); n > 0 {
			t.Errorf("%d orders are wrong", n)
		}
	})
}

// withoutOrdering leaves the ordering side out: the menus of many locations are asked for
// together, every few minutes, where a forecast knows of averages, and the online orders take
// a part of what a test's small limits allow.
func withoutOrdering(s *Source) {
	s.Streams = slices.DeleteFunc(registry.Names(), func(name string) bool { return slices.Contains(orderingStreams, name) })
}

func TestTheForecastOfAReconciliation(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 45, LocationsPer: 30, ProductsPer: 2, Orders: 300, Days: 20, Record: true}, func(t *testing.T, w *world) {
		w.edit = withoutOrdering
		w.run()
		w.until("backfill", time.Hour, w.filled)
		time.Sleep(20 * time.Minute) // what a start has asked is no guide
		var said status.Seconds
		var at time.Time
		last := proof.SourceReport{}
		report, err := w.syncer.Reconcile(context.Background(), proof.Request{}, func(r proof.Report) {
			if last = r.Sources[0]; at.IsZero() && last.Asked >= 5 {
				said, at = last.ExpectedLeft, time.Now()
			}
		})
		if err != nil || errorOf(report) != nil {
			t.Fatal(err, errorOf(report))
		}
		if last.Asked != last.Steps || last.Steps != 32 || last.ExpectedLeft != 0 {
			t.Errorf("%+v", last)
		}
		took := time.Since(at)
		t.Logf("said %s, took %s", said, took)
		if ratio := float64(took) / float64(said); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("expected %s, took %s", said, took)
		}
	})
}

// daysBefore is a day so many days before another.
func daysBefore(day types.Date, n int) string {
	before, err := schedule.AddDays(day, -n)
	if err != nil {
		panic(err) // dayOf gives days only
	}
	return string(before)
}

// compared waits until the first deep run of each stream of totals has ended.
func (w *world) compared() {
	w.t.Helper()
	w.until("the first deep runs", time.Hour, func() bool {
		for _, name := range []string{registry.Daily, "sales_products"} {
			if cp, ok := w.store.Checkpoint("r0", name, sinks.WalkDeep); !ok || !cp.Done {
				return false
			}
		}
		return true
	})
}

// A new mirror does not wait for the night, and is not called proven before: what nobody
// has asked about is not.
func TestANewMirrorIsProvenSoonAndNotBefore(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 200, Days: 40, Record: true}, func(t *testing.T, w *world) {
		w.run()
		// The first look at yesterday and today may be over before the deep run, or end with it.
		w.until("its proof", 80*time.Minute, func() bool {
			source := w.syncer.Status().Sources[0]
			asked := source.Proof != nil && source.Proof.UnaskedDays == 0
			if health := source.Health(); !asked && (health.Kind == status.HealthGood || source.Proof != nil && source.Proof.ProvenUntil != "") {
				t.Fatalf("before every day was asked about: %+v, %+v", source.Proof, health)
			}
			return asked && source.Proof.ProvenUntil == daysAgo(1)
		})
		if p := w.syncer.Status().Sources[0].Proof; p.UnaskedDays+p.OpenDays+p.DriftDays > 0 {
			t.Errorf("after its first deep run: %+v", p)
		}
		w.compared()
		before := len(w.box.Requests())
		time.Sleep(time.Hour)
		for _, q := range heavy(w.box.Requests()[before:]) {
			if q.deep {
				t.Errorf("asked again before its turn: %s", q.route)
			}
		}
	})
}

// TestADeepRunIsTheTurnOfYesterdayAndToday, where both would begin together, unless the one before was cut short.
func TestADeepRunIsTheTurnOfYesterdayAndToday(t *testing.T) {
	for _, fails := range []bool{false, true} {
		inWorld(t, sandbox.Options{Seed: 53, Orders: 200, Days: 40, Record: true}, func(t *testing.T, w *world) {
			questions := func(what string, turns time.Duration, wantDeep, wantRecent bool) {
				t.Helper()
				before := len(w.box.Requests())
				time.Sleep(turns * 15 * time.Minute)
				var deep, recent int
				for _, q := range heavy(w.box.Requests()[before:]) {
					if q.deep {
						deep++
					} else if q.recent {
						recent++
					}
				}
				if deep > 0 != wantDeep || recent > 0 != wantRecent {
					t.Errorf("%s: %d questions about 92 days and %d about two", what, deep, recent)
				}
			}
			w.run()
			w.until("backfill", 10*time.Minute, w.filled)
			if fails {
				for _, route := range []string{"/sales/daily", "/sales/products"} {
					if err := w.box.AddFault(faults.Fault{Kind: faults.RateLimited, Route: route, Probability: 1}); err != nil {
						t.Fatal(err)
					}
				}
			}
			questions("a deep run is owed", 1, true, false)
			if fails {
				questions("it was cut short", 2, true, true)
				w.box.ClearFaults()
				questions("nothing is in its way any more", 1, true, true)
			}
			questions("it was made", 1, false, true)
		})
	}
}

func TestADeepRunThatWasSleptThroughIsMadeUpFor(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 50, Orders: 200, Days: 4, Record: true}, func(t *testing.T, w *world) {
		w.schedule.FullResync = "0 4 1 7 *" // which would repair everything
		w.schedule.ReconcileDeep = "30 3 * * *"
		w.turned()
		runs := func(what string, n int, do func()) {
			before := len(w.box.Requests())
			do()
			deep := 0
			for _, q := range heavy(w.box.Requests()[before:]) {
				if q.deep && q.route == "/sales/daily" {
					deep++
				}
			}
			if deep != 3*n { // overall, and of two locations
				t.Errorf("%s: %d questions, want those of %d deep runs", what, deep, n)
			}
		}
		again := func(pause time.Duration) {
			w.halt()
			time.Sleep(pause)
			w.run()
			w.until("its start", time.Hour, w.filled)
			time.Sleep(time.Hour)
		}
		runs("before its turn", 0, func() { again(time.Minute) })
		runs("after a night", 1, func() { again(8 * time.Hour) })
		runs("once it was made", 0, func() { again(time.Minute) })
		runs("after a kill between its two looks", 1, func() {
			w.store.EditColumn(registry.Orders, w.box.Restaurant(0).ID(), w.liveOrders(w.box.Restaurant(0).ID(), daysAgo(3))[0], "totals_tip", `"7.77"`)
			next := w.syncer.times.Load().Next(schedule.ReconcileDeep, "r0", time.Now())
			time.Sleep(time.Until(next) + time.Minute)
		})
		runs("after that", 1, func() { again(time.Minute) })
		if n := w.wrongOrders(); n > 0 {
			t.Errorf("%d orders are wrong", n)
		}
	})
}
