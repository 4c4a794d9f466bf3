package syncer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// chain is a restaurant of two branches with a key for each, and one for all.
type chain struct {
	*world
	business string
	branches []string
	keys     map[string]sandbox.Key // by source: "one", "two", "all"

	mu      sync.Mutex
	writers map[string][]string // by "table id": who wrote the row, in order
	removed map[string]string   // by "table id": who removed it last
}

// inChain has 150 days of history: more than deep runs ask for.
func inChain(t *testing.T, seed int64, test func(t *testing.T, c *chain)) {
	t.Helper()
	inWorld(t, sandbox.Options{Seed: seed, Orders: 1500, Days: 150, Record: true}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		c := &chain{world: w, business: r.ID(), branches: r.LocationIDs(), writers: map[string][]string{}, removed: map[string]string{}}
		one := w.box.Key(0, sandbox.RoleLimited)
		two := one
		two.Value, two.AppID, two.LocationIDs = "", "", c.branches[1:]
		c.keys = map[string]sandbox.Key{"one": one, "two": w.box.AddKey(two), "all": w.box.Key(0, sandbox.RoleMain)}
		w.store.Watch(c.watch)
		test(t, c)
	})
}

// watch notes who writes rows of totals, and who removes them.
func (c *chain) watch(commit *sinks.Commit, _ bool) {
	if commit.Batch == nil || !strings.HasPrefix(commit.Stream, "sales_") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range commit.Tombstones {
		c.removed[commit.Stream+" "+t.ID] = commit.Source
	}
	for _, r := range commit.Batch.Rows {
		key := commit.Stream + " " + r.ID
		c.writers[key] = append(c.writers[key], commit.Source)
	}
}

// written are the rows of totals written since the last call, with who wrote each.
func (c *chain) written() map[string][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.writers
	c.writers = map[string][]string{}
	maps.DeleteFunc(w, func(key string, _ []string) bool { return strings.HasPrefix(key, "sales_orders ") })
	return w
}

func (c *chain) sources(names ...string) []Source {
	var all []Source
	for _, name := range names {
		all = append(all, sourceOf(name, c.keys[name].Value))
	}
	return all
}

// statusOf is the status of a source.
func (c *chain) statusOf(name string) status.SourceStatus {
	c.t.Helper()
	for _, s := range c.syncer.Status().Sources {
		if s.Name == name {
			return s
		}
	}
	c.t.Fatalf("no source %s", name)
	return status.SourceStatus{}
}

// live are the ids of the live rows of a table.
func (c *chain) live(table string) []string {
	rows := c.store.Rows(table, c.business)
	maps.DeleteFunc(rows, func(_ string, r memsink.Row) bool { return r.Deleted })
	return slices.Sorted(maps.Keys(rows))
}

// overall are the live rows of all locations together.
func (c *chain) overall() []string {
	return slices.DeleteFunc(c.live("sales_daily"), func(id string) bool { return strings.Contains(id, "/") })
}

// foundOfAll are the verdicts about them that stand, of questions since then.
func (c *chain) foundOfAll(source string, since time.Time) []sinks.Verdict {
	c.t.Helper()
	all, err := c.sink.Verdicts(c.t.Context(), c.business, source, daysAgo(180), daysAgo(0))
	if err != nil {
		c.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(v sinks.Verdict) bool { return v.Location != "" || v.AskedAt.Before(since) })
}

// right compares the days of a location, of all with "", with what the service reports
// to a key, from the first day with a sale on.
func (c *chain) right(source, location string) {
	c.t.Helper()
	rows, began, compared := c.store.Rows("sales_daily", c.business), false, 0
	for _, step := range [][2]int{{-183, -92}, {-91, 0}} {
		uri := fmt.Sprintf("/sales/daily?from=%s&to=%s", schedule.DayOf(time.Now().AddDate(0, 0, step[0])), schedule.DayOf(time.Now().AddDate(0, 0, step[1])))
		if location != "" {
			uri += "&location_id=" + location
		}
		var answer struct{ Data []json.RawMessage }
		c.ask(c.keys[source].Value, uri, &answer)
		for _, raw := range answer.Data {
			day := proof.PlaceRows([][]byte{raw}, false)[0]
			if began = began || day.Orders > 0; !began {
				continue
			}
			compared++
			if r := rows[proof.DayKey(day.Date, location)]; r.Raw != string(raw) || r.Deleted {
				c.t.Errorf("%s %s: deleted %v (%s)\n mirror  %s\n service %s", day.Date, location, r.Deleted, r.Reason, r.Raw, raw)
				return
			}
		}
	}
	if compared < 100 {
		c.t.Errorf("only %d days of %q compared", compared, location)
	}
	c.rightLines(source, location)
}

// quiet expects everything proven, of nothing else than is asked for.
func (c *chain) quiet(names ...string) {
	c.t.Helper()
	for _, name := range names {
		s := c.statusOf(name)
		if s.State != status.StateRunning || s.Proof == nil || s.Proof.ProvenUntil != daysAgo(1) || s.Proof.DriftDays+s.Proof.OpenDays != 0 {
			c.t.Errorf("%s is %s, proof %+v", name, s.State, s.Proof)
		}
		for _, st := range s.Streams {
			if st.State != status.StateRunning && st.State != status.StateOff || st.LastError != "" {
				c.t.Errorf("%s %s is %s: %s %s", name, st.Name, st.State, st.Detail, st.LastError)
			}
		}
	}
	r, err := c.syncer.Reconcile(c.t.Context(), proof.Request{Sources: names}, nil)
	if err != nil || errorOf(r) != nil {
		c.t.Fatal(err, errorOf(r))
	}
	for _, s := range r.Sources {
		if s.Proven < 100 || s.Healed+s.Drift+s.Unsettled+s.Unproven > 0 {
			c.t.Errorf("reconciled: %+v", s)
		}
	}
	// Single locations are behind until they are asked for, as they were now.
	report, found := c.verify(Selection{Sources: names})
	if n := report.Differences(); n > 0 {
		c.t.Errorf("%d differences: %q", n, briefs(found))
	}
}

// turns lets a living world go on for some turns and a deep run, and rest.
func (c *chain) turns() {
	freeze := c.alive()
	time.Sleep(4 * time.Hour)
	freeze()
	time.Sleep(time.Hour)
	synctest.Wait()
}

// overallLines are the live lines of products of all locations together.
func (c *chain) overallLines() []string {
	return slices.DeleteFunc(c.live("sales_products"), func(id string) bool { return strings.Contains(id, "/l/") })
}

// rightLines compares the lines of products of a location, of all with "", with what the
// service reports to a key.
func (c *chain) rightLines(source, location string) {
	c.t.Helper()
	uri := fmt.Sprintf("/sales/products?group_by=day&from=%s&to=%s", daysAgo(30), daysAgo(0))
	if location != "" {
		uri += "&location_id=" + location
	}
	var answer struct{ Data []json.RawMessage }
	c.ask(c.keys[source].Value, uri, &answer)
	rows := c.store.Rows("sales_products", c.business)
	for _, raw := range answer.Data {
		id := proof.LineID(&registry.Definition{LinesMayVanish: true}, proof.PlaceRows([][]byte{raw}, true)[0], location)
		if r := rows[id]; r.Raw != string(raw) || r.Deleted || r.Location != location {
			c.t.Errorf("%s is %+v, the service says %s", id, r, raw)
			return
		}
	}
	if len(answer.Data) < 20 {
		c.t.Errorf("only %d lines of %q compared", len(answer.Data), location)
	}
}

func TestKeysOfDifferentBranchesAskForTheirsOnly(t *testing.T) {
	inChain(t, 91, func(t *testing.T, c *chain) {
		c.run(c.sources("one", "two")...)
		c.until("backfill", time.Hour, c.filled)
		c.written()
		c.turns()
		for key, by := range c.written() {
			if _, location, found := strings.Cut(key, "/"); !found || len(slices.Compact(slices.Sorted(slices.Values(by)))) > 1 {
				t.Errorf("%s (%s) was written by %v", key, location, by)
			}
		}
		if of := c.overall(); len(of) > 0 {
			t.Errorf("live rows of all locations together: %v", of)
		}
		if of := c.overallLines(); len(of) > 0 {
			t.Errorf("%d live rows of products", len(of))
		}
		c.right("one", c.branches[0])
		c.right("two", c.branches[1])
		c.quiet("one", "two")
	})
}

// A key that does not see all locations asks by location, also when it is the only one.
func TestALimitedKeyAsksByLocation(t *testing.T) {
	inChain(t, 92, func(t *testing.T, c *chain) {
		c.open(c.sources("one")...)
		c.once(Selection{})
		must(t, c.sink.Close(t.Context()))
		c.run(c.sources("one", "two")...)
		c.until("backfill", time.Hour, c.filled)
		time.Sleep(time.Hour)
		for _, r := range c.box.Requests() {
			if (strings.HasPrefix(r.URI, "/v1/sales/products") || strings.HasPrefix(r.URI, "/v1/sales/daily")) && !strings.Contains(r.URI, "location_id=") {
				t.Fatalf("asked %s", r.URI)
			}
		}
		if days, lines := c.overall(), c.overallLines(); len(days)+len(lines) > 0 {
			t.Errorf("%d days and %d lines of all locations together are live", len(days), len(lines))
		}
		c.right("one", c.branches[0])
		c.right("two", c.branches[1])
		c.quiet("one", "two")
	})
}

// The rows of all locations together are those of the key that sees all. A limited key that
// wrote some of them last, when it saw all, removes those, and no others; a full resync of the
// other one brings them back.
func TestALimitedKeyBesideOneThatSeesAll(t *testing.T) {
	inShort(t)
	inChain(t, 93, func(t *testing.T, c *chain) {
		c.run(c.sources("all")...)
		c.until("backfill", time.Hour, c.filled)
		time.Sleep(time.Hour)
		ofOne := map[string]bool{}
		for _, table := range []string{"sales_daily", "sales_products"} {
			for i, id := range c.live(table) {
				if i%3 == 0 && (table == "sales_products" || !strings.Contains(id, "/")) {
					ofOne[table+" "+id] = true
					c.store.Edit(table, c.business, id, func(r *memsink.Row) { r.Source, r.Raw = "one", strings.Replace(r.Raw, `"`, `" `, 1) })
				}
			}
		}
		products := c.overallLines()
		c.written()
		c.apply(c.sources("all", "one")...)
		c.until("backfill", time.Hour, c.filled)
		c.turns()
		for key, by := range c.written() {
			if strings.HasPrefix(key, "sales_daily ") && !strings.Contains(key, "/") || strings.HasPrefix(key, "sales_products ") && !strings.Contains(key, "/l/") {
				if slices.Contains(by, "one") {
					t.Errorf("%s was written by %v", key, by)
				}
			}
		}
		for key, by := range c.removed {
			if by == "one" && !ofOne[key] && !strings.HasPrefix(key, "sales_orders ") {
				t.Fatalf("%s was removed, and is another's", key)
			}
		}
		if _, err := c.full(Selection{Sources: []string{"all"}, Streams: []string{"sales_daily", "sales_products"}}); err != nil {
			t.Fatal(err)
		}
		c.right("all", "")
		c.right("one", c.branches[0])
		live := c.overallLines()
		for _, id := range products {
			if !slices.Contains(live, id) {
				t.Errorf("%s is not live any more", id)
			}
		}
		c.quiet("all", "one")
	})
}

// limit sets what the key of the source "all" sees.
func (c *chain) limit(all bool, locations ...string) {
	c.t.Helper()
	if err := c.box.UpdateKey(c.keys["all"].Value, func(k *sandbox.Key) { k.AllLocations, k.LocationIDs = all, locations }); err != nil {
		c.t.Fatal(err)
	}
}

// What differs at first sight is not asked for again of all locations together when the key
// does not see all of them by then.
func TestASecondLookDoesNotBringBackWhatWasLeft(t *testing.T) {
	inChain(t, 96, func(t *testing.T, c *chain) {
		c.run(c.sources("all")...)
		c.until("backfill", time.Hour, c.filled)
		time.Sleep(time.Hour)
		suspected := func() bool {
			return slices.ContainsFunc(c.foundOfAll("all", time.Time{}), func(v sinks.Verdict) bool { return v.Verdict == sinks.VerdictUnsettled })
		}
		order := c.ordersOf(daysAgo(1), c.branches[1])[0]
		c.store.EditColumn(registry.Orders, c.business, order, "totals_tip", `"900.00"`)
		c.until("a day that differs", time.Hour, suspected)
		c.limit(false, c.branches[1])
		time.Sleep(time.Hour)
		synctest.Wait()
		if of := c.overall(); len(of) > 0 {
			t.Errorf("live rows of all locations together: %v", of)
		}
		if of := c.foundOfAll("all", time.Time{}); len(of) > 0 {
			t.Errorf("%d verdicts about all locations together stand", len(of))
		}
		c.right("all", c.branches[1])
	})
}

// A key that the restaurant limits, and lets see all again, while it is in use or not: the
// totals of all locations together go, and come back, of all the days there are.
func TestAKeyThatIsLimitedAndSeesAllAgain(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		inChain(t, 97, func(t *testing.T, c *chain) {
			c.run(c.sources("all", "one")...)
			c.until("backfill", time.Hour, c.filled)
			time.Sleep(time.Hour)
			c.right("all", "")
			limit := func(all bool, locations ...string) {
				if restarted {
					c.halt()
				}
				c.limit(all, locations...)
				if restarted {
					c.run(c.sources("all", "one")...)
				}
				time.Sleep(40 * time.Minute)
			}
			limit(false, c.branches[1])
			days := c.store.Rows("sales_daily", c.business)
			for id, r := range days {
				if !strings.Contains(id, "/") && (!r.Deleted || r.Reason != write.ReasonNoAccess || r.Raw == "") {
					t.Fatalf("%s: %+v", id, r)
				}
			}
			if n := len(c.overallLines()); n > 0 {
				t.Errorf("%d lines of products are live", n)
			}
			if of := c.foundOfAll("all", time.Time{}); len(of) > 0 {
				t.Errorf("%d verdicts about all locations together stand", len(of))
			}
			c.right("all", c.branches[1])
			limited := time.Now()
			limit(true)
			c.right("all", "")
			if n := len(c.overallLines()); n < 1000 {
				t.Errorf("%d lines of products are live", n)
			}
			if of := c.foundOfAll("all", limited); len(of) < 2*92 {
				t.Errorf("%d verdicts about all locations together", len(of))
			}
			limit(false, c.branches[1]) // what is removed now was written just before
			limit(true)
			c.right("all", "")
			c.turns()
			c.quiet("all", "one")
		})
	}
}

// A key that gains a location is told the totals of all the days there are, those included
// that no deep run asks for.
func TestAKeyThatGainsALocationAsksForItsTotals(t *testing.T) {
	inChain(t, 99, func(t *testing.T, c *chain) {
		c.limit(false, c.branches[1])
		c.run(c.sources("all")...)
		c.until("backfill", time.Hour, c.filled)
		c.right("all", c.branches[1])
		c.limit(false, c.branches...)
		time.Sleep(20 * time.Minute)
		c.right("all", c.branches[0])
		c.right("all", c.branches[1])
	})
}
