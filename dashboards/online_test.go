package dashboards

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
)

// onlineTruth are the online orders of the restaurant as the service answers with them, oldest
// first, without test orders.
func (w *warehouse) onlineTruth(t *testing.T) []types.OnlineOrder {
	t.Helper()
	var all []types.OnlineOrder
	err := w.box.Truth(w.key, sandbox.StreamOnlineOrders, func(r sandbox.TruthRow) error {
		var o types.OnlineOrder
		if err := json.Unmarshal(r.Row, &o); err != nil || o.Test {
			return err
		}
		all = append(all, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b types.OnlineOrder) int { return w.local(&a.CreatedAt).Compare(w.local(&b.CreatedAt)) })
	return all
}

// local is an instant where the restaurant is.
func (w *warehouse) local(instant *types.Instant) time.Time {
	at, err := time.Parse(time.RFC3339Nano, string(*instant))
	if err != nil {
		w.t.Fatal(err)
	}
	return at.In(w.from.Location())
}

// placed are those of the range, or of one of its days.
func (w *warehouse) placed(t *testing.T, day string) []types.OnlineOrder {
	t.Helper()
	return slices.DeleteFunc(w.onlineTruth(t), func(o types.OnlineOrder) bool {
		at := w.local(&o.CreatedAt)
		return at.Before(w.from) || at.After(w.to) || day != "" && at.Format(time.DateOnly) != day
	})
}

// minutes are those between two instants, as the views round them; false when one is unknown.
func (w *warehouse) minutes(from, to *types.Instant) (float64, bool) {
	if from == nil || to == nil {
		return 0, false
	}
	return math.RoundToEven(float64(w.local(to).Unix()-w.local(from).Unix())/6) / 10, true
}

// isKept tells of an order that was taken and stands.
func isKept(o types.OnlineOrder) bool {
	return slices.Contains([]string{"accepted", "ready", "completed"}, o.Status)
}

// counted are how many of a list are so.
func counted[T any](list []T, is func(T) bool) float64 {
	n := 0
	for _, e := range list {
		n += oneIf(is(e))
	}
	return float64(n)
}

// within is what a part of the values does not exceed, between two of them in proportion. Of
// none, as in the first hours of a day, it is no number.
func within(part float64, values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	place := part * float64(len(values)-1)
	low := int(place)
	high := min(low+1, len(values)-1)
	return values[low] + (place-float64(low))*(values[high]-values[low])
}

// online is what the service's orders come to, by the names of the panels' columns.
func (w *warehouse) online(orders []types.OnlineOrder) map[string]float64 {
	var accept, ready, late []float64
	sales := 0.0
	for _, o := range orders {
		if m, ok := w.minutes(o.PlacedAt, o.AcceptedAt); ok {
			accept = append(accept, m)
		}
		if m, ok := w.minutes(o.AcceptedAt, o.ReadyAt); ok && o.ScheduledFor == nil {
			ready = append(ready, m)
		}
		if m, ok := w.minutes(o.EstimatedReadyAt, o.ReadyAt); ok {
			late = append(late, m)
		}
		if isKept(o) {
			sales += money(w.t, o.Totals.Items)
		}
	}
	taken := counted(orders, func(o types.OnlineOrder) bool { return o.AcceptedAt != nil })
	refused := counted(orders, func(o types.OnlineOrder) bool { return o.Status == "rejected" })
	silent := counted(orders, func(o types.OnlineOrder) bool { return o.Rejection != nil && o.Rejection.Code == "no_response" })
	of := func(status string) float64 {
		return counted(orders, func(o types.OnlineOrder) bool { return o.Status == status })
	}
	lateness := func(over, upTo float64) float64 {
		return counted(late, func(m float64) bool { return m > over && m <= upTo })
	}
	return map[string]float64{
		"placed": float64(len(orders)), "ordered": float64(len(orders)), "orders": float64(len(orders)), "net_sales": sales, "average_order": sales / counted(orders, isKept),
		"accepted_share": 100 * taken / (taken + refused),
		"delivery_share": 100 * counted(orders, func(o types.OnlineOrder) bool { return o.Type == "delivery" }) / float64(len(orders)),
		"accept_half":    within(0.5, accept), "accept_ninety": within(0.9, accept), "ready_half": within(0.5, ready), "ready_ninety": within(0.9, ready),
		"on_time_share": 100 * counted(late, func(m float64) bool { return m <= 5 }) / float64(len(late)),
		"accepted":      taken, "ready": counted(orders, func(o types.OnlineOrder) bool { return o.ReadyAt != nil }), "completed": of("completed"),
		"rejected": refused - silent, "no_answer": silent, "cancelled": of("cancelled"), "waiting": of("received"), "cooking": of("accepted"),
		"early": counted(late, func(m float64) bool { return m < -5 }), "in_time": counted(late, func(m float64) bool { return m >= -5 && m <= 5 }), "late_some": lateness(5, 15), "late_much": lateness(15, math.Inf(1)),
	}
}

func money(t *testing.T, amount types.Money) float64 { t.Helper(); return float(t, string(amount)) }

// agree holds the columns of a row against what the service's orders come to.
func agree(t *testing.T, what string, a answer, line []string, want map[string]float64, columns ...string) {
	t.Helper()
	for _, c := range columns {
		i := slices.Index(a.columns, c)
		if i < 0 {
			t.Fatalf("%s has no %s: %v", what, c, a.columns)
		}
		if got, err := strconv.ParseFloat(line[i], 64); err != nil || math.Abs(got-want[c]) > 1e-6 {
			t.Errorf("%s: %s is %s, the service's orders say %v", what, c, line[i], want[c])
		}
	}
}

// The panels of online orders show what the service's own answers add up to.
func (w *warehouse) figuresOfOnline(t *testing.T) {
	c, orders := w.mine(), w.placed(t, "")
	if len(orders) < 100 || counted(orders, isKept) == float64(len(orders)) {
		t.Fatalf("%d orders, of which all or none were taken", len(orders))
	}
	want := w.online(orders)
	for panel, columns := range map[string][]string{
		"period":   {"placed", "accepted_share", "net_sales", "average_order", "delivery_share"},
		"waits":    {"accept_half", "accept_ninety", "ready_half", "ready_ninety", "on_time_share"},
		"funnel":   {"ordered", "accepted", "ready", "completed", "rejected", "no_answer", "cancelled"},
		"promised": {"early", "in_time", "late_some", "late_much"},
	} {
		a := w.shown(t, "online-orders", panel, c)
		if len(a.lines) != 1 {
			t.Fatalf("%s has %d rows", panel, len(a.lines))
		}
		agree(t, panel, a, a.lines[0], want, columns...)
	}
	w.onlineByDay(t, c)
	w.onlineByLocation(t, c, orders)
	w.onlineLost(t, c, orders)
	w.onlineScheduled(t, c, orders)
	w.onlineReturning(t, c)
	w.onlineMenu(t, c)
	w.onlineToday(t, c)
}

func (w *warehouse) onlineByDay(t *testing.T, c choice) {
	for panel, columns := range map[string][]string{"answers": {"accept_half", "accept_ninety"}, "kitchen": {"ready_half", "ready_ninety"}} {
		a := w.shown(t, "online-orders", panel, c)
		if len(a.lines) < 10 {
			t.Errorf("%s has %d days only", panel, len(a.lines))
		}
		for _, line := range a.lines {
			day := w.day(t, line[0])
			agree(t, panel+" of "+day, a, line, w.online(w.placed(t, day)), columns...)
		}
	}
}

// day is that of a time as an answer has it.
func (w *warehouse) day(t *testing.T, text string) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.In(w.from.Location()).Format(time.DateOnly)
}

func (w *warehouse) onlineByLocation(t *testing.T, c choice, orders []types.OnlineOrder) {
	a := w.shown(t, "online-orders", "locations", c)
	names := map[string]string{}
	for _, l := range w.ask("SELECT toString(location_id), any(location_name), any(business_name) FROM sales_orders WHERE business_id = '" + w.restaurant + "' GROUP BY location_id").lines {
		names[strings.TrimPrefix(l[1], l[2]+" ")] = l[0]
	}
	if len(a.lines) != 2 {
		t.Errorf("%d locations have online orders", len(a.lines))
	}
	for _, line := range a.lines {
		there := slices.DeleteFunc(slices.Clone(orders), func(o types.OnlineOrder) bool { return o.LocationID != names[line[0]] })
		want := w.online(there)
		agree(t, line[0], a, line, want, "orders", "accepted_share", "accept_ninety", "on_time_share")
		alone := c
		alone.locations = []string{names[line[0]]}
		one := w.shown(t, "online-orders", "period", alone)
		agree(t, "only "+line[0], one, one.lines[0], want, "placed", "net_sales")
	}
}

func (w *warehouse) onlineLost(t *testing.T, c choice, orders []types.OnlineOrder) {
	count, value := map[string]int{}, map[string]float64{}
	for _, o := range orders {
		reason := ""
		switch o.Status {
		case "rejected":
			reason = o.Rejection.Code
		case "cancelled":
			reason = "by_" + o.Cancellation.By
		default:
			continue
		}
		count[reason]++
		value[reason] += money(t, o.Totals.Items)
	}
	var want []string
	for reason, n := range count {
		want = append(want, fmt.Sprintf("%s %d %v", reason, n, math.Round(value[reason]*100)/100))
	}
	slices.Sort(want)
	a := w.shown(t, "online-orders", "lost", c)
	same(t, "lost orders", a.rows(t, "lost_reason", "orders", "lost"), want)
	for _, line := range a.lines {
		agree(t, "part of "+line[0], a, line, map[string]float64{"share": 100 * float64(count[line[0]]) / float64(len(orders))}, "share")
	}
}

func (w *warehouse) onlineScheduled(t *testing.T, c choice, orders []types.OnlineOrder) {
	var want []string
	for _, o := range orders {
		if o.ScheduledFor == nil {
			continue
		}
		after := "null"
		if o.ReadyAt != nil {
			after = fmt.Sprint(math.RoundToEven(float64(w.local(o.ReadyAt).Unix()-w.local(o.ScheduledFor).Unix())/60) + 0)
		}
		want = append(want, fmt.Sprint(w.local(o.ScheduledFor).Format(time.RFC3339), " ", *o.Number, " ", o.Status, " ", after))
	}
	slices.Sort(want)
	same(t, "scheduled orders", w.shown(t, "online-orders", "scheduled", c).rows(t, "scheduled_for", "order_no", "status", "after_wanted"), want[max(0, len(want)-50):])
}

// A guest is known by the phone; the warehouse has pseudonyms only.
func (w *warehouse) onlineReturning(t *testing.T, c choice) {
	seen, want := map[string]bool{}, map[string][2]int{}
	for _, o := range slices.DeleteFunc(w.onlineTruth(t), func(o types.OnlineOrder) bool { return !isKept(o) }) {
		at := w.local(&o.CreatedAt)
		again := oneIf(seen[o.Customer.Phone])
		seen[o.Customer.Phone] = true
		if !at.Before(w.from) {
			day := at.Format(time.DateOnly)
			want[day] = [2]int{want[day][0] + again, want[day][1] + 1 - again}
		}
	}
	got := map[string][2]int{}
	for _, line := range w.shown(t, "online-orders", "returning", c).lines {
		got[w.day(t, line[0])] = [2]int{int(float(t, line[1])), int(float(t, line[2]))}
	}
	if !reflect.DeepEqual(got, want) || len(seen) == 0 {
		t.Errorf("guests who returned, and new ones, by day:\n%v\nthe service's orders say\n%v", got, want)
	}
	if kept := w.texts("SELECT DISTINCT ifNull(customer_phone, ifNull(customer_name, '')) FROM online_orders"); !slices.Equal(kept, []string{""}) {
		t.Errorf("there is more than pseudonyms: %v", kept)
	}
}

// offers are the products of the menus that the key sees, by location and id.
func offers(t *testing.T, box *sandbox.Sandbox, key string) map[[2]string]types.MenuProduct {
	t.Helper()
	all := map[[2]string]types.MenuProduct{}
	err := box.Truth(key, sandbox.StreamMenus, func(r sandbox.TruthRow) error {
		var m types.OrderableMenu
		if err := json.Unmarshal(r.Row, &m); err != nil {
			return err
		}
		for _, category := range m.Categories {
			for _, p := range category.Products {
				all[[2]string{m.LocationID, p.ID}] = p
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What has changed on the menu is what differs between what the service offered before and
// what it offers now.
func (w *warehouse) onlineMenu(t *testing.T, c choice) {
	now := offers(t, w.box, w.key)
	var want []string
	for id, p := range now {
		was, there := w.offered[id]
		switch {
		case !there:
			want = append(want, fmt.Sprint(p.Name, " added null ", money(t, p.Price)))
			continue
		case money(t, was.Price) != money(t, p.Price):
			want = append(want, fmt.Sprint(p.Name, " price ", money(t, was.Price), " ", money(t, p.Price)))
		case was.Available == p.Available && !reflect.DeepEqual(was.Variants, p.Variants):
			want = append(want, p.Name+" other null null")
		}
		if was.Available != p.Available {
			want = append(want, p.Name+map[bool]string{true: " back", false: " sold_out"}[p.Available]+" null null")
		}
	}
	for id, was := range w.offered {
		if _, there := now[id]; !there {
			want = append(want, fmt.Sprint(was.Name, " removed ", money(t, was.Price), " null"))
		}
	}
	slices.Sort(want)
	same(t, "changes of the menu", w.shown(t, "online-orders", "menu", c).rows(t, "product", "change", "old_price", "new_price"), want)
}

// Today is the day of the service's clock.
func (w *warehouse) onlineToday(t *testing.T, c choice) {
	a := w.shown(t, "online-orders", "today", c)
	all := slices.DeleteFunc(w.onlineTruth(t), func(o types.OnlineOrder) bool { return w.local(&o.CreatedAt).Before(w.to.AddDate(0, 0, -2)) })
	agree(t, "now", a, a.lines[0], w.online(all), "waiting", "cooking")
	today := w.online(w.placed(t, w.to.Format(time.DateOnly)))
	agree(t, "today", a, a.lines[0], map[string]float64{"placed_today": today["placed"], "sales_today": today["net_sales"]}, "placed_today", "sales_today")
}
