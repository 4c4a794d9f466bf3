package sandbox

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// A request that is malformed, has an impossible date, a broken cursor or a filter that does not
// go with a sync is answered with 422, and details.fields names the fields.
func TestValidation(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 300})
	cursor := *ok[page](h, "/products?limit=1").NextCursor
	for _, c := range []struct{ uri, field string }{
		{"/products?limit=0", "limit"}, {"/products?limit=201", "limit"}, {"/products?limit=abc", "limit"}, {"/products?limit=", "limit"}, {"/products?limit=1.5", "limit"}, {"/products?limit=%2B5", "limit"},
		{"/products?updated_since=yesterday", "updated_since"}, {"/products?updated_since=2026-02-30T00:00:00Z", "updated_since"},
		{"/products?updated_since=0000-01-01T00:00:00Z", "updated_since"}, {"/products?updated_since=0001-01-01T00:00:00%2B02:00", "updated_since"},
		{"/products?updated_since=10000-01-01T00:00:00Z", "updated_since"}, {"/products?updated_since=9999-12-31T23:59:59.5Z", "updated_since"}, {"/products?updated_since=2026-01-01T00:00:00+02:00", "updated_since"},
		{"/products?include_deleted=yes", "include_deleted"}, {"/products?available=1", "available"},
		{"/products?category_id=x&updated_since=2026-01-01T00:00:00Z", "category_id"}, {"/products?category_id=x&include_deleted=true", "category_id"},
		{"/products?available=true&updated_since=2026-01-01T00:00:00Z", "available"}, {"/products?available=false&include_deleted=true", "available"},
		{"/ingredients?below_min=true&updated_since=2026-01-01T00:00:00Z", "below_min"}, {"/ingredients?below_min=false&include_deleted=true", "below_min"}, {"/ingredients?below_min=2", "below_min"},
		{"/products?cursor=", "cursor"}, {"/products?cursor=abc", "cursor"}, {"/products?cursor=" + cursor + "A", "cursor"}, {"/products?cursor=" + flipped(cursor), "cursor"},
		{"/categories?cursor=" + cursor, "cursor"}, {"/products?include_deleted=true&cursor=" + cursor, "cursor"}, {"/products?updated_since=2020-01-01T00:00:00Z&cursor=" + cursor, "cursor"},
		{"/sales/orders?from=2026-13-01", "from"}, {"/sales/orders?to=1899-12-31", "to"}, {"/sales/orders?to=10000-01-01", "to"}, {"/sales/orders?from=2026-03-02&to=2026-03-01", "from"},
		{"/sales/orders?from=2026-01-01&to=2026-04-03", "to"}, {"/sales/orders?from=2025-01-01", "to"}, {"/sales/orders?from=2026-03-01&updated_since=2026-03-01T00:00:00Z", "from"}, {"/sales/orders?to=2026-03-01&updated_since=2026-03-01T00:00:00Z", "to"},
		{"/sales/daily?from=2026-01-01&to=2026-04-03", "to"}, {"/sales/daily?from=x", "from"}, {"/sales/products?group_by=week", "group_by"}, {"/sales/products?from=2026-01-01&to=2026-04-03", "to"},
	} {
		e := h.refused(h.get(c.uri), 422, "validation_failed")
		if len(e.Error.Details.Fields[c.field]) == 0 {
			t.Errorf("%s: fields %v, want %s", c.uri, e.Error.Details.Fields, c.field)
		}
	}
	for _, uri := range []string{
		"/products?updated_since=0001-01-01T00:00:00Z", "/products?updated_since=9999-12-31T23:59:59Z", "/products?updated_since=2026-01-01T00:00:00", "/products?updated_since=2026-01-01T00:00:00.123456789%2B02:00",
		"/products?limit=200", "/products?limit=7&cursor=" + cursor, "/products?available=true&include_deleted=false", "/products?unknown=1",
		"/sales/orders?from=2026-01-01&to=2026-04-02", "/sales/daily?from=9999-12-20&to=9999-12-31", "/sales/daily?from=1900-01-01&to=1900-01-02", "/sales/daily?to=1900-01-01",
	} {
		if a := h.get(uri); a.status != 200 {
			t.Errorf("%s: %d %s", uri, a.status, a.body)
		}
	}
}

func flipped(cursor string) string {
	b := []byte(cursor)
	b[3] ^= 1
	return string(b)
}

// A missing, wrong or deleted key is answered with 401 and a disabled one with 403, all without
// the headers of limits (docs/openapi.yaml, Limits a minute).
func TestKeyStates(t *testing.T) {
	h := newHarness(t, Options{})
	for _, c := range []struct {
		key    string
		status int
		code   string
	}{
		{"", 401, "unauthorized"}, {"svc_live_wrong", 401, "unauthorized"}, {h.Key(0, RoleDisabled).Value, 403, "api_key_disabled"},
	} {
		a := h.do("GET", c.key, "/me")
		h.refused(a, c.status, c.code)
		if a.header.Get("X-RateLimit-Limit") != "" {
			t.Errorf("%s carries rate-limit headers", c.code)
		}
	}
	if err := h.UpdateKey(h.key, func(k *Key) { k.State = KeyDeleted }); err != nil {
		t.Fatal(err)
	}
	h.refused(h.get("/me"), 401, "unauthorized")
}

// docs/openapi.yaml, Keys: a regenerated key may keep the old one valid.
func TestRotation(t *testing.T) {
	h := newHarness(t, Options{})
	fresh, err := h.RotateKey(h.key, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{h.key, fresh.Value} {
		if a := h.do("GET", key, "/me"); a.status != 200 {
			t.Fatalf("%d within the overlap", a.status)
		}
	}
	h.clock = h.clock.Add(24 * time.Hour)
	h.refused(h.get("/me"), 401, "unauthorized")
	if a := h.do("GET", fresh.Value, "/me"); a.status != 200 {
		t.Fatalf("new key: %d", a.status)
	}
}

// docs/openapi.yaml, Keys: insufficient_scope with its details; GET /me needs
// no scope; GET /locations takes either of two.
func TestScopes(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true})
	sales, orders := h.Key(0, RoleSales), h.Key(0, RoleOrders)
	e := h.refused(h.do("GET", sales.Value, "/locations"), 403, "insufficient_scope").Error.Details
	if e.RequiredScope != "locations:read" || !slices.Equal(e.RequiredScopes, []string{"locations:read", "orders:write"}) || !slices.Equal(e.GrantedScopes, []string{"sales:read"}) {
		t.Errorf("details %+v", e)
	}
	for _, uri := range []string{"/products", "/categories", "/allergens", "/products/x", "/ingredients", "/ingredients/x"} {
		h.refused(h.do("GET", sales.Value, uri), 403, "insufficient_scope")
	}
	for _, uri := range []string{"/sales/daily", "/sales/products", "/sales/orders", "/sales/orders/x"} {
		h.refused(h.do("GET", orders.Value, uri), 403, "insufficient_scope")
	}
	for key, uri := range map[string]string{sales.Value: "/me", orders.Value: "/locations"} {
		if a := h.do("GET", key, uri); a.status != 200 {
			t.Errorf("%s: %d %s", uri, a.status, a.body)
		}
	}
}

// docs/openapi.yaml, /locations: a key with only orders:write gets 403 api_disabled while
// online ordering is off; with locations:read the status is disabled.
func TestOrderingOff(t *testing.T) {
	h := newHarness(t, Options{Readings: Readings{OrderingOff: true}})
	h.refused(h.do("GET", h.Key(0, RoleOrders).Value, "/locations"), 403, "api_disabled")
	for _, l := range ok[struct{ Data []types.Location }](h, "/locations").Data {
		if l.Ordering.Status != "disabled" || l.Ordering.Accepting {
			t.Errorf("ordering %+v", l.Ordering)
		}
	}
}

// docs/openapi.yaml, Keys: ids outside the key's locations give 404, an
// explicit location_id outside them 403, an unknown one 404.
func TestLocationLimits(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 400})
	limited := h.Key(0, RoleLimited)
	mine, other := h.Restaurant(0).LocationIDs()[0], h.Restaurant(0).LocationIDs()[1]
	for _, list := range []string{"/categories", "/products", "/ingredients", "/sales/orders", "/sales/daily", "/sales/products"} {
		h.refused(h.do("GET", limited.Value, list+"?location_id="+url.QueryEscape(other)), 403, "location_forbidden")
		h.refused(h.do("GET", limited.Value, list+"?location_id=nowhere"), 404, "not_found")
		if a := h.do("GET", limited.Value, list+"?location_id="+url.QueryEscape(mine)); a.status != 200 {
			t.Errorf("%s of its own location: %d", list, a.status)
		}
	}
	foreign := map[string]string{}
	for _, row := range h.walk("/products?limit=200&location_id=" + other) {
		foreign["/products/"] = strict[types.Product](t, row).ID
	}
	for _, row := range h.walk("/ingredients?limit=200&location_id=" + other) {
		foreign["/ingredients/"] = strict[types.Ingredient](t, row).ID
	}
	for _, row := range h.walk("/sales/orders?limit=200&location_id=" + other) {
		foreign["/sales/orders/"] = strict[types.SalesOrder](t, row).ID
	}
	foreign["/locations/"] = other
	for route, id := range foreign {
		if a := h.get(route + url.PathEscape(id)); a.status != 200 {
			t.Errorf("%s%s: %d", route, id, a.status)
		}
		h.refused(h.do("GET", limited.Value, route+url.PathEscape(id)), 404, "not_found")
		h.refused(h.get(route+"unknown"), 404, "not_found")
	}
	h.key = limited.Value
	for _, row := range h.walk("/products?limit=200") {
		if p := strict[types.Product](t, row); p.LocationID != mine {
			t.Fatalf("product of %s", p.LocationID)
		}
	}
	me := ok[types.Me](h, "/me")
	if !slices.Equal(me.LocationIDs, []string{mine}) || me.AllLocations {
		t.Errorf("me %+v", me)
	}
}

// docs/openapi.yaml, Tombstone.
func TestTombstones(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: -1})
	r := h.Restaurant(0)
	h.clock = h.clock.Add(time.Minute)
	since := "updated_since=" + url.QueryEscape(h.clock.Format(time.RFC3339))
	for stream, list := range map[string]string{StreamCategories: "/categories", StreamProducts: "/products", StreamIngredients: "/ingredients"} {
		id := r.IDs(stream)[0]
		if err := r.Delete(stream, id); err != nil {
			t.Fatal(err)
		}
		rows := h.walk(list + "?" + since)
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows", list, len(rows))
		}
		if d := strict[types.Tombstone](t, rows[0]); d.ID != id || !d.Deleted || d.DeletedAt == nil || d.UpdatedAt == nil || d.Reason != "" {
			t.Errorf("%s: tombstone %s", list, rows[0])
		}
		if all, live := len(h.walk(list+"?include_deleted=true")), len(h.walk(list)); all != live+1 {
			t.Errorf("%s: %d rows with tombstones, %d without", list, all, live)
		}
		if list != "/categories" {
			h.refused(h.get(list+"/"+id), 404, "not_found")
		}
	}
}

// docs/openapi.yaml, /sales/orders: in a sync, an order that is no sale any more comes as a
// tombstone with the reason. In range mode deleted orders come with include_deleted only. The
// route of one order answers 404 for what is no sale.
func TestOrderTombstones(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: -1})
	r := h.Restaurant(0)
	end := map[string]func(string) error{rows.ReasonCancelled: r.CancelOrder, rows.ReasonUnpaid: r.UnpayOrder, rows.ReasonDeleted: r.DeleteOrder}
	want := map[string]string{}
	for reason, do := range end {
		id := must(r.PlaceOrder(OrderSpec{}))(t)
		if a := h.get("/sales/orders/" + id); a.status != 200 {
			t.Fatalf("a sale: %d", a.status)
		}
		h.clock = h.clock.Add(time.Second)
		if err := do(id); err != nil {
			t.Fatal(err)
		}
		want[id] = reason
		h.refused(h.get("/sales/orders/"+id), 404, "not_found")
	}
	open := must(r.PlaceOrder(OrderSpec{Unpaid: true}))(t)
	h.refused(h.get("/sales/orders/"+open), 404, "not_found")
	got := map[string]string{}
	for _, row := range h.walk("/sales/orders?updated_since=2020-01-01T00:00:00Z") {
		d := strict[types.Tombstone](t, row)
		got[d.ID] = d.Reason
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("mirror mode: %v, want %v", got, want)
	}
	if rows := h.walk("/sales/orders"); len(rows) != 0 {
		t.Errorf("range mode shows %s", rows)
	}
	listed := h.walk("/sales/orders?include_deleted=true")
	if len(listed) != 1 || strict[types.Tombstone](t, listed[0]).Reason != rows.ReasonDeleted {
		t.Errorf("range mode with tombstones: %s", listed)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// docs/openapi.yaml, Lists with a cursor: default 50, at most 200; range mode carries from and to,
// default the last 7 days.
func TestPages(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true})
	if p := ok[page](h, "/products"); len(p.Data) != 50 || !p.HasMore {
		t.Errorf("%d rows", len(p.Data))
	}
	p := ok[page](h, "/sales/orders")
	if p.From != "2026-03-14" || p.To != "2026-03-20" {
		t.Errorf("range %s to %s", p.From, p.To)
	}
	if p := ok[page](h, "/sales/orders?to=2026-03-10"); p.From != "2026-03-04" || p.To != "2026-03-10" {
		t.Errorf("range %s to %s", p.From, p.To)
	}
	if strings.Contains(string(h.get("/products?limit=1").body), `"from"`) {
		t.Error("a products page has from")
	}
	for i, row := range h.walk("/sales/orders?from=2026-02-01&to=2026-02-28&limit=37") {
		o := strict[types.SalesOrder](t, row)
		if o.BusinessDay < "2026-02-01" || o.BusinessDay > "2026-02-28" {
			t.Fatalf("row %d: day %s", i, o.BusinessDay)
		}
	}
}

// A walk without from and to keeps its days when midnight passes.
func TestRangeWalkOverMidnight(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true})
	h.clock = time.Date(2026, 3, 20, 21, 59, 59, 0, time.UTC) // 23:59:59 in Bucharest
	p := ok[page](h, "/sales/orders?limit=5")
	h.clock = h.clock.Add(2 * time.Second)
	if q := ok[page](h, "/sales/orders?limit=5&cursor="+*p.NextCursor); q.From != p.From || q.To != p.To {
		t.Errorf("%s to %s became %s to %s", p.From, p.To, q.From, q.To)
	}
}

// Methods, HEAD, and unknown addresses, whose answers have no headers of limits.
func TestAddresses(t *testing.T) {
	h := newHarness(t, Options{})
	a := h.do("HEAD", h.key, "/products")
	if a.status != 200 || len(a.body) != 0 || a.header.Get("X-RateLimit-Remaining") != "119" || a.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d, %d bytes, %v", a.status, len(a.body), a.header)
	}
	a = h.do("POST", h.key, "/products")
	h.refused(a, 405, "method_not_allowed")
	if a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
	for _, uri := range []string{"/", "/nothing", "/products/", "/products/a/b", "/v1/me", "/sales"} {
		a := h.get(uri)
		h.refused(a, 404, "not_found")
		if a.header.Get("X-RateLimit-Limit") != "" {
			t.Errorf("%s carries rate-limit headers", uri)
		}
	}
	if got := h.get("/me").header.Get("Date"); got != "Fri, 20 Mar 2026 10:00:00 GMT" {
		t.Errorf("Date %q", got)
	}
}

func TestGzip(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true})
	for accept, zipped := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "*": true, "gzip;q=0": false, "": false, "identity": false} {
		r := httptest.NewRequest(http.MethodGet, "/v1/products", nil)
		r.Header.Set("Authorization", "Bearer "+h.key)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != zipped {
			t.Fatalf("%q: zipped %v", accept, got)
		}
		var p page
		var err error
		if !zipped {
			err = json.Unmarshal(w.Body.Bytes(), &p)
		} else if z, zerr := gzip.NewReader(w.Body); zerr != nil {
			err = zerr
		} else {
			err = json.NewDecoder(z).Decode(&p)
		}
		if err != nil || len(p.Data) != 50 {
			t.Errorf("%q: %v", accept, err)
		}
	}
}
