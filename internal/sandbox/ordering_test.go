package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// docs/openapi.yaml, Order: what the service answers to an order with everything in it.
func TestPlaceAnOrder(t *testing.T) {
	s := newShop(t, Options{ProductsPer: 130})
	pizza := s.dish(func(p types.MenuProduct) bool { return len(p.Variants) > 0 && len(p.ExtraGroups) > 0 })
	bottle := s.dish(func(p types.MenuProduct) bool { return p.Deposit != nil })
	extra := pizza.ExtraGroups[0].Options[0]
	a := s.post(object{
		"external_id": "site-1", "location_id": s.location, "type": "delivery", "scheduled_for": nil,
		"customer": object{"name": "Ana Pop", "phone": "+40712345678", "email": nil},
		"delivery": object{"address": "Str. Lungă 1", "city": "Cluj", "notes": "etaj 2", "lat": 46.7712, "lng": 23.6236},
		"items": []any{
			object{"product_id": pizza.ID, "variant_id": pizza.Variants[1].ID, "quantity": 2, "options": []any{object{"id": extra.ID, "quantity": 3}}, "notes": "bine coaptă"},
			object{"product_id": bottle.ID, "variant_id": nil, "quantity": 4},
		},
		"notes": "repede", "allergies": "nuci", "cutlery": true, "tip": "5.5", "payment": object{"status": "unpaid", "method": "la curier", "reference": nil},
		"unknown_field": object{"is": "ignored"},
	})
	o := s.created(a)
	sameShape[types.OnlineOrder](t, a.body)
	each := lei(t, pizza.Variants[1].Price) + 3*lei(t, extra.Price)
	items := 2*each + 4*lei(t, bottle.Price)
	deposit := 4 * lei(t, *bottle.Deposit)
	if got := fmt.Sprint(o.Items[0].Total, o.Items[1].Total, o.Items[1].Deposit, o.Totals); got != fmt.Sprint((2*each).Money(), (4*lei(t, bottle.Price)).Money(), deposit.Money(),
		types.OnlineTotals{Items: types.Money(items.Money()), Deposit: types.Money(deposit.Money()), Tip: "5.50", Total: types.Money((items + deposit + 550).Money())}) {
		t.Errorf("prices: %s", got)
	}
	first := o.Items[0]
	if first.Name != pizza.Name || *first.VariantName != pizza.Variants[1].Name || first.UnitPrice != pizza.Variants[1].Price || first.Options[0].Name != extra.Name || first.Options[0].Quantity != 3 || *first.Notes != "bine coaptă" {
		t.Errorf("item %+v", first)
	}
	if o.Status != "received" || o.Test || o.Number == nil || o.ExternalID != "site-1" || o.Payment.Status != "unpaid" || string(*o.Delivery.Lat) != "46.7712" || o.PickupCode != nil {
		t.Errorf("order %+v", o)
	}
	if *o.PlacedAt != "2026-03-20T10:00:00.000Z" || *o.AnswerBy != "2026-03-20T10:05:00.000Z" || o.UpdatedAt != *o.PlacedAt || o.AcceptedAt != nil || o.EstimatedReadyAt != nil {
		t.Errorf("instants %s %s %s", *o.PlacedAt, *o.AnswerBy, o.UpdatedAt)
	}
	again := s.read(o.ID)
	if fmt.Sprint(again.Totals, again.UpdatedAt, *again.Customer) != fmt.Sprint(o.Totals, o.UpdatedAt, *o.Customer) {
		t.Errorf("GET /orders/{id} answers %+v", again)
	}
}

// docs/openapi.yaml, OrderRequest, field by field. An order that is refused is not created.
func TestWhatAnOrderMustLookLike(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	long := func(n int) string { return strings.Repeat("ă", n) }
	for _, c := range []struct {
		path  string
		value any
		field string // "" when it is fine
	}{
		{"external_id", absent, "external_id"}, {"external_id", "", "external_id"}, {"external_id", 7, "external_id"}, {"external_id", long(64), ""}, {"external_id", long(65), "external_id"},
		{"location_id", absent, "location_id"}, {"location_id", nil, "location_id"}, {"location_id", "nowhere", "location_id"},
		{"type", absent, "type"}, {"type", "dine_in", "type"}, {"type", true, "type"},
		{"scheduled_for", nil, ""}, {"scheduled_for", "soon", "scheduled_for"}, {"scheduled_for", 5, "scheduled_for"}, {"scheduled_for", "0000-01-01T00:00:00Z", "scheduled_for"}, {"scheduled_for", "1970-01-01T00:00:00Z", "scheduled_for"},
		{"customer", absent, "customer"}, {"customer", "Ana", "customer"}, {"customer.name", absent, "customer.name"}, {"customer.name", "", "customer.name"}, {"customer.name", long(120), ""}, {"customer.name", long(121), "customer.name"},
		{"customer.phone", absent, "customer.phone"}, {"customer.phone", "12345", "customer.phone"}, {"customer.phone", "123456", ""}, {"customer.phone", long(40), ""}, {"customer.phone", long(41), "customer.phone"},
		{"customer.email", nil, ""}, {"customer.email", long(190), ""}, {"customer.email", long(191), "customer.email"}, {"customer.email", 1, "customer.email"},
		{"type", "delivery", "delivery"}, {"delivery", "x", "delivery"}, {"delivery", object{"city": "Cluj"}, "delivery.address"}, {"delivery", object{"address": long(255)}, ""}, {"delivery", object{"address": long(256)}, "delivery.address"},
		{"delivery", object{"address": "x", "notes": long(256)}, "delivery.notes"}, {"delivery", object{"address": "x", "lat": "46"}, "delivery.lat"}, {"delivery", nil, ""},
		{"items", absent, "items"}, {"items", []any{}, "items"}, {"items", object{}, "items"}, {"items", make([]any, 101), "items"}, {"items", []any{7}, "items.0"},
		{"items.0.product_id", absent, "items.0.product_id"}, {"items.0.quantity", absent, "items.0.quantity"}, {"items.0.quantity", 0, "items.0.quantity"}, {"items.0.quantity", 99, ""}, {"items.0.quantity", 100, "items.0.quantity"},
		{"items.0.quantity", -1, "items.0.quantity"}, {"items.0.quantity", 1.5, "items.0.quantity"}, {"items.0.quantity", "1", "items.0.quantity"}, {"items.0.quantity", 1e30, "items.0.quantity"},
		{"items.0.notes", long(200), ""}, {"items.0.notes", long(201), "items.0.notes"}, {"items.0.options", "none", "items.0.options"}, {"items.0.options", nil, ""},
		{"items.0.options", []any{object{"quantity": 1}}, "items.0.options.0.id"}, {"items.0.options", []any{object{"id": "x", "quantity": 11}}, "items.0.options.0.quantity"},
		{"notes", long(500), ""}, {"notes", long(501), "notes"}, {"allergies", long(255), ""}, {"allergies", long(256), "allergies"}, {"cutlery", nil, ""}, {"cutlery", "no", "cutlery"},
		{"tip", nil, ""}, {"tip", "0", ""}, {"tip", "1.5", ""}, {"tip", "1.555", "tip"}, {"tip", "-1", "tip"}, {"tip", 1, "tip"}, {"tip", "", "tip"}, {"tip", "1e3", "tip"}, {"tip", "99999999999999999999", "tip"}, {"tip", ".5", "tip"}, {"tip", "5.", "tip"},
		{"payment", absent, "payment"}, {"payment.status", absent, "payment.status"}, {"payment.status", "later", "payment.status"}, {"payment.method", "orice", ""}, {"payment.method", 1, "payment.method"},
		{"payment.reference", long(100), ""}, {"payment.reference", long(101), "payment.reference"}, {"expected_total", nil, ""}, {"expected_total", 12.5, "expected_total"}, {"expected_total", "12,50", "expected_total"},
	} {
		name := fmt.Sprintf("%s=%.40v", c.path, c.value)
		before := s.count()
		a := s.post(s.order(c.path, c.value))
		if c.field == "" {
			if a.status != 201 {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			s.clock = s.clock.Add(time.Second)
			s.forget()
			continue
		}
		fields, _ := s.details(a, 422, "validation_failed")["fields"].(object)
		if len(fields) != 1 || fields[c.field] == nil {
			t.Errorf("%s: fields %v, want %s", name, fields, c.field)
		}
		if s.count() != before {
			t.Errorf("%s: a refused order was made", name)
		}
	}
}

// forget keeps the list of orders short.
func (s *shop) forget() {
	s.t.Helper()
	for _, o := range ok[onlinePage](s.harness, "/orders?limit=100&updated_since=2020-01-01T00:00:00Z").Data {
		if o.Status == "received" {
			s.send("POST", s.key, "/orders/"+url.PathEscape(o.ID)+"/cancel", "")
		}
	}
}

// A body that is no JSON object, or larger than 64 KB, is answered with 400 bad_request.
func TestABodyThatIsNoObject(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	for _, body := range []string{"", "null", "[]", `"x"`, "7", "{", `{"a":1}{`, `{"a":1} x`, "\xff\xfe", strings.Repeat(`{"a":`, 20_000)} {
		s.details(s.send("POST", s.key, "/orders", body), 400, "bad_request")
	}
	fits := func(n int) string {
		b := string(units.JSON(s.order("payment.method", "")))
		return strings.Replace(b, `"method":""`, `"method":"`+strings.Repeat("x", n-len(b))+`"`, 1)
	}
	if body := fits(64 << 10); len(body) != 64<<10 {
		t.Fatalf("%d bytes", len(body))
	} else if a := s.send("POST", s.key, "/orders", body); a.status != 201 {
		t.Errorf("64 KB: %d %.200s", a.status, a.body)
	}
	s.details(s.send("POST", s.key, "/orders", fits(64<<10+1)), 400, "bad_request")
}

// docs/openapi.yaml, /orders: an external_id that the key has used before is answered with the
// order of then, unchanged, and Idempotent-Replayed.
func TestPlacingTwice(t *testing.T) {
	s := newShop(t, Options{})
	body := s.order()
	o := s.created(s.post(body))
	for _, again := range []object{body, s.order("external_id", o.ExternalID, "items.0.quantity", 9), {"external_id": o.ExternalID}} {
		s.clock = s.clock.Add(time.Second)
		a := s.post(again)
		if got := strict[types.OnlineOrder](t, a.body); a.status != 200 || a.header.Get("Idempotent-Replayed") != "true" || got.ID != o.ID || got.UpdatedAt != o.UpdatedAt || got.Totals != o.Totals {
			t.Errorf("%d %v %+v", a.status, a.header, got)
		}
	}
	if a := s.post(s.order()); a.header.Get("Idempotent-Replayed") != "" {
		t.Error("a new order says that it is replayed")
	}
	// Unique per key, not per restaurant.
	other := s.AddKey(Key{Scopes: []string{types.ScopeOrders}, AllLocations: true})
	a := s.send("POST", other.Value, "/orders", string(units.JSON(s.order("external_id", o.ExternalID))))
	if second := s.created(a); second.ID == o.ID {
		t.Error("another key got the first one's order")
	}
	if s.count() != 2 {
		t.Errorf("%d orders", s.count())
	}
}

// An order with another expected_total than the service's total is refused with price_changed. The
// same external_id may then be used with the new total.
func TestExpectedTotal(t *testing.T) {
	s := newShop(t, Options{})
	p := s.dish(plainDish)
	right := lei(t, p.Price)
	body := s.order("expected_total", (right + 1).Money())
	if d := s.details(s.post(body), 409, "price_changed"); d != nil {
		t.Errorf("details %v", d)
	}
	set(t, body, "expected_total", right.Money())
	if o := s.created(s.post(body)); lei(t, o.Totals.Total) != right {
		t.Errorf("total %s", o.Totals.Total)
	}
	// An amount may have fewer decimals: 31, 31.0 and 31.00 are one.
	short := strings.TrimRight(strings.TrimRight(right.Money(), "0"), ".")
	s.placed("expected_total", short)
	// The service computes the prices: of a price that has changed, its own holds.
	if err := s.Restaurant(0).EditProduct(p.ID, ProductChange{Price: int64(right) + 700}); err != nil {
		t.Fatal(err)
	}
	s.details(s.post(s.order("expected_total", right.Money())), 409, "price_changed")
	if o := s.placed("expected_total", (right + 700).Money()); o.Items[0].UnitPrice != types.Money((right + 700).Money()) {
		t.Errorf("price %s", o.Items[0].UnitPrice)
	}
}

// An order with items that are unknown, not offered online, sold out, or lack a variant is refused
// with items_unavailable, whose details name each of these items and the reason.
func TestItemsThatCannotBeHad(t *testing.T) {
	s := newShop(t, Options{NoLimits: true, ProductsPer: 130})
	main := s.Key(0, RoleMain).Value
	pizza := s.dish(func(p types.MenuProduct) bool { return len(p.Variants) > 0 && len(p.ExtraGroups) > 0 })
	plain := s.dish(plainDish)
	var heavy, offline, elsewhere, out string
	s.key = main
	for _, row := range s.walk("/products?limit=200") {
		p := strict[types.Product](t, row)
		switch {
		case p.LocationID != s.location:
			elsewhere = p.ID
		case p.Unit == "kg":
			heavy = p.ID
		case !p.Channels["online"].Enabled:
			offline = p.ID
		case p.ID != plain.ID && p.ID != pizza.ID && len(p.Variants) == 0:
			out = p.ID
		}
	}
	s.key = s.Key(0, RoleOrders).Value
	no := false
	if err := s.Restaurant(0).EditProduct(out, ProductChange{Available: &no}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		item   object
		reason string
	}{
		{object{"product_id": "none"}, "product_not_found"}, {object{"product_id": elsewhere}, "product_not_found"},
		{object{"product_id": heavy}, "not_offered_online"}, {object{"product_id": offline}, "not_offered_online"}, {object{"product_id": out}, "sold_out"},
		{object{"product_id": pizza.ID}, "variant_required"}, {object{"product_id": pizza.ID, "variant_id": nil}, "variant_required"}, {object{"product_id": pizza.ID, "variant_id": "v_0"}, "variant_not_found"},
		{object{"product_id": plain.ID, "variant_id": pizza.Variants[0].ID}, "variant_not_found"},
		{object{"product_id": plain.ID, "options": []any{object{"id": "x_0"}}}, "option_not_found"},
		{object{"product_id": plain.ID, "options": []any{object{"id": pizza.ExtraGroups[0].Options[0].ID}}}, "option_not_found"},
	} {
		c.item["quantity"] = 1
		fine := object{"product_id": plain.ID, "quantity": 1}
		items, _ := s.details(s.post(s.order("items", []any{fine, c.item})), 409, "items_unavailable")["items"].([]any)
		want := object{"index": 1.0, "product_id": c.item["product_id"], "reason": c.reason}
		if len(items) != 1 || fmt.Sprint(items[0]) != fmt.Sprint(want) {
			t.Errorf("%v: %v, want %v", c.item, items, want)
		}
	}
	both, _ := s.details(s.post(s.order("items", []any{object{"product_id": "a", "quantity": 1}, object{"product_id": "b", "quantity": 1}})), 409, "items_unavailable")["items"].([]any)
	if len(both) != 2 {
		t.Errorf("not every item is told: %v", both)
	}
	if s.count() != 0 {
		t.Error("a refusal created an order")
	}
}

// A group of options that asks for some, or takes so many: what is outside is not valid.
func TestGroupsOfOptions(t *testing.T) {
	s := newShop(t, Options{NoLimits: true, ProductsPer: 130})
	pizza := s.dish(func(p types.MenuProduct) bool { return len(p.Variants) > 0 && len(p.ExtraGroups) > 0 })
	coffee := s.dish(func(p types.MenuProduct) bool { return len(p.ExtraGroups) > 0 && p.ExtraGroups[0].Required })
	item := func(p types.MenuProduct, options ...any) []any {
		i := object{"product_id": p.ID, "quantity": 1, "options": options}
		if len(p.Variants) > 0 {
			i["variant_id"] = p.Variants[0].ID
		}
		return []any{i}
	}
	topping, milk := pizza.ExtraGroups[0], coffee.ExtraGroups[0]
	for _, c := range []struct {
		name  string
		items []any
		fine  bool
	}{
		{"as many as it takes", item(pizza, object{"id": topping.Options[0].ID, "quantity": *topping.Max}), true},
		{"one more", item(pizza, object{"id": topping.Options[0].ID, "quantity": *topping.Max}, object{"id": topping.Options[1].ID}), false},
		{"none of a required one", item(coffee), false},
		{"one of a required one", item(coffee, object{"id": milk.Options[1].ID}), true},
		{"two of a group of one", item(coffee, object{"id": milk.Options[0].ID}, object{"id": milk.Options[1].ID}), false},
		{"a group without end", item(coffee, object{"id": milk.Options[0].ID}, object{"id": coffee.ExtraGroups[1].Options[0].ID, "quantity": 10}), true},
	} {
		a := s.post(s.order("items", c.items))
		if c.fine {
			s.created(a)
			continue
		}
		if fields, _ := s.details(a, 422, "validation_failed")["fields"].(object); fields["items.0.options"] == nil {
			t.Errorf("%s: %v", c.name, fields)
		}
	}
}

// An order at a location that is closed or paused, or does not offer its type, is refused with
// location_unavailable. A scheduled order is for today, within bounds and the opening hours.
func TestWhenALocationTakesOrders(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	zone := must(time.LoadLocation(ZoneName))(t)
	l := ok[types.Location](s.harness, "/locations/"+s.location)
	opens := must(time.Parse("15:04", *l.OpeningHours.Friday.Open))(t)
	closes := must(time.Parse("15:04", *l.OpeningHours.Friday.Close))(t)
	local := func(hour, minute int) time.Time { return time.Date(2026, 3, 20, hour, minute, 0, 0, zone) }
	reason := func(a answer) string {
		t.Helper()
		r, _ := s.details(a, 409, "location_unavailable")["reason"].(string)
		return r
	}
	s.clock = local(opens.Hour(), opens.Minute()).Add(-time.Second)
	if r := reason(s.post(s.order())); r != "closed" {
		t.Errorf("before it opens: %s", r)
	}
	if r := reason(s.post(s.order("scheduled_for", local(13, 0).Format(time.RFC3339)))); r != "closed" {
		t.Errorf("scheduled before it opens: %s", r)
	}
	s.clock = local(opens.Hour(), opens.Minute())
	s.placed()
	for _, c := range []struct {
		now, at time.Time
		want    string // "", or "closed", or "422"
	}{
		{local(12, 0), local(12, 20), ""}, {local(12, 0), local(12, 20).Add(-time.Second), "422"}, {local(12, 0), local(11, 0), "422"},
		{local(12, 0), local(21, 0), ""}, {local(11, 0), local(23, 0).Add(time.Second), "422"}, {local(12, 0), local(36, 0), "422"},
	} {
		s.clock = c.now
		a := s.post(s.order("scheduled_for", c.at.UTC().Format(time.RFC3339)))
		switch c.want {
		case "422":
			if fields, _ := s.details(a, 422, "validation_failed")["fields"].(object); fields["scheduled_for"] == nil {
				t.Errorf("%s for %s: %v", c.now, c.at, fields)
			}
		default:
			if o := s.created(a); !must(time.Parse(time.RFC3339, string(*o.ScheduledFor)))(t).Equal(c.at) {
				t.Errorf("scheduled for %s, not %s", *o.ScheduledFor, c.at)
			}
		}
	}
	if closes.Hour() >= 12 { // it closes before midnight
		s.clock = local(closes.Hour()-1, 0)
		if r := reason(s.post(s.order("scheduled_for", local(closes.Hour(), closes.Minute()).UTC().Format("2006-01-02T15:04:05")))); r != "closed" {
			t.Errorf("scheduled for after closing: %s", r)
		}
	}
	s.clock = local(12, 0)
	if err := s.Restaurant(0).PauseOrdering(s.location, s.clock.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if r := reason(s.post(s.order())); r != "paused" {
		t.Errorf("paused: %s", r)
	}
	s.clock = local(13, 1)
	s.placed()
	r := s.Restaurant(0)
	if err := r.OfferTypes(s.location, "delivery"); err != nil {
		t.Fatal(err)
	}
	if got := reason(s.post(s.order())); got != "type_not_offered" {
		t.Errorf("a type that is not offered: %s", got)
	}
	s.placed("type", "delivery", "delivery", object{"address": "Str. Lungă 1"})
	if err := r.SwitchLocationOrdering(s.location, false); err != nil {
		t.Fatal(err)
	}
	if got := reason(s.post(s.order())); got != "disabled" {
		t.Errorf("one location switched off: %s", got)
	}
	other := r.LocationIDs()[1]
	if a := s.post(s.order("location_id", other, "items.0", s.menuOf(other))); a.status != 201 {
		t.Errorf("the other location: %d %s", a.status, a.body)
	}
}

// After a 500 the order is sent again, with the same external_id.
func TestAnAnswerThatGotLost(t *testing.T) {
	for kind, made := range map[string]int{faults.ServerError: 0, faults.Truncate: 1, faults.Garbage: 1} {
		s := newShop(t, Options{NoLimits: true})
		if err := s.AddFault(faults.Fault{Kind: kind, Count: 1, Route: "POST /orders"}); err != nil {
			t.Fatal(err)
		}
		body := string(units.JSON(s.order()))
		send := func() (int, []byte, error) {
			r := newRequest("POST", "/orders", s.key)
			r.Body = io.NopCloser(strings.NewReader(body))
			a, err := s.Transport().RoundTrip(r)
			if err != nil {
				return 0, nil, err
			}
			defer a.Body.Close()
			out, err := io.ReadAll(a.Body)
			return a.StatusCode, out, err
		}
		if status, out, err := send(); err == nil && status == 201 && json.Valid(out) {
			t.Errorf("%s: the answer came through: %s", kind, out)
		}
		if s.count() != made {
			t.Errorf("%s: %d orders", kind, s.count())
		}
		if status, out, err := send(); err != nil || status != 201-made || s.count() != 1 {
			t.Errorf("%s: sent again: %d %v %s", kind, status, err, out)
		}
	}
}

// While online ordering is off, for the restaurant or for one key, each of its routes answers 403
// api_disabled. Keys for reading data and GET /me work as before, and ordering when it is on again.
func TestOrderingSwitchedOff(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	o := s.placed()
	routes := [][2]string{{"GET", "/locations/" + s.location + "/menu"}, {"GET", "/orders?external_id=x"}, {"GET", "/orders/" + o.ID}, {"POST", "/orders"}, {"POST", "/orders/" + o.ID + "/cancel"}, {"POST", "/webhooks/test"}, {"GET", "/locations"}}
	off := func(want bool) {
		t.Helper()
		for _, r := range routes {
			a := s.send(r[0], s.key, r[1], "")
			if refusedNow := a.status == 403; refusedNow != want {
				t.Errorf("%s %s: %d %s", r[0], r[1], a.status, a.body)
			} else if want {
				s.details(a, 403, "api_disabled")
			}
		}
		if a := s.get("/me"); a.status != 200 {
			t.Errorf("GET /me: %d", a.status)
		}
	}
	status := func() string {
		return strict[types.Location](t, s.do("GET", s.Key(0, RoleMain).Value, "/locations/"+s.location).body).Ordering.Status
	}
	off(false)
	o = s.placed() // the first was cancelled by asking every route
	s.Restaurant(0).SwitchOrdering(false)
	off(true)
	if got := status(); got != "disabled" {
		t.Errorf("status %s", got)
	}
	if a := s.do("GET", s.Key(0, RoleMain).Value, "/products"); a.status != 200 {
		t.Errorf("a data key: %d", a.status)
	}
	s.Restaurant(0).SwitchOrdering(true)
	if got := s.read(o.ID); got.Status != "received" || status() != "open" {
		t.Errorf("switched on again: %s, %s", got.Status, status())
	}
	if err := s.UpdateKey(s.key, func(k *Key) { k.OrderingOff = true }); err != nil {
		t.Fatal(err)
	}
	off(true)
	if got := status(); got != "open" {
		t.Errorf("one key's switch changed the location to %s", got)
	}
	if err := s.UpdateKey(s.key, func(k *Key) { k.OrderingOff = false }); err != nil {
		t.Fatal(err)
	}
	off(false)
}

// "POST /orders per key: 30 per minute", beside the other limits.
func TestOrdersPerMinute(t *testing.T) {
	s := newShop(t, Options{})
	s.clock = s.clock.Add(time.Minute)
	for i := range 30 {
		a := s.post(s.order())
		if left := fmt.Sprint(29 - i); a.status != 201 || a.header.Get("X-RateLimit-Limit") != "30" || a.header.Get("X-RateLimit-Remaining") != left {
			t.Fatalf("order %d: %d %v", i+1, a.status, a.header)
		}
	}
	a := s.post(s.order())
	s.details(a, 429, "rate_limited")
	if a.header.Get("Retry-After") == "" || a.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("headers %v", a.header)
	}
	if a := s.get("/orders?external_id=web-1"); a.status != 200 || a.header.Get("X-RateLimit-Limit") != "120" || a.header.Get("X-RateLimit-Remaining") != "89" {
		t.Errorf("GET: %d %v", a.status, a.header)
	}
	other := s.AddKey(Key{Scopes: []string{types.ScopeOrders}, AllLocations: true})
	if a := s.send("POST", other.Value, "/orders", string(units.JSON(s.order()))); a.status != 201 {
		t.Errorf("another key: %d", a.status)
	}
	s.clock = s.clock.Add(time.Minute)
	s.placed()
}

// Scopes and locations: 403 insufficient_scope, 403 location_forbidden, 404 for the rest.
func TestWhoMayOrder(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	o := s.placed()
	for _, r := range [][2]string{{"GET", "/locations/" + s.location + "/menu"}, {"GET", "/orders?external_id=x"}, {"GET", "/orders/" + o.ID}, {"POST", "/orders"}, {"POST", "/orders/" + o.ID + "/cancel"}, {"POST", "/webhooks/test"}} {
		if d := s.details(s.send(r[0], s.Key(0, RoleTest).Value, r[1], ""), 403, "insufficient_scope"); d["required_scope"] != "orders:write" {
			t.Errorf("%v: %v", r, d)
		}
	}
	second := s.Restaurant(0).LocationIDs()[1]
	limited := s.AddKey(Key{Scopes: []string{types.ScopeOrders}, LocationIDs: []string{second}}).Value
	s.details(s.send("POST", limited, "/orders", string(units.JSON(s.order()))), 403, "location_forbidden")
	s.details(s.send("GET", limited, "/locations/"+s.location+"/menu", ""), 404, "not_found")
	// A key reads its own orders only.
	s.details(s.send("GET", limited, "/orders/"+o.ID, ""), 404, "not_found")
	s.details(s.send("POST", limited, "/orders/"+o.ID+"/cancel", ""), 404, "not_found")
	for _, uri := range []string{"/orders?updated_since=2020-01-01T00:00:00Z", "/orders?external_id=" + o.ExternalID} {
		if p := strict[onlinePage](t, s.send("GET", limited, uri, "").body); len(p.Data) != 0 {
			t.Errorf("%s: another key's orders", uri)
		}
	}
	s.details(s.get("/orders/none"), 404, "not_found")
	s.details(s.get("/locations/none/menu"), 404, "not_found")
	s.refused(s.do("DELETE", s.key, "/orders"), 405, "method_not_allowed")
	if allow := s.do("DELETE", s.key, "/orders").header.Get("Allow"); allow != "GET, HEAD, POST" {
		t.Errorf("Allow %q", allow)
	}
	if err := s.Restaurant(0).SetLocationActive(s.location, false); err != nil {
		t.Fatal(err)
	}
	s.details(s.post(s.order()), 422, "validation_failed")
	s.details(s.get("/locations/"+s.location+"/menu"), 404, "not_found")
}

// Orders are listed by external_id or by updated_since, never by both. By updated_since the oldest
// change comes first, and next_updated_since is null at the end.
func TestListOnlineOrders(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	for _, uri := range []string{"/orders", "/orders?external_id=a&updated_since=2020-01-01T00:00:00Z", "/orders?external_id=", "/orders?external_id=" + strings.Repeat("x", 65), "/orders?updated_since=never",
		"/orders?external_id=a&limit=0", "/orders?external_id=a&limit=101", "/orders?updated_since=2020-01-01T00:00:00Z&limit=x"} {
		s.details(s.get(uri), 422, "validation_failed")
	}
	var ids []string
	for i := range 120 {
		if i%7 != 0 { // some are placed at one instant
			s.clock = s.clock.Add(time.Millisecond)
		}
		ids = append(ids, s.placed().ID)
	}
	if p := ok[onlinePage](s.harness, "/orders?external_id=web-7"); len(p.Data) != 1 || p.Data[0].ExternalID != "web-7" || p.NextUpdatedSince != nil {
		t.Errorf("by external_id: %+v", p)
	}
	if p := ok[onlinePage](s.harness, "/orders?external_id=web-"); len(p.Data) != 0 || p.Data == nil {
		t.Errorf("unknown external_id: %+v", p)
	}
	if p := ok[onlinePage](s.harness, "/orders?updated_since=2020-01-01T00:00:00Z"); len(p.Data) != 50 || p.NextUpdatedSince == nil {
		t.Errorf("%d by default", len(p.Data))
	}
	// One of the first changes: it moves to the end.
	s.clock = s.clock.Add(time.Second)
	s.send("POST", s.key, "/orders/"+ids[3]+"/cancel", "")
	want := append(slices.Delete(slices.Clone(ids), 3, 4), ids[3])
	for _, limit := range []int{1, 7, 100} {
		var got []string
		since := "2020-01-01T00:00:00Z"
		for {
			p := ok[onlinePage](s.harness, fmt.Sprintf("/orders?limit=%d&updated_since=%s", limit, since))
			for _, o := range p.Data {
				got = append(got, o.ID)
			}
			if p.NextUpdatedSince == nil {
				break
			}
			if *p.NextUpdatedSince == since {
				t.Fatalf("limit %d: next_updated_since stays at %s", limit, since)
			}
			since = *p.NextUpdatedSince
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: %d orders, want %d in order of change", limit, len(got), len(want))
		}
	}
	last := s.read(ids[3]).UpdatedAt
	if p := ok[onlinePage](s.harness, "/orders?updated_since="+string(last)); len(p.Data) != 1 || p.Data[0].ID != ids[3] {
		t.Errorf("at its own instant: %d orders", len(p.Data))
	}
}

// The key cancels an order while it is received, with a reason or without. Later the answer is 409
// cannot_cancel with the status.
func TestCancelByTheCustomer(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	cancel := func(o types.OnlineOrder, body string) answer {
		return s.send("POST", s.key, "/orders/"+o.ID+"/cancel", body)
	}
	o := s.placed()
	s.clock = s.clock.Add(30 * time.Second)
	for _, bad := range []string{`{"reason": 7}`, `{"reason": "` + strings.Repeat("ă", 256) + `"}`} {
		if fields, _ := s.details(cancel(o, bad), 422, "validation_failed")["fields"].(object); fields["reason"] == nil {
			t.Errorf("%.40s: %v", bad, fields)
		}
	}
	for _, bad := range []string{"[]", "x", "null", `{"reason":"` + strings.Repeat("x", 64<<10) + `"}`} {
		s.details(cancel(o, bad), 400, "bad_request")
	}
	a := cancel(o, `{"reason": "M-am răzgândit"}`)
	got := strict[types.OnlineOrder](t, a.body)
	if a.status != 200 || got.Status != "cancelled" || got.Cancellation.By != "customer" || *got.Cancellation.Reason != "M-am răzgândit" || *got.CancelledAt != "2026-03-20T10:00:30.000Z" || got.UpdatedAt != *got.CancelledAt {
		t.Errorf("%d %+v", a.status, got)
	}
	if d := s.details(cancel(o, ""), 409, "cannot_cancel"); d["status"] != "cancelled" {
		t.Errorf("twice: %v", d)
	}
	for _, body := range []string{"", "{}", `{"reason":null}`, `{"else":1}`} {
		if got := strict[types.OnlineOrder](t, cancel(s.placed(), body).body); got.Cancellation == nil || got.Cancellation.Reason != nil {
			t.Errorf("%q: %+v", body, got)
		}
	}
	o = s.placed()
	s.clock = s.clock.Add(10 * time.Minute) // nobody answered
	if d := s.details(cancel(o, ""), 409, "cannot_cancel"); d["status"] != "rejected" {
		t.Errorf("after answer_by: %v", d)
	}
}

// Opening hours have exceptions and may end after midnight. accepting alone decides whether an
// order can be placed.
func TestClosedOnHolidays(t *testing.T) {
	zone := must(time.LoadLocation(ZoneName))(t)
	s := newShop(t, Options{NoLimits: true, Epoch: time.Date(2026, 12, 24, 10, 0, 0, 0, zone), LocationsPer: 12})
	late := ""
	for _, l := range ok[struct{ Data []types.Location }](s.harness, "/locations").Data {
		if *l.OpeningHours.Friday.Close == "02:00" {
			late = l.ID
		}
	}
	for _, c := range []struct {
		at   string
		want int
	}{
		{"2026-12-24 20:00", 201}, {"2026-12-25 01:59", 201}, {"2026-12-25 02:00", 409}, {"2026-12-25 13:00", 409}, {"2026-12-26 01:00", 409}, {"2026-12-26 13:00", 201}, {"2026-12-27 01:00", 201}, {"2027-01-01 13:00", 409},
	} {
		s.clock = must(time.ParseInLocation("2006-01-02 15:04", c.at, zone))(t)
		l := ok[types.Location](s.harness, "/locations/"+late)
		p := s.menuOf(late)
		a := s.post(s.order("location_id", late, "items.0", p))
		if a.status != c.want || l.Ordering.Accepting != (c.want == 201) {
			t.Errorf("%s: %d %s, accepting %v", c.at, a.status, a.body, l.Ordering.Accepting)
		}
		if at := l.Ordering.NextOpeningAt; at != nil && (strings.HasPrefix(string(*at), "2026-12-25") || strings.HasPrefix(string(*at), "2027-01-01")) {
			t.Errorf("%s: opens next at %s", c.at, *at)
		}
	}
	// It is scheduled for a time after the opening hours.
	s.clock = time.Date(2026, 12, 28, 0, 30, 0, 0, zone)
	for minute, want := range map[int]int{59: 201, 120: 409} {
		at := time.Date(2026, 12, 28, 1, minute, 0, 0, zone).Format(time.RFC3339)
		if a := s.post(s.order("location_id", late, "items.0", s.menuOf(late), "scheduled_for", at)); a.status != want {
			t.Errorf("scheduled for %s: %d %s", at, a.status, a.body)
		}
	}
}

// One external_id placed from many sides at once is one order.
func TestPlacingAtOnce(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	body := string(units.JSON(s.order()))
	var placing sync.WaitGroup
	var created atomic.Int32
	for range 16 {
		placing.Go(func() {
			if a := s.send("POST", s.key, "/orders", body); a.status == 201 {
				created.Add(1)
			}
		})
	}
	placing.Wait()
	if created.Load() != 1 || s.count() != 1 {
		t.Errorf("%d created, %d orders", created.Load(), s.count())
	}
}

// What a mirror must hold is what the routes answer.
func TestTruthOfOrdering(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	s.moved(s.placed().ID, "accept")
	s.placed()
	n := 0
	for stream, uri := range map[string]string{StreamMenus: "/locations/%s/menu", StreamOnlineOrders: "/orders/%s"} {
		err := s.Truth(s.key, stream, func(r TruthRow) error {
			n++
			if got := s.get(fmt.Sprintf(uri, r.ID)); string(got.body) != string(r.Row) {
				t.Errorf("%s %s: %s\nanswered %s", stream, r.ID, r.Row, got.body)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n != 4 {
		t.Errorf("%d rows", n)
	}
}
