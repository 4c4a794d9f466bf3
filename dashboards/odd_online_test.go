package dashboards

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// oddOrders are online orders that the sandbox has none of.
func (w *warehouse) oddOrders() {
	w.t.Helper()
	type columns map[string]string
	noon := columns{"created_at": w.yesterday("12:00:00"), "placed_at": w.yesterday("12:00:00"), "updated_at": w.yesterday("12:00:00")}
	for id, own := range map[string]columns{
		// A test order with all that an order can have, and one that nobody answered.
		"tested": {"test": "true", "status": "'completed'", "accepted_at": w.yesterday("12:01:00"), "estimated_ready_at": w.yesterday("12:20:00"),
			"ready_at": w.yesterday("12:10:00"), "scheduled_for": w.yesterday("13:00:00"), "customer_key": "'ana'"},
		"unheard": {"test": "true", "status": "'rejected'", "rejection_code": "'no_response'"},
		// Reasons that nobody gave, and a status that the service may add.
		"refused": {"status": "'rejected'"}, "dropped": {"status": "'cancelled'"}, "strange": {"status": "'teleported'"},
		// A guest whose first order was cancelled, and who came back; another guest; one of whom nothing is known.
		"first": {"status": "'cancelled'", "cancellation_by": "'customer'", "customer_key": "'ana'"},
		"again": {"status": "'completed'", "customer_key": "'ana'", "created_at": w.yesterday("13:00:00")},
		"third": {"status": "'completed'", "customer_key": "'ana'", "created_at": w.yesterday("14:00:00")},
		"other": {"status": "'ready'", "customer_key": "'ion'"},
		"plain": {"status": "'completed'", "business_id": "'plain'"},
		// One that is late now, and one that rings.
		"late":    {"status": "'accepted'", "accepted_at": w.yesterday("12:03:00"), "estimated_ready_at": w.yesterday("12:30:00")},
		"ringing": {"status": "'received'", "type": "'delivery'"},
		// Ready five minutes early and late to the second, and a little later.
		"early":  {"status": "'ready'", "accepted_at": w.yesterday("12:02:00"), "estimated_ready_at": w.yesterday("12:30:00"), "ready_at": w.yesterday("12:25:00")},
		"later":  {"status": "'ready'", "accepted_at": w.yesterday("12:04:00"), "estimated_ready_at": w.yesterday("12:30:00"), "ready_at": w.yesterday("12:35:00")},
		"behind": {"status": "'ready'", "accepted_at": w.yesterday("12:03:00"), "estimated_ready_at": w.yesterday("12:30:00"), "ready_at": w.yesterday("12:36:00")},
	} {
		all := columns{"business_id": "'odd'", "id": literal(id), "external_id": literal("web-" + id), "location_id": "'own'", "type": "'pickup'", "totals_items": "10", "totals_total": "12", "_version": "1"}
		maps.Copy(all, noon)
		maps.Copy(all, own)
		names := slices.Sorted(maps.Keys(all))
		var values []string
		for _, name := range names {
			values = append(values, all[name])
		}
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.online_orders (%s) SELECT %s", strings.Join(names, ", "), strings.Join(values, ", ")))
	}
}

// yesterday is a time of that day.
func (w *warehouse) yesterday(clock string) string {
	return "toDateTime64('" + w.to.AddDate(0, 0, -1).Format("2006-01-02") + " " + clock + "', 6, 'Europe/Bucharest')"
}

// oddMenus are versions of a menu, one each hour.
func (w *warehouse) oddMenus() {
	w.t.Helper()
	for state, p := range []struct {
		id, name  string
		price     int
		available bool
	}{
		{"soup", "Ciorbă", 20, true}, {"soup", "Ciorbă", 22, true}, {"soup", "Ciorbă", 22, false}, {"bread", "Pâine", 5, true}, {"cake", "Prăjitură", 15, true},
		{"soup", "Supă", 22, true}, {"soup", "Supă", 25, false}, {"bread", "Pâine de casă", 5, true},
	} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.menu_states (business_id, id, product_id, name, price, available, _state) SELECT 'odd', 'own', '%s', '%s', %d, %v, %d",
			p.id, p.name, p.price, p.available, state+1))
	}
	for hour, states := range []string{"[1, 4]", "[2, 4]", "[3, 4, 5]", "[4, 5, 6]", "[4, 6]", "[4, 5, 6]", "[4, 5, 7]", "[5, 7, 8]"} {
		at := w.yesterday(fmt.Sprintf("%02d:00:00", 9+hour))
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.menu_versions (business_id, id, _states, valid_from, seen_at, _version) SELECT 'odd', 'own', %s, %s, %s, %d", states, at, at, hour+1))
	}
}

// TestOddOnlineOrders looks at what owners see of orders and menus that are rare.
func TestOddOnlineOrders(t *testing.T) {
	w := newBareWarehouse(t)
	w.exec("INSERT INTO larder_raw.locations (business_id, id, name, _version) VALUES ('odd', 'own', 'Bistro Centru', 1)")
	w.oddOrders()
	w.oddMenus()
	c := w.mine()
	c.restaurants = []string{oddID}
	show := func(panel string) answer { return w.shown(t, "online-orders", panel, c) }

	same(t, "now", show("today").rows(t, "placed_today", "sales_today", "waiting", "cooking", "overdue"), []string{"0 0 1 1 1"})
	same(t, "the period", show("period").rows(t, "placed", "accepted_share", "net_sales", "average_order"), []string{"12 80 70 10"})
	same(t, "the funnel", show("funnel").rows(t, "ordered", "accepted", "ready", "completed", "rejected", "no_answer", "cancelled"), []string{"12 4 3 2 1 0 2"})
	same(t, "lost orders", show("lost").rows(t, "lost_reason", "orders", "lost"), []string{"by_customer 1 10", "by_nobody 1 10", "other 1 10"})
	same(t, "waits", show("waits").rows(t, "accept_half", "accept_ninety", "ready_half", "ready_ninety", "on_time_share"), []string{"3 3.7 31 32.6 66.66666666666667"})
	same(t, "the promised time", show("promised").rows(t, "early", "in_time", "late_some", "late_much"), []string{"0 2 1 0"})
	same(t, "guests", show("returning").rows(t, "returned", "first_time"), []string{"1 2"})
	if a := show("scheduled"); len(a.lines) > 0 {
		t.Errorf("a test order is among the scheduled ones: %v", a.lines)
	}
	same(t, "the menu", show("menu").rows(t, "product", "change", "old_price", "new_price"), []string{
		"Ciorbă price 20 22", "Ciorbă sold_out null null", "Prăjitură added null 15", "Prăjitură added null 15", "Prăjitură removed 15 null",
		"Pâine de casă other null null", "Supă back null null", "Supă price 22 25", "Supă sold_out null null",
	})
	c.restaurants = []string{"plain"}
	if a := show("returning"); len(a.lines) > 0 {
		t.Errorf("guests without pseudonyms are told apart: %v", a.lines)
	}
	same(t, "orders without pseudonyms", show("period").rows(t, "placed", "net_sales"), []string{"1 10"})
}
