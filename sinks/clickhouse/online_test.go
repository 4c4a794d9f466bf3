package clickhouse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// placed is an order placed through a key, with these lines; change changes its fields.
func placed(id, status, items string, change ...string) string {
	row := fmt.Sprintf(`{"id":%q,"external_id":"web-1","number":null,"pickup_code":null,"status":%q,"test":false,"type":"pickup","location_id":"l1",
"scheduled_for":null,"placed_at":"2026-03-01T10:00:00Z","answer_by":null,"accepted_at":null,"estimated_ready_at":null,"ready_at":null,"completed_at":null,
"rejected_at":null,"cancelled_at":null,"rejection":null,"cancellation":null,"customer":null,"delivery":null,"notes":null,"allergies":null,"cutlery":null,
"items":[%s],"totals":{"items":"10.00","deposit":"0.00","tip":"0.00","total":"10.00"},"payment":{"status":"paid","method":"card","reference":null},
"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z"}`, id, status, items)
	for i := 0; i+1 < len(change); i += 2 {
		row = strings.Replace(row, fmt.Sprintf(`"%s":null`, change[i]), fmt.Sprintf(`"%s":"2026-03-01T%sZ"`, change[i], change[i+1]), 1)
	}
	return row
}

func putOnline(m *mirror, business, via string, rows ...string) {
	m.t.Helper()
	plan, err := mapping.Compile[types.OnlineOrder]("online_orders", sinks.Column{Name: "via", Kind: sinks.Text})
	if err != nil {
		m.t.Fatal(err)
	}
	m.store(business, "online_orders", batchOf(m, plan, rows, via))
}

const soup = `{"product_id":"p1","variant_id":null,"name":"Ciorbă","variant_name":null,"quantity":1,"unit_price":"10.00","options":[],"notes":null,"deposit":"0.00","total":"10.00"}`

// The service keeps external_id unique for one key: two restaurants may use the same.
func TestOneExternalIDInTwoRestaurants(t *testing.T) {
	m := newMirror(t)
	for _, business := range []string{"biz", "other"} {
		putOnline(m, business, "polling", placed("o1", "received", soup))
		putOnline(m, business, "webhook", placed("o2", "received", soup))
	}
	putOnline(m, "other", "webhook", placed("o1", "completed", soup+","+soup, "accepted_at", "10:01:00", "completed_at", "10:30:00"))
	m.expect("SELECT business_id, id, status, external_id, line_count FROM online_orders ORDER BY ALL",
		"biz|o1|received|web-1|1", "biz|o2|received|web-1|1", "other|o1|completed|web-1|2", "other|o2|received|web-1|1")
	m.expect("SELECT business_id, order_id, count() FROM online_order_items GROUP BY ALL ORDER BY ALL", "biz|o1|1", "biz|o2|1", "other|o1|2", "other|o2|1")
	m.expect("SELECT business_id, status, count() FROM order_events WHERE order_id = 'o1' GROUP BY ALL ORDER BY ALL",
		"biz|received|1", "other|accepted|1", "other|completed|1", "other|received|1")
}

// As many lines as an order may have, with ten options each.
func TestAnOnlineOrderOfAHundredLines(t *testing.T) {
	m := newMirror(t)
	var lines []string
	for line := range 100 {
		var options []string
		for option := range 10 {
			options = append(options, fmt.Sprintf(`{"id":"x%d","name":"Opțiune %[1]d","quantity":%d,"unit_price":"0.50"}`, option, 1+option%2))
		}
		lines = append(lines, strings.NewReplacer(`"p1"`, fmt.Sprintf(`"p%d"`, line), `"quantity":1`, `"quantity":3`, `"options":[]`, `"options":[`+strings.Join(options, ",")+`]`, `"total":"10.00"`, `"total":"52.50"`).Replace(soup))
	}
	putOnline(m, "biz", "webhook", placed("o1", "received", strings.Join(lines, ",")))
	m.expect("SELECT line_count, item_count FROM online_orders", "100|300")
	m.expect("SELECT count(), uniqExact(product_id), min(position), max(position), sum(options_total), sum(total) FROM online_order_items", "100|100|1|100|2250|5250")
	m.expect("SELECT count(), uniqExact(item_position, position), uniqExact(product_id), sum(amount) FROM online_order_options", "1000|1000|100|2250")
}

// The history of an order is what was first learned of each of its transitions. A status may
// skip steps or return from a final one, and an order may come again in any order: none of
// that adds a row, changes one or takes one away.
func TestTransitionsOfOrdersThatMoveStrangely(t *testing.T) {
	m := newMirror(t)
	const events = "SELECT status, at, via, received_at FROM order_events ORDER BY at, status"
	putOnline(m, "biz", "polling", placed("o1", "received", soup))
	putOnline(m, "biz", "webhook", placed("o1", "completed", soup, "completed_at", "10:30:00")) // neither accepted nor ready
	want := []string{
		"received|2026-03-01 12:00:00.000000|polling|2026-04-01 15:01:00.000000",
		"completed|2026-03-01 12:30:00.000000|webhook|2026-04-01 15:02:00.000000",
	}
	m.expect(events, want...)
	for _, via := range []string{"webhook", "polling"} { // again, and from there back
		putOnline(m, "biz", via, placed("o1", "completed", soup, "completed_at", "10:30:00"))
		putOnline(m, "biz", via, placed("o1", "accepted", soup, "accepted_at", "10:05:00"))
	}
	want = []string{want[0], "accepted|2026-03-01 12:05:00.000000|webhook|2026-04-01 15:04:00.000000", want[1]}
	m.expect(events, want...)
	m.expect("SELECT status, via FROM online_orders", "accepted|polling")
	putOnline(m, "biz", "polling", placed("o1", "eaten", soup, "accepted_at", "10:06:00")) // and accepted at another time
	m.expect(events, want...)
	m.expect("SELECT status FROM online_orders", "eaten")
}
