package clickhouse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// seen is one answer of the service about a row.
type seen struct {
	version uint64
	at      string // when it answered, as a time of day
	stamp   string // updated_at, or deleted_at of a tombstone (of an unpaid one updated_at); empty for none
	stock   string // empty for a tombstone
	reason  string
}

const historyDay = "2026-03-01T"

func clock(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, historyDay+text+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func stockRow(id, stock, stamp string) string {
	if stamp != "" {
		stamp = `"` + historyDay + stamp + `Z"`
	} else {
		stamp = "null"
	}
	return strings.NewReplacer(`"s1"`, `"`+id+`"`, "STOCK", stock, `"STAMP"`, stamp).Replace(ingredientJSON)
}

// see stores one answer, as a commit of its own.
func (m *mirror) see(id string, s seen) {
	m.t.Helper()
	at := clock(m.t, s.at)
	if s.stock == "" {
		stone := sinks.Tombstone{ID: id, Version: s.version, FetchedAt: at, Reason: s.reason}
		switch {
		case s.stamp == "":
		case s.reason == "unpaid":
			stone.UpdatedAt = clock(m.t, s.stamp)
		default:
			stone.DeletedAt = clock(m.t, s.stamp)
		}
		m.store("biz", "ingredients", nil, stone)
		return
	}
	m.version, m.at = s.version-1, at.Add(-time.Minute) // batchOf moves both on
	put[types.Ingredient](m, "biz", "ingredients", stockRow(id, s.stock, s.stamp))
}

func TestHistoryHoldsEveryStateOnce(t *testing.T) {
	m := newMirror(t)
	for i, c := range []struct {
		name string
		seen []seen
		want []string
	}{
		{"repeats and a full resync", []seen{
			{1, "10:00:00", "09:00:00", "5.000", ""}, {2, "10:01:00", "09:00:00", "5.000", ""}, {3, "11:00:00", "10:30:00", "5.000", ""},
			{4, "12:00:00", "11:30:00", "6.000", ""}, {5, "13:00:00", "11:30:00", "6.000", ""}, {6, "14:00:00", "13:30:00", "5.000", ""},
		}, []string{"5|09:00:00|11:30:00|", "6|11:30:00|13:30:00|", "5|13:30:00|-|"}},
		{"a change dated before a repeat, which held then", []seen{
			{1, "10:00:00", "09:00:00", "5.000", ""}, {2, "11:00:00", "10:30:00", "5.000", ""}, {3, "12:00:00", "10:00:00", "6.000", ""},
		}, []string{"5|09:00:00|12:00:00|", "6|12:00:00|-|"}},
		{"no updated_at", []seen{{1, "10:00:00", "", "5.000", ""}, {2, "11:00:00", "", "5.000", ""}, {3, "12:00:00", "", "6.000", ""}},
			[]string{"5|10:00:00|12:00:00|", "6|12:00:00|-|"}},
		{"an older version arrives after a newer one", []seen{
			{1, "10:00:00", "09:00:00", "5.000", ""}, {9, "12:00:00", "11:00:00", "7.000", ""}, {4, "11:00:00", "10:30:00", "6.000", ""},
		}, []string{"5|09:00:00|10:30:00|", "6|10:30:00|11:00:00|", "7|11:00:00|-|"}},
		{"two changes with one stamp", []seen{{1, "10:00:10", "10:00:00", "5.000", ""}, {2, "10:00:40", "10:00:00", "6.000", ""}},
			[]string{"5|10:00:00|10:00:40|", "6|10:00:40|-|"}},
		{"a change without a new stamp, found by a full resync", []seen{{1, "10:00:00", "04:00:00", "5.000", ""}, {2, "18:00:00", "04:00:00", "6.000", ""}},
			[]string{"5|04:00:00|18:00:00|", "6|18:00:00|-|"}},
		{"the service's clock steps back", []seen{
			{1, "10:00:00", "09:59:00", "5.000", ""}, {2, "09:10:00", "09:09:00", "6.000", ""}, {3, "09:20:00", "09:19:00", "7.000", ""}, {4, "11:00:00", "10:30:00", "8.000", ""},
		}, []string{"5|09:59:00|09:59:00|", "6|09:59:00|09:59:00|", "7|09:59:00|10:30:00|", "8|10:30:00|-|"}},
		{"a row dated in the future", []seen{{1, "10:00:00", "23:00:00", "5.000", ""}, {2, "11:00:00", "10:30:00", "6.000", ""}},
			[]string{"5|10:00:00|10:30:00|", "6|10:30:00|-|"}},
		{"removed, removed again for another reason, revived", []seen{
			{1, "10:00:00", "09:00:00", "5.000", ""}, {2, "11:00:00", "10:30:00", "", "gone"}, {3, "12:00:00", "10:30:00", "", "gone"},
			{4, "13:00:00", "", "", "no_access"}, {5, "14:00:00", "09:00:00", "5.000", ""},
		}, []string{"5|09:00:00|10:30:00|", "5|10:30:00|13:00:00|gone", "5|13:00:00|14:00:00|no_access", "5|14:00:00|-|"}},
		{"removed with nothing but updated_at", []seen{{1, "10:00:00", "09:00:00", "5.000", ""}, {2, "12:00:00", "10:30:00", "", "unpaid"}},
			[]string{"5|09:00:00|10:30:00|", "5|10:30:00|-|unpaid"}},
		{"removed before it was ever seen", []seen{{1, "10:00:00", "09:00:00", "", "deleted"}, {2, "11:00:00", "10:30:00", "5.000", ""}},
			[]string{"0|09:00:00|10:30:00|deleted", "5|10:30:00|-|"}},
	} {
		id := fmt.Sprint("case ", i)
		for _, s := range c.seen {
			m.see(id, s)
		}
		t.Run(c.name, func(t *testing.T) {
			m := &mirror{Sink: m.Sink, t: t}
			m.expect(fmt.Sprintf(`SELECT stock, formatDateTime(valid_from, '%%T', 'UTC'), ifNull(formatDateTime(valid_to, '%%T', 'UTC'), '-'), removed_reason
FROM stock_history WHERE id = '%s' ORDER BY valid_from, valid_to, stock`, id), c.want...)
		})
	}
}

// One id in two restaurants is two rows, each with a history of its own.
func TestHistoryOfOneIDInTwoRestaurants(t *testing.T) {
	m := newMirror(t)
	m.version, m.at = 0, clock(t, "10:00:00")
	for _, change := range []struct{ business, n, stamp string }{
		{"a", "5", "09:00:00"}, {"b", "7", "09:10:00"}, {"a", "6", "09:20:00"}, {"b", "7", "09:30:00"}, {"b", "5", "09:40:00"},
	} {
		put[types.Ingredient](m, change.business, "ingredients", stockRow("s1", change.n+".000", change.stamp))
		put[types.Product](m, change.business, "products", product(change.n+".00", "true", historyDay+change.stamp+"Z"))
	}
	for value, view := range map[string]string{"stock": "stock_history", "price": "product_history"} {
		m.expect(fmt.Sprintf(`SELECT business_id, %s, formatDateTime(valid_from, '%%T', 'UTC'), ifNull(formatDateTime(valid_to, '%%T', 'UTC'), '-')
FROM %s ORDER BY business_id, valid_from`, value, view), "a|5|09:00:00|09:20:00", "a|6|09:20:00|-", "b|7|09:10:00|09:40:00", "b|5|09:40:00|-")
	}
}

// TestHistoryHasNoGapsAndNoOverlaps stores answers with stamps and clocks at random
// and in any order: there are as many states as the row had, each begins when the one
// before it ends, and one holds now.
func TestHistoryHasNoGapsAndNoOverlaps(t *testing.T) {
	m := newMirror(t)
	random := rand.New(rand.NewPCG(5, 17))
	plan, err := mapping.Compile[types.Ingredient]("ingredients")
	if err != nil {
		t.Fatal(err)
	}
	const rows, answers = 60, 10
	want := map[string]int{}
	commits := make([]*sinks.Batch, answers)
	for i := range commits {
		commits[i] = sinks.NewBatch(plan.Table(), rows)
	}
	mapper := plan.NewMapper()
	for r := range rows {
		id, last := fmt.Sprint("r", r), -1
		order := random.Perm(answers)
		for version := range answers {
			stock, stamp := random.IntN(3), ""
			if random.IntN(5) > 0 {
				stamp = fmt.Sprintf("10:%02d:%02d", random.IntN(3), random.IntN(60))
			}
			if stock != last {
				want[id]++
			}
			last = stock
			b := commits[order[version]]
			raw := []byte(stockRow(id, fmt.Sprintf("%d.000", stock), stamp))
			if _, err := mapper.Append(b, raw); err != nil {
				t.Fatal(err)
			}
			at := clock(t, fmt.Sprintf("10:%02d:%02d", random.IntN(4), random.IntN(60)))
			if err := b.EndRow(sinks.Row{ID: id, Version: uint64(version + 1), FetchedAt: at, Raw: raw}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, b := range commits {
		m.store("biz", "ingredients", b)
	}
	m.expect("SELECT count() FROM stock_history WHERE valid_to < valid_from", "0")
	// Sorted begins, without the first, are the sorted ends: nothing between them, nothing twice.
	m.expect(`SELECT count() FROM (SELECT id, arraySort(groupArray(valid_from)) AS begins, arraySort(groupArray(valid_to)) AS ends, countIf(valid_to IS NULL) AS open
FROM stock_history GROUP BY id HAVING open != 1 OR arrayPopFront(begins) != ends)`, "0")
	states := query(t, m.Sink, "SELECT id, count() FROM stock_history GROUP BY id", "TSV")
	for line := range strings.Lines(states) {
		id, n, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if fmt.Sprint(want[id]) != n {
			t.Errorf("%s has %s states, want %d", id, n, want[id])
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("no history of %v", want)
	}
}

func TestRemovedOrdersShowWhatTheyWereWorth(t *testing.T) {
	m := newMirror(t)
	day := "2026-03-28"
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", day, "[]"), orderRow("b", "l1", day, "[]"))
	m.remove("biz", "sales_orders", "a", "cancelled")
	m.version++
	m.store("biz", "sales_orders", nil,
		sinks.Tombstone{ID: "b", Version: m.version, FetchedAt: m.at, Reason: "unpaid", UpdatedAt: time.Date(2026, 3, 29, 7, 0, 0, 5000, time.UTC),
			Raw: []byte(`{"id":"b","deleted":true,"reason":"unpaid","by":"till 2"}`)},
		sinks.Tombstone{ID: "never", Version: m.version, FetchedAt: m.at, Reason: "unpaid", Raw: []byte(`{"id":"never"}`)})
	m.expect("SELECT id, reason, value_known, removed_at IS NULL, business_day, totals_net_sales, totals_tip, length(`items.id`), `payments.amount`, JSONExtractString(_raw, 'id') FROM sales_orders_removed ORDER BY id",
		"a|cancelled|true|0|2026-03-28|30|2|2|[12.5,20]|a", "b|unpaid|true|0|2026-03-28|30|2|2|[12.5,20]|b", `never|unpaid|false|1|\N|\N|\N|0|[]|never`)
	// When an order became unpaid is the updated_at of its tombstone; its own is that of its last life.
	m.expect("SELECT id, removed_at, updated_at, JSONExtractString(_tombstone_raw, 'by') FROM sales_orders_removed WHERE reason = 'unpaid' ORDER BY id",
		"b|2026-03-29 10:00:00.000005|2026-03-28 12:30:00.000000|till 2", `never|\N|\N|`)
	m.expect("SELECT id FROM sales_orders_removed ORDER BY id SETTINGS final = 1", "a", "b", "never")
	m.expect("SELECT count() FROM sales_orders", "0")
	// The tombstones of a sweep stand below what came since: an order that is live again stays so.
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", day, "[]"))
	m.store("biz", "sales_orders", nil, sinks.Tombstone{ID: "a", Version: m.version - 1, FetchedAt: m.at, Reason: "gone"})
	m.expect("SELECT id FROM sales_orders_removed ORDER BY id", "b", "never")
	m.expect("SELECT id FROM sales_orders", "a")
	m.expect("SELECT countIf(_tombstone_raw != '' OR isNotNull(_tombstone_updated_at)) FROM "+m.database+"_raw.sales_orders FINAL", "0")
}
