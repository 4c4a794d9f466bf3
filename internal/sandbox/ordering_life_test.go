package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// try moves an order as the restaurant does.
func (s *shop) try(id, kind string) (types.OnlineOrder, error) {
	s.t.Helper()
	return s.OnlineOrders(0).Do(id, ordering.Move{Kind: kind, Ready: s.clock.Add(40 * time.Minute).UnixMicro(), Text: "", Code: "closing_soon"}, s.clock.UnixMicro())
}

func (s *shop) moved(id string, kinds ...string) types.OnlineOrder {
	s.t.Helper()
	var o types.OnlineOrder
	for _, k := range kinds {
		s.clock = s.clock.Add(time.Minute)
		var err error
		if o, err = s.try(id, k); err != nil {
			s.t.Fatal(err)
		}
	}
	return o
}

// docs/openapi.yaml, OrderStatus: the transitions there are, and no other.
func TestTheStatesOfAnOrder(t *testing.T) {
	paths := map[string][]string{"received": nil, "accepted": {"accept"}, "ready": {"accept", "ready"}, "completed": {"accept", "ready", "complete"}, "rejected": {"reject"}, "cancelled": {"accept", "cancel"}}
	next := map[string]string{"accept": "accepted", "reject": "rejected", "ready": "ready", "complete": "completed", "cancel": "cancelled"}
	allowed := map[string][]string{"received": {"accept", "reject"}, "accepted": {"ready", "cancel", "estimate", "pay"}, "ready": {"complete", "cancel", "pay"}, "completed": {"pay"}}
	s := newShop(t, Options{NoLimits: true})
	for status, path := range paths {
		for _, move := range ordering.Moves() {
			id := s.placed("payment.status", "unpaid").ID
			s.moved(id, path...)
			before := s.read(id)
			s.clock = s.clock.Add(time.Minute)
			o, err := s.try(id, move)
			if want := slices.Contains(allowed[status], move); (err == nil) != want {
				t.Errorf("%s from %s: %v", move, status, err)
			}
			if after := s.read(id); err != nil && after.UpdatedAt != before.UpdatedAt || err == nil && after.UpdatedAt <= before.UpdatedAt {
				t.Errorf("%s from %s: updated_at %s after %s", move, status, after.UpdatedAt, before.UpdatedAt)
			}
			if want := next[move]; err == nil && want != "" && o.Status != want || err == nil && want == "" && o.Status != status {
				t.Errorf("%s from %s: %s", move, status, o.Status)
			}
		}
	}
	if _, err := s.try("none", "accept"); !errors.Is(err, ordering.ErrNoOrder) {
		t.Errorf("an unknown id: %v", err)
	}
	if _, err := s.try(s.placed().ID, "eat"); err == nil {
		t.Error("an unknown move")
	}
}

// What each transition sets.
func TestWhatATransitionSets(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	at := func(after time.Duration) types.Instant {
		return types.Instant(testEpoch.Add(after).Format("2006-01-02T15:04:05.000Z"))
	}
	id := s.placed("payment.status", "unpaid").ID
	o := s.moved(id, "accept")
	if o.Status != "accepted" || *o.AcceptedAt != at(time.Minute) || *o.EstimatedReadyAt != at(41*time.Minute) || o.UpdatedAt != at(time.Minute) {
		t.Errorf("accepted %+v", o)
	}
	if o = s.moved(id, "estimate"); *o.EstimatedReadyAt != at(42*time.Minute) || *o.AcceptedAt != at(time.Minute) || o.UpdatedAt != at(2*time.Minute) {
		t.Errorf("estimate moved %+v", o)
	}
	if o = s.moved(id, "pay"); o.Payment.Status != "paid" || o.Status != "accepted" || o.UpdatedAt != at(3*time.Minute) {
		t.Errorf("paid %+v", o)
	}
	if o = s.moved(id, "ready", "complete"); *o.ReadyAt != at(4*time.Minute) || *o.CompletedAt != at(5*time.Minute) || o.CancelledAt != nil {
		t.Errorf("completed %+v", o)
	}
	s.clock = testEpoch
	if o = s.moved(s.placed().ID, "reject"); o.Rejection.Code != "closing_soon" || o.RejectedAt == nil || o.Cancellation != nil {
		t.Errorf("rejected %+v", o)
	}
	if o = s.moved(s.placed().ID, "accept", "cancel"); o.Cancellation.By != "restaurant" || o.CancelledAt == nil || o.Rejection != nil {
		t.Errorf("cancelled %+v", o)
	}
	// A new estimate of an order without one: accept says when by itself.
	late := testEpoch.Add(3 * time.Hour)
	sched := s.placed("scheduled_for", late.Format(time.RFC3339)).ID
	o, err := s.OnlineOrders(0).Do(sched, ordering.Move{Kind: ordering.MoveAccept}, s.clock.UnixMicro())
	if err != nil || *o.EstimatedReadyAt != at(3*time.Hour) {
		t.Errorf("a scheduled one is ready at %v: %v", o.EstimatedReadyAt, err)
	}
}

// An order without an answer is rejected with no_response at its answer_by, however late it is
// read.
func TestNobodyAnswers(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	o := s.placed()
	s.clock = s.clock.Add(5*time.Minute - time.Millisecond)
	if got := s.read(o.ID); got.Status != "received" {
		t.Errorf("before answer_by: %s", got.Status)
	}
	s.clock = s.clock.Add(3 * time.Hour)
	got := s.read(o.ID)
	if got.Status != "rejected" || got.Rejection.Code != "no_response" || *got.RejectedAt != *o.AnswerBy || got.UpdatedAt != *o.AnswerBy {
		t.Errorf("after answer_by: %+v", got)
	}
	if _, err := s.try(o.ID, "accept"); err == nil {
		t.Error("it can be accepted still")
	}
}

// sales are the rows of /sales/orders in mirror mode, tombstones among them.
func (s *shop) sales() (live map[string]types.SalesOrder, gone map[string]string) {
	s.t.Helper()
	key := s.key
	defer func() { s.key = key }()
	s.key = s.Key(0, RoleMain).Value
	live, gone = map[string]types.SalesOrder{}, map[string]string{}
	for _, row := range s.walk("/sales/orders?limit=200&updated_since=2020-01-01T00:00:00Z") {
		if strings.Contains(string(row), `"deleted":true`) {
			dead := strict[types.Tombstone](s.t, row)
			gone[dead.ID] = dead.Reason
			continue
		}
		o := strict[types.SalesOrder](s.t, row)
		live[*o.Number] = o
	}
	return live, gone
}

// "Accepted orders become sales on channel direct": with their own lines, numbers and sums,
// once they are paid, and no longer when they are cancelled; what is rejected or a test
// never.
func TestOnlineOrdersBecomeSales(t *testing.T) {
	s := newShop(t, Options{NoLimits: true, ProductsPer: 130})
	pizza := s.dish(func(p types.MenuProduct) bool { return len(p.Variants) > 0 && len(p.ExtraGroups) > 0 })
	bottle := s.dish(func(p types.MenuProduct) bool { return p.Deposit != nil })
	x := pizza.ExtraGroups[0].Options
	items := []any{
		object{"product_id": pizza.ID, "variant_id": pizza.Variants[2].ID, "quantity": 2, "options": []any{object{"id": x[0].ID, "quantity": 2}, object{"id": x[1].ID}}},
		object{"product_id": bottle.ID, "quantity": 3},
	}
	paid := s.placed("items", items, "tip", "10", "type", "delivery", "delivery", object{"address": "Str. Lungă 1"})
	unpaid := s.placed("payment.status", "unpaid")
	refused, dropped := s.placed(), s.placed()
	if live, gone := s.sales(); len(live)+len(gone) != 0 {
		t.Fatalf("before anybody answered: %v %v", live, gone)
	}
	s.moved(paid.ID, "accept")
	s.moved(unpaid.ID, "accept", "ready", "complete")
	s.moved(refused.ID, "reject")
	s.moved(dropped.ID, "accept")
	live, gone := s.sales()
	if len(live) != 2 || len(gone) != 0 {
		t.Fatalf("%d sales, %d removed", len(live), len(gone))
	}
	sale := live[*paid.Number]
	if sale.Channel != "direct" || sale.Type != "delivery" || sale.CreatedAt != *paid.PlacedAt || sale.Payments[0].Method != "online" || sale.LocationID != s.location {
		t.Errorf("sale %+v", sale)
	}
	if got := sale.Totals; got.Total != paid.Totals.Total || got.Tip != "10.00" || got.Deposit != paid.Totals.Deposit || got.Items != paid.Totals.Items || got.NetSales != paid.Totals.Items || got.DeliveryFee != "0.00" {
		t.Errorf("totals %+v of %+v", got, paid.Totals)
	}
	first := sale.Items[0]
	if *first.ProductID != pizza.ID || *first.VariantID != pizza.Variants[2].ID || first.UnitPrice != pizza.Variants[2].Price || first.Quantity != "2.00" || first.Total != paid.Items[0].Total ||
		len(first.Extras) != 2 || first.Extras[0].Name != "2 × "+x[0].Name || first.Extras[1].Name != x[1].Name || first.VATRate == nil {
		t.Errorf("line %+v", first)
	}
	s.moved(unpaid.ID, "pay")
	if live, _ = s.sales(); live[*unpaid.Number].Payments[0].Method != "cash" || live[*unpaid.Number].Totals.Total != unpaid.Totals.Total || live[*unpaid.Number].CreatedAt != *unpaid.PlacedAt {
		t.Errorf("paid later: %+v", live[*unpaid.Number])
	}
	s.moved(dropped.ID, "cancel")
	live, gone = s.sales()
	if len(live) != 2 || len(gone) != 1 {
		t.Errorf("%d sales and %v after a cancellation", len(live), gone)
	}
	for id, reason := range gone {
		if reason != "cancelled" {
			t.Errorf("%s: %s", id, reason)
		}
	}
	// The day's totals are those of the sales.
	day := strict[dailySales](t, s.asMain("/sales/daily?from=2026-03-20&to=2026-03-20"))
	want := lei(t, paid.Totals.Items) + lei(t, unpaid.Totals.Items)
	if got := day.Totals.ByChannel["direct"]; lei(t, got) != want {
		t.Errorf("direct %s of the day, want %s", got, want.Money())
	}
	test := s.OrdersTestKey(0)
	o := s.created(s.send("POST", test.Value, "/orders", string(units.JSON(s.order()))))
	if !o.Test || o.Number != nil {
		t.Errorf("test order %+v", o)
	}
	for _, kind := range []string{"accept", "ready", "complete"} {
		if _, err := s.try(o.ID, kind); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := s.sales(); len(again) != 2 {
		t.Errorf("a test order became a sale")
	}
}

func (s *shop) asMain(uri string) []byte {
	s.t.Helper()
	a := s.do("GET", s.Key(0, RoleMain).Value, uri)
	if a.status != 200 {
		s.t.Fatalf("%s: %d %s", uri, a.status, a.body)
	}
	return a.body
}

// bookOf is every order of a sandbox, and every sale, as they are served.
func (s *shop) bookOf() string {
	s.t.Helper()
	var out strings.Builder
	for _, k := range s.Keys() {
		if !slices.Contains(k.Scopes, types.ScopeOrders) {
			continue
		}
		since := "2020-01-01T00:00:00Z"
		for since != "" {
			p := strict[struct {
				Data []json.RawMessage `json:"data"`
				Next *string           `json:"next_updated_since"`
			}](s.t, s.send("GET", k.Value, "/orders?limit=100&updated_since="+since, "").body)
			for _, row := range p.Data {
				out.Write(append(row, '\n'))
			}
			if since = ""; p.Next != nil {
				since = *p.Next
			}
		}
	}
	key := s.key
	s.key = s.Key(0, RoleMain).Value
	out.WriteString(s.fingerprint())
	s.key = key
	return out.String()
}

// A week of guests: every fate, and the same book for steps of any size.
func TestTheLifeOfOrdersIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("one request after the other: no goroutines of ours meet")
	}
	const days = 7
	var want string
	for _, step := range []time.Duration{days * 24 * time.Hour, time.Hour, 13 * time.Minute, 17 * time.Second} {
		s := newShop(t, Options{Live: true, NoLimits: true, Orders: 600, OnlineOrders: 60, Seed: 5, Upkeep: true})
		s.OrdersTestKey(0)
		end := testEpoch.Add(days * 24 * time.Hour)
		for s.clock.Before(end) {
			s.clock = s.clock.Add(step)
			if s.clock.After(end) {
				s.clock = end
			}
			if step < time.Minute { // as Serve does
				s.Tick(s.clock)
				continue
			}
			s.get("/me")
		}
		got := s.bookOf()
		if want == "" {
			want = got
			s.everyFate(got)
			continue
		}
		if got != want {
			t.Errorf("steps of %s give another book", step)
		}
	}
	s := newShop(t, Options{Live: true, NoLimits: true, Orders: 600, OnlineOrders: 60, Seed: 6, Upkeep: true})
	s.clock = s.clock.Add(days * 24 * time.Hour)
	if s.bookOf() == want {
		t.Error("another seed gives the same book")
	}
}

// everyFate looks for all that can become of an order.
func (s *shop) everyFate(book string) {
	s.t.Helper()
	seen := map[string]int{}
	for line := range strings.Lines(book) {
		var o types.OnlineOrder
		if json.Unmarshal([]byte(line), &o) != nil {
			continue // the fingerprint
		}
		sameShape[types.OnlineOrder](s.t.(*testing.T), []byte(strings.TrimSpace(line)))
		seen["orders"]++
		seen[o.Status]++
		seen[o.Type]++
		seen["payment "+o.Payment.Status]++
		if o.Rejection != nil {
			seen[o.Rejection.Code]++
		}
		if o.Cancellation != nil {
			seen["by "+o.Cancellation.By]++
		}
		if o.ScheduledFor != nil {
			seen["scheduled"]++
		}
		if o.Test {
			seen["test"]++
		}
		if o.EstimatedReadyAt != nil && o.ReadyAt != nil && *o.EstimatedReadyAt < *o.ReadyAt {
			seen["late"]++
		}
	}
	for _, want := range []string{"completed", "rejected", "cancelled", "pickup", "delivery", "payment paid", "payment unpaid", "items_unavailable", "no_response", "other", "by restaurant", "scheduled", "test", "late"} {
		if seen[want] == 0 {
			s.t.Errorf("no %s: %v", want, seen)
		}
	}
	if n := seen["orders"]; n < 250 || n > 450 {
		s.t.Errorf("%d orders in a week of 60 a day", n)
	}
}

// What a sandbox plays that nobody orders from is what it played before there were orders.
func TestOrdersDrawNothingFromTheWorld(t *testing.T) {
	play := func(ask bool) string {
		h := newHarness(t, Options{Live: true, NoLimits: true, Orders: 1500, Seed: 3})
		for range 48 {
			h.clock = h.clock.Add(time.Hour)
			if ask {
				orders := h.Key(0, RoleOrders).Value
				for _, uri := range []string{"/orders?updated_since=2020-01-01T00:00:00Z", fmt.Sprintf("/locations/%s/menu", h.Restaurant(0).LocationIDs()[0])} {
					if a := h.do("GET", orders, uri); a.status != 200 {
						t.Fatalf("%s: %d", uri, a.status)
					}
				}
			}
			h.get("/me")
		}
		return h.fingerprint()
	}
	if play(true) != play(false) {
		t.Error("asking for menus and orders changes the world")
	}
}

// A sale draws from the stock of its location, once; a test order does not.
func TestOnlineOrdersUseStock(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	used := func() int {
		s.t.Helper()
		since := s.clock.Format(time.RFC3339)
		return len(strict[page](t, s.asMain("/ingredients?limit=200&updated_since="+since)).Data)
	}
	paid, unpaid := s.placed("items.0.quantity", 20), s.placed("payment.status", "unpaid")
	test := s.OrdersTestKey(0)
	tried := s.created(s.send("POST", test.Value, "/orders", string(units.JSON(s.order()))))
	for _, c := range []struct {
		id, move string
		draws    bool
	}{{paid.ID, "accept", true}, {paid.ID, "ready", false}, {unpaid.ID, "accept", false}, {tried.ID, "accept", false}, {unpaid.ID, "pay", true}} {
		s.clock = s.clock.Truncate(time.Second).Add(time.Second)
		if _, err := s.try(c.id, c.move); err != nil {
			t.Fatal(err)
		}
		if n := used(); (n > 0) != c.draws {
			t.Errorf("%s: %d ingredients moved", c.move, n)
		}
	}
}
