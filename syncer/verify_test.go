package syncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/internal/test/oracle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// verify verifies and fails the test when anything could not be compared.
func (w *world) verify(sel Selection) (verify.Report, []verify.Finding) {
	w.t.Helper()
	var found []verify.Finding
	report, err := w.syncer.Verify(w.t.Context(), sel, func(f verify.Finding) { found = append(found, f) }, nil)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		w.t.Fatalf("verify: %v", err)
	}
	return report, found
}

// brief is a finding in one line.
func brief(f verify.Finding) string {
	field := f.Field
	if f.Column {
		field = "column " + field
	}
	return strings.Join([]string{f.Kind, f.Stream, f.ID, field, string(f.API), string(f.Mirror)}, "|")
}

func briefs(found []verify.Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, brief(f))
	}
	slices.Sort(all)
	return all
}

// The shapes of the oracle are written from the API's description by hand; the tables are
// made from the types of the API. They must know the same columns.
func TestTheOracleKnowsEveryColumn(t *testing.T) {
	for _, d := range registry.All() {
		shape, ok := oracle.Of(d.Name)
		if !ok {
			t.Errorf("no shape of %s", d.Name)
			continue
		}
		want := shape.Columns()
		if d.Kind == registry.TotalsKind {
			want = append(want, "location_id") // given with the row
		}
		var got []string
		for _, c := range d.Plan.Table().Columns {
			got = append(got, c.Name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-shape +table):\n%s", d.Name, diff)
		}
	}
}

// columnsAreRight holds the typed columns of every stored live row against the oracle, which
// shares nothing with the mapping that wrote them.
func (w *world) columnsAreRight() {
	w.t.Helper()
	sink, wrong := w.syncer.opts.Sink, 0
	for _, source := range w.syncer.Status().Sources {
		for _, d := range w.syncer.definitions {
			shape, _ := oracle.Of(d.Name)
			live, err := sink.Live(w.t.Context(), sinks.LiveQuery{Table: d.Name, Business: source.BusinessID})
			if err != nil {
				w.t.Fatal(err)
			}
			var ids []string
			for _, r := range live {
				ids = append(ids, r.ID)
			}
			rows, err := sinks.RowsByID(w.t.Context(), sink, d.Name, source.BusinessID, ids)
			if err != nil {
				w.t.Fatal(err)
			}
			for id, r := range rows {
				context := map[string]string{}
				if d.Kind == registry.TotalsKind {
					context["location_id"] = string(r.Columns["location_id"])
				}
				if found := shape.Wrong(r.Raw, r.Columns, context); len(found) > 0 && wrong < 5 {
					wrong++
					w.t.Errorf("%s %q: %+v in %s", d.Name, id, found, r.Raw)
				}
			}
		}
	}
}

func TestVerifyOfALiveMirrorFindsNothing(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 5, Businesses: 2, Orders: 900, Days: 30, Pace: 40, OnlineOrders: 300, Readings: sandbox.Readings{
		StrangeIDs: true, NewMapKeys: true, NullTombstones: true, NeverPaidTombstones: true, NullUpdatedAt: 5, StampDelay: time.Minute,
	}}, func(t *testing.T, w *world) {
		time.Sleep(10 * time.Hour) // guests order by day
		freeze := w.alive()
		w.run()
		w.until("filled", time.Hour, w.filled)
		time.Sleep(20 * time.Minute)
		report, found := w.verify(Selection{})
		freeze()
		for _, f := range found {
			if f.Kind != verify.FoundMoving {
				t.Errorf("%+v", f)
			}
		}
		for _, s := range report.Sources {
			if len(s.Streams) != len(registry.Names()) {
				t.Errorf("%s: %d streams", s.Source, len(s.Streams))
			}
			for _, st := range s.Streams {
				if !st.Done || st.Rows == 0 || st.Off != "" || st.Unjudged > 0 {
					t.Errorf("%s %+v", s.Source, st)
				}
			}
		}
		w.columnsAreRight()
		synctest.Wait()
	})
}

// still is a mirror that is complete, of a world that stands still.
func still(t *testing.T, test func(t *testing.T, w *world, business string)) {
	t.Helper()
	inWorld(t, sandbox.Options{Seed: 9, Orders: 700, Days: 120, Record: true}, func(t *testing.T, w *world) {
		w.run(w.sources()[:1]...)
		w.until("filled", time.Hour, w.filled)
		time.Sleep(20 * time.Minute)
		test(t, w, w.syncer.Status().Sources[0].BusinessID)
	})
}

// damages are what was done to the mirror of a restaurant, and the findings that it must make.
type damages struct {
	*world
	business string
	want     []string
}

func (d *damages) expect(stream, id, field, api, mirror string) {
	d.want = append(d.want, strings.Join([]string{verify.FoundDifference, stream, id, field, api, mirror}, "|"))
}

func TestVerifyFindsEveryDamageOnce(t *testing.T) {
	still(t, func(t *testing.T, w *world, b string) {
		orders := w.box.Restaurant(0).IDs(sandbox.StreamSalesOrders)
		removed := orders[400:403] // of days that a deep run asks for
		for _, id := range removed {
			if err := w.box.Restaurant(0).CancelOrder(id); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(3 * time.Hour) // out of sight of the incremental walks, and past the deep totals
		d := &damages{world: w, business: b}
		d.ofOrders(orders, removed)
		d.ofCatalogue()
		d.ofTotals()

		report, found := w.verify(Selection{Sources: []string{w.syncer.Status().Sources[0].Name}})
		slices.Sort(d.want)
		if diff := cmp.Diff(d.want, briefs(found)); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
		if n := report.Differences(); n != uint64(len(d.want)) {
			t.Errorf("%d rows differ in the report, want %d", n, len(d.want))
		}
	})
}

func (d *damages) ofOrders(orders, removed []string) {
	w, b := d.world, d.business
	w.store.Lose("sales_orders", b, orders[1])
	d.expect("sales_orders", orders[1], "", `"live"`, `"absent"`)

	w.alterRaw("sales_orders", b, orders[2], `"channel":"`, `"channel":"not `)
	raw := w.store.Row("sales_orders", b, orders[2]).Raw
	channel, _, _ := strings.Cut(strings.SplitAfter(raw, `"channel":"not `)[1], `"`)
	d.expect("sales_orders", orders[2], "channel", `"`+channel+`"`, `"not `+channel+`"`)

	w.store.Edit("sales_orders", b, removed[0], func(r *memsink.Row) { r.Deleted = false })
	d.expect("sales_orders", removed[0], "", `"removed: `+w.store.Row("sales_orders", b, removed[0]).Reason+`"`, `"live"`)

	w.store.Edit("sales_orders", b, removed[1], func(r *memsink.Row) { r.Reason += r.Reason })
	reason := w.store.Row("sales_orders", b, removed[1]).Reason
	d.expect("sales_orders", removed[1], "reason", `"`+reason[:len(reason)/2]+`"`, `"`+reason+`"`)

	at := w.store.Row("sales_orders", b, removed[2]).DeletedAt
	w.store.Edit("sales_orders", b, removed[2], func(r *memsink.Row) { r.DeletedAt = r.DeletedAt.Add(time.Hour) })
	d.expect("sales_orders", removed[2], "deleted_at", at.UTC().Format(`"2006-01-02T15:04:05.000000Z"`), at.Add(time.Hour).UTC().Format(`"2006-01-02T15:04:05.000000Z"`))
}

func (d *damages) ofCatalogue() {
	w, b := d.world, d.business
	products := w.box.Restaurant(0).IDs(sandbox.StreamProducts)
	w.store.EditColumn("products", b, products[0], "price", `"0.01"`)
	d.expect("products", products[0], "column price", jsonField(w.t, w.store.Row("products", b, products[0]).Raw, "price"), `"0.01"`)

	w.store.Copy("products", b, products[1], "one too many")
	d.expect("products", "one too many", "", `"absent"`, `"live"`)

	w.store.Edit("products", b, products[2], func(r *memsink.Row) { r.Deleted, r.Reason = true, "gone" })
	d.expect("products", products[2], "", `"live"`, `"removed: gone"`)

	category := w.box.Restaurant(0).IDs(sandbox.StreamCategories)[0]
	w.store.EditColumn("categories", b, category, "position", `77`)
	d.expect("categories", category, "column position", jsonField(w.t, w.store.Row("categories", b, category).Raw, "position"), `77`)

	location := w.box.Restaurant(0).LocationIDs()[0]
	w.store.EditColumn("locations", b, location, "timezone", `"Europe/Paris"`)
	d.expect("locations", location, "column timezone", `"Europe/Bucharest"`, `"Europe/Paris"`)
	for _, code := range slices.Sorted(maps.Keys(w.store.Rows("allergens", b)))[:1] {
		w.store.Copy("allergens", b, code, "none such")
	}
	d.expect("allergens", "none such", "", `"absent"`, `"live"`)
}

// ofTotals damages the service's totals, and what is stored of the key.
func (d *damages) ofTotals() {
	w, b := d.world, d.business
	location := w.box.Restaurant(0).LocationIDs()[0]
	day := string(schedule.DayOf(time.Now().AddDate(0, 0, -100)))
	w.store.EditColumn("sales_daily", b, day, "location_id", `"here"`)
	d.expect("sales_daily", day, "column location_id", `null`, `"here"`)
	near := string(schedule.DayOf(time.Now().AddDate(0, 0, -30))) + "/" + location
	w.store.EditColumn("sales_daily", b, near, "orders", `-1`)
	d.expect("sales_daily", near, "column orders", jsonField(w.t, w.store.Row("sales_daily", b, near).Raw, "orders"), `-1`)
	sold := slices.Sorted(maps.Keys(w.store.Rows("sales_products", b)))
	for _, ago := range []int{20, 50} { // of two months of one range
		line := string(schedule.DayOf(time.Now().AddDate(0, 0, -ago))) + "/n/none such"
		w.store.Copy("sales_products", b, sold[0], line)
		d.expect("sales_products", line, "", `"absent"`, `"live"`)
	}
	for id := range w.store.Rows("api_keys", b) {
		w.store.EditColumn("api_keys", b, id, "rate_limits_per_minute", `121`)
		d.expect("api_keys", id, "column rate_limits_per_minute", `120`, `121`)
	}
}

func (w *world) alterRaw(table, business, id, from, to string) {
	w.t.Helper()
	w.store.Edit(table, business, id, func(r *memsink.Row) {
		if !strings.Contains(r.Raw, from) {
			w.t.Errorf("%q is not in %s", from, r.Raw)
		}
		r.Raw = strings.Replace(r.Raw, from, to, 1)
	})
}

func jsonField(t tester, raw, field string) string {
	t.Helper()
	_, rest, ok := strings.Cut(raw, `"`+field+`":`)
	if !ok {
		t.Fatalf("no %s in %s", field, raw)
	}
	value, _, _ := strings.Cut(rest, ",")
	return value
}

// Rows that the parts of a walk do not hold at once are compared too, and what does not fit into
// memory is an error.
func TestVerifyInSmallMemory(t *testing.T) {
	still(t, func(t *testing.T, w *world, b string) {
		w.syncer.verifyLimits = verify.Limits{Rows: 30, Bytes: 1 << 20, IDs: 800, Suspects: 3, Page: 7, Sources: 1}
		orders := w.box.Restaurant(0).IDs(sandbox.StreamSalesOrders)
		for _, id := range orders[:5] {
			w.store.Copy("sales_orders", b, id, id+"+")
		}
		report, found := w.verify(Selection{Streams: []string{"sales_orders"}})
		r := report.Sources[0].Streams[0]
		if len(found) != 3 || r.Differences != 3 || r.Unjudged != 2 || report.Differences() != 5 {
			t.Errorf("%+v\n%+v", r, found)
		}
		if r.Rows != uint64(len(w.store.Rows("sales_orders", b))-5) {
			t.Errorf("%d rows were compared, %d are stored", r.Rows, len(w.store.Rows("sales_orders", b)))
		}
		w.syncer.verifyLimits.IDs, w.syncer.verifyLimits.Suspects = 100, 1000
		asked := len(w.box.Requests())
		report, err := w.syncer.Verify(t.Context(), Selection{Streams: []string{"sales_orders"}}, nil, nil)
		if err = errors.Join(err, report.Err()); err == nil || !strings.Contains(err.Error(), "more than 100 rows") {
			t.Errorf("more rows than fit: %v", err)
		}
		if slices.ContainsFunc(w.box.Requests()[asked:], func(r sandbox.Request) bool { return r.Rows > 0 && strings.HasSuffix(r.Route, "/sales/orders") }) {
			t.Error("a list that does not fit was walked")
		}
	})
}

// A row that changes while it is looked at is no difference.
func TestVerifyOfMovingRows(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 2, Orders: -1, Days: 5}, func(t *testing.T, w *world) {
		w.schedule.Incremental = "@every 10m"
		w.run()
		w.until("filled", time.Hour, w.filled)
		if err := w.box.AddFault(faults.Fault{Kind: faults.Latency, Probability: 1, Delay: 100 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		r := w.box.Restaurant(0)
		ids := r.IDs(sandbox.StreamIngredients)[:3]
		quit, ended := make(chan struct{}), make(chan struct{})
		go func() { // stock that moves every 40 ms
			defer close(ended)
			for i := int64(0); ; i++ {
				select {
				case <-quit:
					return
				case <-time.After(40 * time.Millisecond):
				}
				for _, id := range ids[:2] {
					if err := r.SetStock(id, 1000+i); err != nil {
						t.Error(err)
					}
				}
			}
		}()
		time.Sleep(time.Minute + 100*time.Millisecond)
		if err := r.SetStock(ids[2], 7); err != nil { // and once
			t.Error(err)
		}
		report, found := w.verify(Selection{Streams: []string{"ingredients"}})
		close(quit)
		<-ended
		got := report.Sources[0].Streams[0]
		if got.Differences != 0 || got.Moving != 2 || got.Settled == 0 {
			t.Errorf("%+v", got)
		}
		for _, f := range found {
			if f.Kind != verify.FoundMoving || !slices.Contains(ids[:2], f.ID) {
				t.Errorf("%+v", f)
			}
		}
	})
}

// What incremental walks cannot see by the rules of the API is a difference, with
// what heals it.
func TestVerifyFindsWhatIncrementalWalksCannotSee(t *testing.T) {
	still(t, func(t *testing.T, w *world, b string) {
		r := w.box.Restaurant(0)
		products := r.IDs(sandbox.StreamProducts)
		if err := r.Purge(sandbox.StreamProducts, products[3]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		_, found := w.verify(Selection{Streams: []string{"products", "sales_orders"}})
		seen := map[string]int{}
		for _, f := range found {
			seen[f.Stream]++
			if f.Kind != verify.FoundDifference || !strings.Contains(f.Hint, "a full resync does") {
				t.Errorf("%+v", f)
			}
			if f.Stream == "sales_orders" && !strings.HasSuffix(f.Field, ".product_id") {
				t.Errorf("%+v", f)
			}
		}
		if seen["products"] != 1 || seen["sales_orders"] == 0 {
			t.Errorf("%v", seen)
		}
	})
}

// A fault of who takes the findings ends the comparison of a stream, and not the life of its source.
func TestAPanicOverAFindingEndsNoLife(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/categories", strings.Replace(category("b", "B", clockText(time.Now().Add(-time.Hour))), `"position":1`, `"position":"x"`, 1))
		w.run(w.one(func(s *Source) { s.Streams = []string{"categories", "products"} }))
		w.until("filled", time.Hour, w.filled)
		time.Sleep(time.Minute)
		life := w.syncer.served()[0]
		report, err := w.syncer.Verify(t.Context(), Selection{}, func(verify.Finding) { panic("a broken listener") }, nil)
		if err != nil || len(report.Sources[0].Streams) != 2 {
			t.Fatalf("%+v, %v", report, err)
		}
		for _, r := range report.Sources[0].Streams {
			if failed := r.Err != nil && strings.Contains(r.Err.Error(), "panic"); failed != (r.Stream == "categories") || !failed && !r.Done {
				t.Errorf("%+v", r)
			}
		}
		time.Sleep(time.Minute)
		if w.syncer.served()[0] != life {
			t.Error("the source has begun anew")
		}
	})
}

func TestVerifyListsTheQuarantine(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		stamp := clockText(time.Now().Add(-time.Hour))
		f.set("/categories", category("a", "A", stamp), strings.Replace(category("b", "B", stamp), `"position":1`, `"position":"x"`, 1), `{"name":"nobody"}`,
			strings.Replace(category("c", "C", stamp), `"position":1`, `"position":"x"`, 1))
		w.run(w.one(func(s *Source) { s.Streams = []string{"categories"} }))
		w.until("filled", time.Hour, w.filled)
		time.Sleep(time.Minute)
		w.syncer.verifyLimits.Suspects = 1 // which they do not use up
		report, found := w.verify(Selection{})
		got := briefs(found)
		want := []string{"quarantined|categories|b|position||", "quarantined|categories|c|position||", "quarantined|categories||id||"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, f := range found {
			if f.Reason == "" {
				t.Errorf("no reason: %+v", f)
			}
		}
		if r := report.Sources[0].Streams[0]; r.InQuarantine != 3 || r.Differences+r.Unjudged != 0 {
			t.Errorf("%+v", r)
		}

		// Entries that are lost leave rows that nobody knows of.
		w.store.Release("s", "categories", "")
		w.store.Release("s", "categories", "c")
		_, found = w.verify(Selection{})
		want = []string{
			`difference|categories|c||"live"|"absent"`, `difference|categories|||"a row whose id cannot be read"|"no entry in quarantine"`,
			"quarantined|categories|b|position||",
		}
		for _, f := range found {
			if strings.Contains(f.Hint, "no process serves") {
				t.Errorf("%+v", f)
			}
		}
		if diff := cmp.Diff(want, briefs(found)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A day with a line that cannot be told apart keeps the lines it had.
func TestVerifyOfADayWithABadLine(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		line := func(product string) string {
			return fmt.Sprintf(`{"date":%q,"product_id":%s,"name":"n","category_id":null,"quantity":"1.00","weight_kg":null,"gross":"1.00","line_discounts":"0.00","net":"1.00"}`,
				schedule.DayOf(time.Now()), product)
		}
		f.set("/sales/products", line(`"a"`), line(`"b"`))
		w.run(w.one(func(s *Source) { s.Streams = []string{"sales_products"} }))
		w.until("filled", time.Hour, w.filled)
		f.set("/sales/products", line(`"a"`), line(`7`))
		time.Sleep(30 * time.Minute)
		report, found := w.verify(Selection{})
		if len(found) != 1 || found[0].Kind != verify.FoundQuarantined || report.Sources[0].Streams[0].Rows == 0 {
			t.Errorf("%+v", found)
		}
	})
}

// Each of two keys of one restaurant answers for what it wrote, and for nothing
// that only the other lists.
func TestVerifyOfTwoKeysOfOneRestaurant(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 9, Orders: -1, Days: 5}, func(t *testing.T, w *world) {
		here, there := w.box.Restaurant(0).LocationIDs()[0], w.box.Restaurant(0).LocationIDs()[1]
		w.run(
			Source{Name: "one", BaseURL: "http://api.test/v1", Key: func() string { return w.box.Key(0, sandbox.RoleMain).Value }, Locations: []string{here}},
			sourceOf("all", w.box.Key(0, sandbox.RoleTest).Value),
		)
		w.until("filled", time.Hour, w.filled)
		b := w.syncer.Status().Sources[0].BusinessID
		w.store.Edit("locations", b, there, func(r *memsink.Row) { r.Source = "one" })
		for id := range w.store.Rows("api_keys", b) {
			w.store.Copy("api_keys", b, id, "of another process")
		}
		w.store.Edit("api_keys", b, "of another process", func(r *memsink.Row) { r.Source = "third" })
		if _, found := w.verify(Selection{Streams: []string{"locations", "allergens", "api_keys"}}); len(found) > 0 {
			t.Errorf("%+v", found)
		}

		// What a source listed that nobody has any more is listed by none.
		one := w.syncer.opts.Sources[:1]
		w.halt()
		w.open(one...)
		_, found := w.verify(Selection{Streams: []string{"locations"}})
		want := []string{strings.Join([]string{verify.FoundDifference, "locations", there, "", `"absent"`, `"live"`}, "|")}
		if diff := cmp.Diff(want, briefs(found)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// readingSink fails the test when anything is written. It does not say which process serves a
// source when it is asked for the second time.
type readingSink struct {
	sinks.Sink
	t     *testing.T
	beats int
}

func (s *readingSink) Write(ctx context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	s.t.Errorf("%s is written", c.Source)
	return s.Sink.Write(ctx, c)
}

func (s *readingSink) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	if s.beats++; s.beats == 2 {
		return nil, errors.New("the warehouse does not answer")
	}
	if len(wants) > 0 {
		s.t.Errorf("%q are claimed", wants)
	}
	return s.Sink.Beat(ctx, p, wants)
}

// A source that another process serves is verified beside it: its walks are waited for, and
// nothing is written.
func TestVerifyBesideTheProcessThatServes(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 9, Orders: 300, Days: 20}, func(t *testing.T, p *pair) {
		p.a.run(p.a.sources()[:1]...)
		p.a.until("filled", time.Hour, p.a.filled)
		time.Sleep(20 * time.Minute)
		b := p.a.syncer.Status().Sources[0].BusinessID
		r := p.box.Restaurant(0)
		p.b.tune = func(o *Options) { o.Sink = &readingSink{Sink: o.Sink, t: t} }
		p.b.open(p.b.sources()[:1]...)
		verify := func() []verify.Finding {
			t.Helper()
			_, found := p.b.verify(Selection{Streams: []string{"locations", "products", "sales_orders", "sales_daily"}})
			return found
		}
		if found := verify(); len(found) > 0 {
			t.Errorf("%+v", found)
		}
		id := r.IDs(sandbox.StreamProducts)[0]
		p.store.EditColumn("products", b, id, "station", `"garden"`)
		location := r.LocationIDs()[0]
		p.store.EditColumn("locations", b, location, "name", `"x"`)
		began, times := time.Now(), p.b.syncer.times.Load()
		turns := times.Next(schedule.Snapshots, "r0", times.Next(schedule.Snapshots, "r0", began))
		found := verify()
		if len(found) != 2 || found[0].ID != location || found[1].ID != id || !found[1].Column || found[1].Field != "station" {
			t.Errorf("%+v", found)
		}
		if !time.Now().After(turns) {
			t.Errorf("it took %s: the walks of the other process were not waited for", time.Since(began))
		}
		p.store.EditColumn("products", b, id, "station", `"kitchen"`)
		p.a.halt()
		time.Sleep(2 * time.Minute)

		// Nobody serves the source any more: nothing is waited for, and nobody claims it.
		must(t, r.SetStock(r.IDs(sandbox.StreamIngredients)[0], 7))
		began = time.Now()
		_, found = p.b.verify(Selection{Streams: []string{"locations", "products", "ingredients"}})
		if len(found) < 2 || found[0].ID != location || found[1].Stream != "ingredients" || !strings.Contains(found[1].Hint, "no process serves source r0") || !strings.Contains(found[1].Hint, "larder sync --full") {
			t.Errorf("after the other process has ended: %+v", found)
		}
		claims, err := p.b.sink.Beat(t.Context(), sinks.Process{ID: "a third"}, nil)
		if waited := time.Since(began); waited > time.Minute || len(claims) > 0 || err != nil {
			t.Errorf("it took %s, claims %+v, %v", waited, claims, err)
		}
	})
}

// interruptedLine ends a run when it asks the service something.
type interruptedLine struct{ interrupt context.CancelFunc }

func (l interruptedLine) RoundTrip(r *http.Request) (*http.Response, error) {
	l.interrupt()
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// Who interrupts a verification has not found the source out of reach.
func TestAnInterruptedVerifyHasNoTrouble(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 9, Orders: 20, Days: 2}, func(t *testing.T, p *pair) {
		p.a.run(p.a.sources()[:1]...)
		p.a.until("filled", time.Hour, p.a.filled)
		ctx, interrupt := context.WithCancel(t.Context())
		p.b.tune = func(o *Options) { o.API.Transport = interruptedLine{interrupt} }
		p.b.open(p.b.sources()[:1]...)
		report, err := p.b.syncer.Verify(ctx, Selection{}, nil, nil)
		if !errors.Is(err, context.Canceled) || !errors.Is(report.Err(), context.Canceled) {
			t.Errorf("interrupted: %v, %v", err, report.Err())
		}
		if state := report.Sources[0].State; state != status.StateStarting {
			t.Errorf("the source is %s", state)
		}
	})
}

// What was to be compared again when the verification ended is counted.
func TestAVerifyThatIsInterruptedWhileItWaits(t *testing.T) {
	still(t, func(t *testing.T, w *world, b string) {
		w.store.EditColumn("locations", b, w.box.Restaurant(0).LocationIDs()[0], "name", `"x"`)
		ctx, interrupt := context.WithCancel(t.Context())
		report, err := w.syncer.Verify(ctx, Selection{Streams: []string{"locations"}}, nil, func(p verify.Progress) {
			if st := p.Status.Stream("r0", "locations"); st.Progress != nil && st.Progress.Suspects > 0 {
				interrupt()
			}
		})
		if st := report.Sources[0].Streams[0]; !errors.Is(err, context.Canceled) || st.Unjudged != 1 || st.Done || report.Differences() != 1 {
			t.Errorf("%v, %+v", err, st)
		}
	})
}

// Sources wait for the daemon's turns together, however few are compared at the same time.
func TestVerifyWaitsForAllSourcesTogether(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 9, Businesses: 6, Orders: -1, Days: 5}, func(t *testing.T, w *world) {
		w.run()
		w.until("filled", time.Hour, w.filled)
		for i, s := range w.syncer.Status().Sources {
			w.store.EditColumn("locations", s.BusinessID, w.box.Restaurant(i).LocationIDs()[0], "name", `"x"`)
		}
		must(t, w.box.AddFault(faults.Fault{Kind: faults.Latency, Probability: 1, Delay: 3 * time.Second}))
		most := 0
		report, err := w.syncer.Verify(t.Context(), Selection{Streams: []string{"locations"}}, nil, func(p verify.Progress) {
			waiting := 0
			for _, s := range p.Status.Sources {
				if is := p.Status.Stream(s.Name, "locations").Progress; is != nil && is.Suspects > 0 {
					waiting++
					if is.ExpectedLeft <= 0 {
						t.Errorf("%s: a row that is compared again waits", s.Name)
					}
				}
			}
			most = max(most, waiting)
		})
		if err != nil || most != 6 {
			t.Errorf("%d sources waited together: %v", most, err)
		}
		for _, s := range report.Sources {
			if st := s.Streams[0]; st.Differences != 1 || !st.Done || st.Took.Duration() <= 0 || st.Took.Duration() > time.Minute {
				t.Errorf("%s: %+v", s.Source, st)
			}
		}
	})
}

// What the schedule would bring later than is waited for is no reason for a full resync.
func TestVerifyDoesNotWaitForFarTurns(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 9, Orders: -1, Days: 5}, func(t *testing.T, w *world) {
		w.schedule.Snapshots = "@every 2h"
		w.run(w.sources()[:1]...)
		w.until("filled", time.Hour, w.filled)
		w.store.Lose("locations", w.syncer.Status().Sources[0].BusinessID, w.box.Restaurant(0).LocationIDs()[0])
		_, found := w.verify(Selection{Streams: []string{"locations"}})
		if len(found) != 1 || !strings.Contains(found[0].Hint, "were not waited for: let larder sync") {
			t.Errorf("%+v", found)
		}
	})
}

// A key that is rotated while its lists are walked is followed; where no other is in place, nothing
// more is asked with the one that was refused.
func TestVerifyFollowsARotatedKey(t *testing.T) {
	for name, follows := range map[string]bool{"another key is in place": true, "none is": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 9, Orders: 700, Days: 20, Record: true}, func(t *testing.T, w *world) {
				s, key := keyed("r0", w.box.Key(0, sandbox.RoleMain).Value)
				w.open(s)
				w.once(Selection{})
				must(t, w.box.AddFault(faults.Fault{Kind: faults.Latency, Probability: 1, Delay: 2 * time.Second}))
				rotated := false
				report, err := w.syncer.Verify(t.Context(), Selection{}, nil, func(p verify.Progress) {
					if st := p.Status.Stream("r0", "sales_orders"); rotated || st.Progress == nil || st.Progress.Pages == 0 {
						return
					}
					rotated = true
					next, err := w.box.RotateKey(key.Load().(string), 0)
					must(t, err)
					if follows {
						key.Store(next.Value)
					}
				})
				streams, refused := report.Sources[0].Streams, 0
				for _, r := range w.box.Requests() {
					if r.Status == http.StatusUnauthorized {
						refused++
					}
				}
				switch {
				case err != nil || !rotated:
					t.Errorf("rotated: %t, %v", rotated, err)
				case follows && (report.Err() != nil || report.Differences() > 0 || len(streams) != len(registry.Names()) || refused != 1):
					t.Errorf("%d streams, %d requests refused, %v", len(streams), refused, report.Err())
				case !follows && (!api.IsUnauthorized(report.Err()) || streams[len(streams)-1].Stream != "sales_orders" || refused != 2):
					t.Errorf("%+v, %d requests refused, %v", streams, refused, report.Err())
				}
			})
		})
	}
}

// However many lines of totals differ, none is left unjudged.
func TestVerifyJudgesEveryLineOfTotals(t *testing.T) {
	still(t, func(t *testing.T, w *world, b string) {
		w.syncer.verifyLimits.Suspects = 1
		lost := uint64(0)
		for id := range w.store.Rows("sales_products", b) {
			w.store.Lose("sales_products", b, id)
			lost++
		}
		report, found := w.verify(Selection{Streams: []string{"sales_products"}})
		if st := report.Sources[0].Streams[0]; len(found) != int(lost) || st.Differences != lost || st.Unjudged > 0 || lost < 100 {
			t.Errorf("%d lines were lost, %d found: %+v", lost, len(found), st)
		}
	})
}

// Days before yesterday that have changed differ until a deep run or a full resync asks for them,
// and the finding says how to ask at once.
func TestVerifyOfDaysThatChangeLater(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 9, Orders: 300, Days: 20, ProductsPer: 10}, func(t *testing.T, w *world) {
		w.schedule.ReconcileDeep = "0 3 1 6 *" // not while the test looks on
		w.run(w.sources()[:1]...)
		w.until("filled", time.Hour, w.filled)
		time.Sleep(20 * time.Minute)
		r := w.box.Restaurant(0)
		must(t, r.Purge(sandbox.StreamProducts, r.IDs(sandbox.StreamProducts)[:5]...)) // their sold lines lose product_id
		must(t, r.CancelOrder(r.IDs(sandbox.StreamSalesOrders)[5]))
		totals := Selection{Streams: []string{"sales_daily", "sales_products"}}
		report, found := w.verify(totals)
		if report.Differences() < 2 {
			t.Errorf("%d differences", report.Differences())
		}
		for _, f := range found {
			if f.Kind != verify.FoundDifference || !strings.Contains(f.Hint, "larder reconcile --from and --to") {
				t.Fatalf("%+v", f)
			}
		}
		if _, err := w.full(totals); err != nil {
			t.Fatal(err)
		}
		if report, _ := w.verify(totals); report.Differences() > 0 {
			t.Errorf("%d differences after all days were asked for", report.Differences())
		}
	})
}

// What is stored of a tombstone is compared with the list, which shows it where it is while it is
// unchanged; one without updated_at is looked for in the whole list.
func TestVerifyOfTombstones(t *testing.T) {
	for name, null := range map[string]bool{"with updated_at": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 9, Orders: 700, Days: 120, Readings: sandbox.Readings{NullTombstones: null}}, func(t *testing.T, w *world) {
				w.run(w.sources()[:1]...)
				w.until("filled", time.Hour, w.filled)
				b, r := w.syncer.Status().Sources[0].BusinessID, w.box.Restaurant(0)
				id := r.IDs(sandbox.StreamSalesOrders)[20]
				must(t, r.CancelOrder(id))
				time.Sleep(5 * time.Minute)
				w.store.Edit("sales_orders", b, id, func(r *memsink.Row) { r.Reason = "unpaid" })
				_, found := w.verify(Selection{Streams: []string{"sales_orders"}})
				want := []string{strings.Join([]string{verify.FoundDifference, "sales_orders", id, "reason", `"cancelled"`, `"unpaid"`}, "|")}
				if diff := cmp.Diff(want, briefs(found)); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A tombstone is found behind hundreds of rows of the same instant.
func TestVerifyOfATombstoneAmongMany(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 9, Orders: 1200, Days: 120}, func(t *testing.T, w *world) {
		w.run(w.sources()[:1]...)
		w.until("filled", time.Hour, w.filled)
		r := w.box.Restaurant(0)
		ids := r.IDs(sandbox.StreamSalesOrders)[:700]
		for _, id := range ids {
			must(t, r.CancelOrder(id))
		}
		time.Sleep(10 * time.Minute)
		w.store.Edit("sales_orders", r.ID(), slices.Max(ids), func(r *memsink.Row) { r.Reason = "unpaid" })
		report, found := w.verify(Selection{Streams: []string{"sales_orders"}})
		if st := report.Sources[0].Streams[0]; st.Moving > 0 || st.Differences != 1 {
			t.Errorf("%+v\n%+v", st, found)
		}
	})
}

// A source of some locations answers for their rows, and for those it wrote.
func TestVerifyOfSomeLocations(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 9, Orders: 300, Days: 20, OnlineOrders: 300}, func(t *testing.T, w *world) {
		time.Sleep(24 * time.Hour) // guests order by day
		r := w.box.Restaurant(0)
		here := r.LocationIDs()[0]
		w.edit = func(s *Source) { s.Locations = []string{here} }
		w.run(w.sources()[:1]...)
		w.until("filled", time.Hour, w.filled)
		b := w.syncer.Status().Sources[0].BusinessID
		w.store.Copy("products", b, r.IDs(sandbox.StreamProducts)[0], "elsewhere")
		w.store.Edit("products", b, "elsewhere", func(r *memsink.Row) { r.Location, r.Source = "other", "other" })
		report, found := w.verify(Selection{})
		if len(found) > 0 {
			t.Errorf("%+v", found)
		}
		for _, st := range report.Sources[0].Streams {
			if st.Off == "" && st.Rows == 0 {
				t.Errorf("%+v", st)
			}
		}
		moved := ""
		for id, row := range w.store.Rows("products", b) {
			if row.Location == here && !row.Deleted && (moved == "" || id < moved) {
				moved = id
			}
		}
		if err := r.Move(sandbox.StreamProducts, moved, r.LocationIDs()[1]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		_, found = w.verify(Selection{Streams: []string{"products"}})
		var fields []string
		for _, f := range found {
			if f.ID != moved || f.Kind != verify.FoundDifference || !strings.Contains(f.Hint, "a full resync does") {
				t.Errorf("%+v", f)
			}
			fields = append(fields, f.Field)
		}
		if len(fields) == 0 {
			t.Errorf("a row that moved out of sight is no difference: %q", fields)
		}
	})
}

func TestVerifyTellsWhatItCouldNotCompare(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.open(w.one(func(s *Source) { s.Streams = []string{"categories", "products", "allergens"} }))
		report, err := w.syncer.Verify(t.Context(), Selection{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range report.Sources[0].Streams {
			if (st.Stream == "allergens") == (st.Err != nil) {
				t.Errorf("%+v", st)
			}
		}
		if _, err := w.syncer.Verify(t.Context(), Selection{Streams: []string{"none"}}, nil, nil); err == nil {
			t.Error("an unknown stream is no error")
		}
	})
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{}
		report, err := w.open(w.one()).Verify(t.Context(), Selection{}, nil, nil)
		if err != nil || report.Sources[0].State != status.StateUnauthorized || report.Err() == nil {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// A cursor that the service refuses makes the walk begin anew; one that goes in
// circles ends it.
func TestVerifyOfCursorsThatFail(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 700, Days: 10}, func(t *testing.T, w *world) {
		w.run()
		w.until("filled", time.Hour, w.filled)
		time.Sleep(10 * time.Minute)
		if err := w.box.AddFault(faults.Fault{Kind: faults.CursorRefused, Route: "/sales/orders", Skip: 1, Count: 2}); err != nil {
			t.Fatal(err)
		}
		report, found := w.verify(Selection{Streams: []string{"sales_orders"}})
		if r := report.Sources[0].Streams[0]; len(found) > 0 || r.Rows < 600 {
			t.Errorf("%+v %+v", r, found)
		}

		// What did not fit before the list began anew is counted once.
		w.syncer.verifyLimits.Suspects = 3
		for _, id := range w.box.Restaurant(0).IDs(sandbox.StreamSalesOrders)[:5] {
			w.store.Lose("sales_orders", w.box.Restaurant(0).ID(), id)
		}
		w.syncer.verifyLimits.Rows = 1
		must(t, w.box.AddFault(faults.Fault{Kind: faults.CursorRefused, Route: "/sales/orders", Skip: 1, Count: 1}))
		report, _ = w.verify(Selection{Streams: []string{"sales_orders"}})
		if r := report.Sources[0].Streams[0]; r.Differences != 3 || r.Unjudged != 2 {
			t.Errorf("%+v", r)
		}
	})
	inFake(t, func(t *testing.T, f *fake, w *world) {
		stamp := clockText(time.Now().Add(-time.Hour))
		f.set("/categories", category("a", "A", stamp))
		w.run(w.one(func(s *Source) { s.Streams = []string{"categories"} }))
		w.until("filled", time.Hour, w.filled)
		f.on("/categories", func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, `{"data":[],"next_cursor":"c","has_more":true}`)
			return true
		})
		report, err := w.syncer.Verify(t.Context(), Selection{}, nil, nil)
		if err != nil || report.Err() == nil || !api.LeadsNowhere(report.Err()) {
			t.Errorf("%v, %v", err, report.Err())
		}
	})
}

func TestVerifyProgress(t *testing.T) {
	still(t, func(t *testing.T, w *world, _ string) {
		// So few that a walk takes longer than the second between two reports.
		must(t, w.box.UpdateKey(w.box.Key(0, sandbox.RoleMain).Value, func(k *sandbox.Key) { k.Limits.PerMinute = 20 }))
		seen := map[string]bool{}
		var last verify.Progress
		report, err := w.syncer.Verify(t.Context(), Selection{}, nil, func(p verify.Progress) {
			last = p
			for _, st := range p.Status.Sources[0].Streams {
				if st.Progress != nil {
					seen[st.Name] = true
					if st.Progress.Walk != "verify" || st.Progress.Rows > 2000 || st.Progress.RequestsLeft > 20 {
						t.Errorf("%s: %+v", st.Name, st.Progress)
					}
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if !seen["sales_orders"] || len(last.Report.Sources[0].Streams) != len(report.Sources[0].Streams) {
			t.Errorf("%v, %+v", seen, last.Report)
		}
	})
}
