package sandbox

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Range mode "oldest first": of created_at, or of change.
func TestReadingRangeByChange(t *testing.T) {
	for byChange, field := range map[bool]string{false: "created_at", true: "updated_at"} {
		h := newHarness(t, Options{NoLimits: true, Orders: 800, Readings: Readings{RangeByChange: byChange}})
		var keys []string
		ids := map[string]bool{}
		for _, row := range h.walk("/sales/orders?from=2026-02-20&to=2026-03-20&limit=13") {
			var o map[string]any
			if err := json.Unmarshal(row, &o); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, o[field].(string))
			ids[o["id"].(string)] = true
		}
		if !slices.IsSorted(keys) || len(ids) != len(keys) || len(ids) < 200 {
			t.Errorf("by change %v: %d rows, %d ids, not sorted by %s", byChange, len(keys), len(ids), field)
		}
	}
}

// Orders never paid: unknown in mirror mode, or tombstones of ids never seen.
func TestReadingNeverPaid(t *testing.T) {
	for show, want := range map[bool]int{false: 0, true: 2} {
		h := newHarness(t, Options{NoLimits: true, Orders: -1, Readings: Readings{NeverPaidTombstones: show}})
		r := h.Restaurant(0)
		must(r.PlaceOrder(OrderSpec{Unpaid: true}))(t)
		id := must(r.PlaceOrder(OrderSpec{Unpaid: true}))(t)
		h.clock = h.clock.Add(time.Second)
		if err := r.CancelOrder(id); err != nil {
			t.Fatal(err)
		}
		listed := h.walk("/sales/orders?updated_since=2020-01-01T00:00:00Z")
		if len(listed) != want {
			t.Errorf("show %v: %s", show, listed)
		}
		if show && (strict[types.Tombstone](t, listed[0]).Reason != rows.ReasonUnpaid || strict[types.Tombstone](t, listed[1]).Reason != rows.ReasonCancelled) {
			t.Errorf("%s", listed)
		}
	}
}

// Rows with a null updated_at come only without updated_since; tombstones with
// one come in any walk.
func TestReadingNullStamps(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 100, Readings: Readings{NullUpdatedAt: 3, NullTombstones: true}})
	for stream, list := range map[string]string{StreamProducts: "/products", StreamCategories: "/categories", StreamIngredients: "/ingredients"} {
		all, since := h.walk(list), h.walk(list+"?updated_since=0001-01-01T00:00:00Z")
		missing := len(all) - len(since)
		if missing < len(all)/4 || bytes.Contains(slices.Concat(toBytes(since)...), []byte(`"updated_at":null`)) {
			t.Errorf("%s: %d rows, %d with updated_since", list, len(all), len(since))
		}
		id := h.Restaurant(0).IDs(stream)[1]
		if err := h.Restaurant(0).Delete(stream, id); err != nil {
			t.Fatal(err)
		}
		future := h.clock.Add(time.Hour).Format(time.RFC3339)
		rows := h.walk(list + "?updated_since=" + future)
		if len(rows) != 1 || strict[types.Tombstone](t, rows[0]).UpdatedAt != nil {
			t.Errorf("%s: tombstones %s", list, rows)
		}
	}
	ids := h.Restaurant(0).IDs(StreamSalesOrders)
	if err := h.Restaurant(0).Delete(StreamSalesOrders, ids...); err != nil {
		t.Fatal(err)
	}
	rows := h.walk("/sales/orders?limit=10&updated_since=" + h.clock.Add(time.Hour).Format(time.RFC3339))
	if len(rows) < len(ids)/6 || len(rows) > len(ids)/3 {
		t.Errorf("%d of %d order tombstones without a stamp", len(rows), len(ids))
	}
}

func toBytes(rows []json.RawMessage) [][]byte {
	out := make([][]byte, len(rows))
	for i, r := range rows {
		out[i] = r
	}
	return out
}

// Changes show up to StampDelay after their stamp, and never later.
func TestReadingStampDelay(t *testing.T) {
	h := newHarness(t, Options{Live: true, NoLimits: true, Orders: 60_000, Days: 30, Readings: Readings{StampDelay: 2 * time.Minute}})
	h.clock = h.clock.Add(10 * time.Minute)
	at := h.clock
	seen := mirrored{}
	newest := seen.upsert(t, h.walk("/sales/orders?limit=200&updated_since="+testEpoch.Format(time.RFC3339)))
	if newest == "" {
		t.Fatal("nothing happened")
	}
	h.clock = at.Add(2 * time.Minute)
	late := 0
	for _, row := range h.walk("/sales/orders?limit=200&updated_since=" + testEpoch.Format(time.RFC3339)) {
		var o struct {
			ID        string
			UpdatedAt time.Time `json:"updated_at"`
		}
		if err := json.Unmarshal(row, &o); err != nil {
			t.Fatal(err)
		}
		if _, known := seen[o.ID]; known || o.UpdatedAt.After(at) {
			continue
		}
		late++
		if o.UpdatedAt.Before(at.Add(-2 * time.Minute)) {
			t.Errorf("shown more than two minutes late: %s", row)
		}
	}
	if late == 0 {
		t.Error("nothing was stamped in the past")
	}
}

// With stamps of whole seconds many rows share one.
func TestReadingStampPrecision(t *testing.T) {
	for precision, layout := range map[time.Duration]string{time.Second: "2006-01-02T15:04:05Z", time.Millisecond: "2006-01-02T15:04:05.000Z", time.Microsecond: "2006-01-02T15:04:05.000000Z",
		100 * time.Nanosecond: "2006-01-02T15:04:05.0000000Z", time.Nanosecond: "2006-01-02T15:04:05.000000000Z"} {
		h := newHarness(t, Options{Orders: 50, Readings: Readings{StampPrecision: precision}})
		for _, row := range h.walk("/sales/orders") {
			o := strict[types.SalesOrder](t, row)
			at := must(time.Parse(time.RFC3339, string(o.UpdatedAt)))(t)
			if at.Format(layout) != string(o.UpdatedAt) || len(layout) != len(o.UpdatedAt) {
				t.Fatalf("%s: %s", precision, o.UpdatedAt)
			}
		}
	}
}

// Ids are unique within a restaurant only.
func TestReadingSharedIDs(t *testing.T) {
	h := newHarness(t, Options{Businesses: 2, Orders: 50, Readings: Readings{SharedIDs: true}})
	for _, stream := range []string{StreamProducts, StreamIngredients, StreamCategories} {
		a, b := h.Restaurant(0).IDs(stream), h.Restaurant(1).IDs(stream)
		if n := min(len(a), len(b)); n == 0 || !slices.Equal(a[:n], b[:n]) {
			t.Errorf("%s: ids differ", stream)
		}
	}
	if h.Restaurant(0).ID() == h.Restaurant(1).ID() {
		t.Error("the restaurants share an id")
	}
}

// Ids with slashes, percent signs, quotes, spaces, emoji and differing only in
// case work in every route.
func TestReadingStrangeIDs(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 60, Readings: Readings{StrangeIDs: true}})
	folded := map[string]int{}
	for stream, list := range lists {
		ids := h.Restaurant(0).IDs(stream)
		for _, id := range ids {
			folded[stream+strings.ToLower(id)]++
			if stream == StreamCategories {
				continue
			}
			a := h.get(list + "/" + url.PathEscape(id))
			if a.status != 200 || idOf(t, a.body) != id {
				t.Fatalf("%s %q: %d %s", list, id, a.status, a.body)
			}
		}
		if strings.IndexByte(strings.Join(ids, ""), '/') < 0 {
			t.Errorf("%s: no slash in %q", stream, ids[:3])
		}
	}
	pairs := 0
	for _, n := range folded {
		if n == 2 {
			pairs++
		}
	}
	if pairs < 10 {
		t.Errorf("%d pairs differ in case only", pairs)
	}
	loc := h.Restaurant(0).LocationIDs()[1]
	if a := h.get("/products?limit=3&location_id=" + url.QueryEscape(loc)); a.status != 200 {
		t.Errorf("location %q: %d", loc, a.status)
	}
}

// An inactive location leaves /locations and /me; its rows stay, or not.
func TestReadingInactiveLocations(t *testing.T) {
	for hidden, keeps := range map[bool]bool{false: true, true: false} {
		h := newHarness(t, Options{NoLimits: true, Orders: 300, Readings: Readings{InactiveRowsHidden: hidden}})
		r := h.Restaurant(0)
		gone := r.LocationIDs()[1]
		if err := r.SetLocationActive(gone, false); err != nil {
			t.Fatal(err)
		}
		if me := ok[types.Me](h, "/me"); slices.Contains(me.LocationIDs, gone) || len(me.LocationIDs) != 1 {
			t.Errorf("/me: %v", me.LocationIDs)
		}
		if n := len(ok[struct{ Data []types.Location }](h, "/locations").Data); n != 1 {
			t.Errorf("%d locations", n)
		}
		h.refused(h.get("/locations/"+gone), 404, "not_found")
		for _, list := range []string{"/products?limit=200", "/ingredients?limit=200", "/sales/orders?limit=200"} {
			kept := false
			for _, row := range h.walk(list) {
				kept = kept || bytes.Contains(row, []byte(gone))
			}
			if kept != keeps {
				t.Errorf("hidden %v: %s keeps rows: %v", hidden, list, kept)
			}
		}
		h.checkTotals(t, "")
	}
}

// Maps of the daily totals gain keys, and orders values.
func TestReadingNewMapKeys(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 3000, Readings: Readings{NewMapKeys: true}})
	b := ok[dailySales](h, "/sales/daily?from=2026-01-20&to=2026-03-20").Totals
	if b.Payments["meal_ticket"] == "0.00" || b.ByType["catering"] == "0.00" || b.ByChannel["platform_c"] == "0.00" {
		t.Errorf("%+v", b)
	}
	for _, m := range []types.Money{b.Payments["meal_ticket"], b.ByType["catering"], b.ByChannel["platform_c"]} {
		if m == "" {
			t.Errorf("no new key in %+v", b)
		}
	}
	h.checkTotals(t, "")
}

func TestReadingLooseRange(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Readings: Readings{LooseRange: true}})
	for uri, want := range map[string]int{"/sales/daily?from=2026-01-01&to=2026-04-03": 200, "/sales/daily?from=2026-01-01&to=2026-04-04": 422} {
		if a := h.get(uri); a.status != want {
			t.Errorf("%s: %d", uri, a.status)
		}
	}
}

// A permanently deleted product leaves without a tombstone and takes the
// product_id of its sold lines along, without a new stamp.
func TestPermanentDeletion(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 500})
	id := h.Restaurant(0).IDs(StreamProducts)[0]
	before := h.walk("/sales/orders?limit=200&from=2026-01-20&to=2026-03-20")
	h.clock = h.clock.Add(time.Minute)
	since := h.clock.Format(time.RFC3339)
	if err := h.Restaurant(0).Purge(StreamProducts, id); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"/products?updated_since=" + since, "/sales/orders?updated_since=" + since} {
		if rows := h.walk(list); len(rows) != 0 {
			t.Errorf("%s: %s", list, rows)
		}
	}
	h.refused(h.get("/products/"+id), 404, "not_found")
	after := h.walk("/sales/orders?limit=200&from=2026-01-20&to=2026-03-20")
	lost := 0
	for i := range before {
		if bytes.Contains(after[i], []byte(id)) {
			t.Fatalf("still there: %s", after[i])
		}
		if bytes.Contains(before[i], []byte(id)) {
			lost++
		}
		a, b := strict[types.SalesOrder](t, before[i]), strict[types.SalesOrder](t, after[i])
		if a.UpdatedAt != b.UpdatedAt || a.Totals != b.Totals {
			t.Fatalf("changed: %s", after[i])
		}
	}
	if lost == 0 {
		t.Error("the product was never sold")
	}
	h.checkTotals(t, "")
}

// A row that moves away from a limited key's location is not announced to it.
func TestMovedRow(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 50})
	r := h.Restaurant(0)
	limited := h.Key(0, RoleLimited).Value
	mine := r.LocationIDs()[0]
	var id string
	for _, row := range h.walk("/products?location_id=" + mine) {
		id = idOf(t, row)
	}
	h.clock = h.clock.Add(time.Minute)
	since := "/products?updated_since=" + h.clock.Format(time.RFC3339)
	if err := r.Move(StreamProducts, id, r.LocationIDs()[1]); err != nil {
		t.Fatal(err)
	}
	if rows := h.walk(since); len(rows) != 1 || idOf(t, rows[0]) != id {
		t.Errorf("the full key sees %s", rows)
	}
	h.key = limited
	if rows := h.walk(since); len(rows) != 0 {
		t.Errorf("the limited key sees %s", rows)
	}
	h.refused(h.get("/products/"+id), 404, "not_found")
}

// A page may hold fewer rows than were asked for; the walk is whole all the same.
func TestReadingShortPages(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 60, Readings: Readings{ShortPages: 7}})
	for stream, list := range lists {
		page := ok[struct {
			Data    []json.RawMessage
			Next    *string `json:"next_cursor"`
			HasMore bool    `json:"has_more"`
			From    string  `json:"from"`
			To      string  `json:"to"`
		}](h, list+"?limit=200")
		rows := h.walk(list + "?limit=200")
		if len(page.Data) > 7 || page.HasMore != (len(rows) > 7) || stream == StreamProducts && len(rows) < 8 {
			t.Errorf("%s: a page of %d rows, has_more %v, %d in all", list, len(page.Data), page.HasMore, len(rows))
		}
	}
}

// Behind each page with rows there may be pages without any, each under a new cursor; the
// walk is whole and ends all the same.
func TestReadingEmptyPages(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 60, Readings: Readings{EmptyPages: 3}})
	plain := newHarness(t, Options{NoLimits: true, Orders: 60})
	for _, list := range lists {
		uri := list + "?limit=7"
		rows, cursors, pages := 0, map[string]bool{}, 0
		for next := uri; ; pages++ {
			p := ok[page](h, next)
			rows += len(p.Data)
			if !p.HasMore {
				break
			}
			cursors[*p.NextCursor] = true
			next = withCursor(uri, *p.NextCursor)
		}
		if want := len(plain.walk(uri)); rows != want || len(cursors) != pages || pages < 4*(want/7) {
			t.Errorf("%s: %d rows of %d, %d cursors in %d pages", list, rows, want, len(cursors), pages)
		}
	}
}
