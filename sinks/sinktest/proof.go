package sinktest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/larder-sync/larder/sinks"
)

// words makes a map of names and values, one after the other.
func words(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// simple is an order of one figure, for tests of which orders count.
func simple(id, source, location, day string, version uint64, net string) soldOrder {
	return soldOrder{id: id, source: source, location: location, kind: "dine_in", channel: "pos", day: day, version: version,
		totals: words("totals_net_sales", net), items: []soldItem{{words: words("product_id", "p", "name", "n", "quantity", "1", "unit_price", net, "total", net)}}}
}

// year is a query that finds everything the tests sell.
var year = sinks.DayQuery{Business: business, From: "2026-01-01", To: "2026-12-31"}

const huge = "9999999999999999.99"

// testSalesDays adds up orders of every figure, with keys that nobody knows, amounts
// at their extremes, and refunds around the Bucharest midnight and the change of clock.
func testSalesDays(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	full := soldOrder{id: "a", source: source, location: "l1", kind: "dine_in", channel: "pos", day: "2026-03-28", version: 1,
		totals: words("totals_net_sales", "30.00", "totals_items", "33.50", "totals_discount", "3.50", "totals_delivery_fee", "1.25",
			"totals_tip", "2.00", "totals_deposit", "0.50", "totals_total", "32.50"),
		payments: []map[string]string{words("method", "cash", "amount", "12.50"), words("method", "card", "amount", "20.00"), words("method", "cash", "amount", "0.01")},
		refunds: []map[string]string{words("amount", "5.00", "at", "2026-03-28T21:59:59Z"), words("amount", "7.00", "at", "2026-03-28T22:00:00Z"),
			words("amount", "0.30", "at", "2026-03-29T20:59:59Z"), words("amount", "0.40", "at", "2026-03-29T21:00:00Z")}}
	odd := full
	odd.id, odd.kind, odd.channel, odd.refunds = "b", `cater'ing`, "platform_ș", nil
	odd.payments = []map[string]string{words("method", "meal/ticket", "amount", "32.50"), words("method", "voucher", "amount", "0.00")}
	cancelling := simple("c", source, "l1", "2026-03-27", 1, "-4.00")
	late := simple("late", source, "l1", "2025-12-31", 1, "9.00")
	late.refunds = []map[string]string{words("amount", "9.00", "at", "2026-10-25T22:00:00Z"), words("amount", "1.00", "at", "2026-10-25T21:59:59.999999Z"), words("amount", "2.00", "at", "2027-01-01T00:00:00Z")}
	for _, o := range []soldOrder{full, odd, cancelling, simple("d", source, "l1", "2026-03-27", 1, "4.00"), late,
		simple("e", source, "l1", "2026-05-01", 1, huge), simple("f", source, "l1", "2026-05-01", 1, huge), simple("g", source, "l1", "2026-05-01", 1, huge)} {
		store(t, s, sell(h, o))
	}
	expectFigures(t, s.SalesDays, year,
		day1("2026-03-27", "orders", "2"),
		day1("2026-03-28", "orders", "2", "net_sales", "60.00", "items", "67.00", "discounts", "7.00", "delivery_fees", "2.50", "tips", "4.00", "deposits", "1.00",
			"refunds", "5.00", "payments/cash", "12.51", "payments/card", "20.00", "payments/meal/ticket", "32.50",
			"by_type/dine_in", "30.00", "by_type/cater'ing", "30.00", "by_channel/pos", "30.00", "by_channel/platform_ș", "30.00"),
		day1("2026-03-29", "refunds", "7.30"), day1("2026-03-30", "refunds", "0.40"),
		day1("2026-05-01", "orders", "3", "net_sales", "29999999999999999.97", "by_type/dine_in", "29999999999999999.97", "by_channel/pos", "29999999999999999.97"),
		day1("2026-10-25", "refunds", "1.00"), day1("2026-10-26", "refunds", "9.00"))
	narrow := sinks.DayQuery{Business: business, From: "2026-03-29", To: "2026-03-30"}
	expectFigures(t, s.SalesDays, narrow, day1("2026-03-29", "refunds", "7.30"), day1("2026-03-30", "refunds", "0.40"))
	narrow.Business = "biz-2"
	expectFigures(t, s.SalesDays, narrow)
}

// testSalesProducts adds up lines: of one product under two names, of two names
// without a product, weighed, with extras, rounded, and of 38 digits.
func testSalesProducts(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	item := func(extras []string, pairs ...string) soldItem {
		return soldItem{words: words(pairs...), extras: extras}
	}
	o := soldOrder{id: "a", source: source, location: "l1", day: "2026-03-28", version: 1, items: []soldItem{
		item([]string{"1.00", "0.50"}, "product_id", "p1", "name", "Mici", "quantity", "2", "unit_price", "10.00", "total", "21.50"),
		item(nil, "product_id", "p1", "name", "Mici noi", "quantity", "1", "unit_price", "11.00", "total", "11.00"),
		item(nil, "name", "p1", "quantity", "1", "unit_price", "12.00", "total", "10.50"),
		item(nil, "name", "", "quantity", "1", "unit_price", "3.00", "total", "3.00"),
		// 0.125 x 0.20 is 0.025, 0.135 x 9.99 is 1.34865, and -0.125 x 0.20 is -0.025.
		item(nil, "product_id", "kg", "name", "Brânză", "quantity", "0.125", "weight_kg", "0.125", "price_per_kg", "0.20", "unit_price", "0.20", "total", "0.02"),
		item([]string{"0.99"}, "product_id", "kg", "name", "Brânză", "quantity", "0.135", "weight_kg", "0.135", "unit_price", "9.00", "total", "1.35"),
		item(nil, "product_id", "back", "name", "Retur", "quantity", "-0.125", "unit_price", "0.20"),
		item(nil, "product_id", "free", "name", "Apă", "quantity", "3", "unit_price", "5.00"),
		item(nil, "product_id", "void", "name", "nothing")}}
	more := o
	more.id, more.day = "b", "2026-03-29"
	more.items = []soldItem{
		item(nil, "product_id", "big", "name", "x", "quantity", "9999999999999999999999999999.9999999999", "unit_price", huge, "total", huge),
		item(nil, "product_id", "big", "name", "x", "quantity", "9999999999999999999999999999.9999999999", "unit_price", huge, "total", huge),
		item(nil, "product_id", "small", "name", "x", "quantity", "0.0000000001", "unit_price", "0.01", "total", "0.00")}
	store(t, s, sell(h, o))
	store(t, s, sell(h, more))
	expectFigures(t, s.SalesProducts, year,
		line1("2026-03-28", "n/", "quantity", "1", "gross", "3.00", "net", "3.00"),
		line1("2026-03-28", "n/p1", "quantity", "1", "gross", "12.00", "line_discounts", "1.50", "net", "10.50"),
		line1("2026-03-28", "p/back", "quantity", "-0.125", "gross", "-0.03", "line_discounts", "-0.03", "rounded_lines", "1"),
		line1("2026-03-28", "p/free", "quantity", "3", "gross", "15.00", "line_discounts", "15.00"),
		line1("2026-03-28", "p/kg", "quantity", "0.26", "weight_kg", "0.26", "gross", "1.38", "line_discounts", "0.01", "net", "1.37", "rounded_lines", "2"),
		line1("2026-03-28", "p/p1", "quantity", "3", "gross", "34.00", "line_discounts", "1.50", "net", "32.50"),
		line1("2026-03-29", "p/big", "quantity", "19999999999999999999999999999.9999999998",
			"gross", "199999999999999999799999999999999999998000000.00", "line_discounts", "199999999999999999799999999979999999998000000.02", "net", "19999999999999999.98", "rounded_lines", "2"),
		line1("2026-03-29", "p/small", "quantity", "0.0000000001", "rounded_lines", "1"))
}

func day1(day string, figures ...string) sinks.DayFigures {
	return sinks.DayFigures{Day: day, Figures: words(figures...)}
}

func line1(day, line string, figures ...string) sinks.DayFigures {
	return sinks.DayFigures{Day: day, Line: line, Figures: words(figures...)}
}

// expectFigures compares days and lines in order, without what is zero.
func expectFigures(t *testing.T, ask func(context.Context, sinks.DayQuery) ([]sinks.DayFigures, error), q sinks.DayQuery, want ...sinks.DayFigures) {
	t.Helper()
	answer, err := ask(within(t), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []sinks.DayFigures
	for _, d := range answer {
		maps.DeleteFunc(d.Figures, func(_, amount string) bool { return rat(amount).Sign() == 0 })
		if slices.Sort(d.IDs); len(d.Figures) > 0 {
			got = append(got, d)
		}
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%+v (-want +got):\n%s", q, diff)
	}
}

// testWhoseTotals asks for the totals of every selection of orders, and compares with
// what its words say.
func testWhoseTotals(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	day := "2026-06-01"
	live := []placed{{"a", source, "l1", 1}, {"b", source, "l2", 2}, {"c", "other", "l1", 3}, {"d", "other", "l2", 4}, {"e", "other", "it's", 5}}
	for n, p := range live {
		o := simple(p.id, p.source, p.location, day, p.version, fmt.Sprint(1<<n, ".00"))
		o.refunds = []map[string]string{words("amount", fmt.Sprint(1<<n, ".00"), "at", day+"T12:00:00Z")}
		store(t, s, sell(h, o))
	}
	elsewhere := sell(h, simple("a", source, "l1", day, 9, "500.00"))
	elsewhere.Business = "biz-2"
	store(t, s, elsewhere)
	asked := 0
	for _, location := range []string{"", "l1", "it's"} {
		for _, q := range queries("sales_orders") {
			if q.Before != "" || q.Below > 0 {
				continue
			}
			if asked++; asked%thinned != 0 {
				continue
			}
			sum, orders := 0, 0
			for n, p := range live {
				if selects(q, p, true) && (location == "" || p.location == location) {
					sum, orders = sum+1<<n, orders+1
				}
			}
			whose := sinks.DayQuery{Business: business, From: day, To: day, Location: location, Source: q.Source, Locations: q.Locations, Except: q.Except}
			expectSum(t, s, whose, orders, fmt.Sprint(sum, ".00"))
		}
	}
}

// expectSum expects orders of one figure and one line alone, refunded on their day.
func expectSum(t *testing.T, s sinks.Sink, q sinks.DayQuery, orders int, sum string) {
	t.Helper()
	if orders == 0 {
		expectFigures(t, s.SalesDays, q)
		expectFigures(t, s.SalesProducts, q)
		return
	}
	expectFigures(t, s.SalesDays, q, day1(q.From, "orders", fmt.Sprint(orders), "net_sales", sum, "refunds", sum, "by_type/dine_in", sum, "by_channel/pos", sum))
	expectFigures(t, s.SalesProducts, q, line1(q.From, "p/p", "quantity", fmt.Sprint(orders), "gross", sum, "net", sum))
}

// testNewestTotals changes, moves, removes and revives orders: what they were counts
// no more, on whichever day that was.
func testNewestTotals(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	const first, second = "2026-06-01", "2026-07-01"
	on := func(day string, version uint64, net string, ids ...string) {
		for _, id := range ids {
			store(t, s, sell(h, simple(id, source, "l1", day, version, net)))
		}
	}
	on(first, 1, "1.00", "kept", "edited", "moved", "buried", "revived", "stale")
	store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "sales_orders", Tombstones: []sinks.Tombstone{
		tombstone("buried", 5, "cancelled"), tombstone("revived", 5, "unpaid"), tombstone("never seen", 5, "deleted")}})
	on(first, 6, "20.00", "edited", "revived")
	on(second, 6, "300.00", "moved")
	on(first, 0, "4000.00", "stale")
	for day, want := range map[string]sinks.DayFigures{
		first:        day1(first, "orders", "4", "net_sales", "42.00", "by_type/dine_in", "42.00", "by_channel/pos", "42.00"),
		second:       day1(second, "orders", "1", "net_sales", "300.00", "by_type/dine_in", "300.00", "by_channel/pos", "300.00"),
		"1970-01-01": {},
	} {
		q := sinks.DayQuery{Business: business, From: day, To: day}
		if want.Day == "" {
			expectFigures(t, s.SalesDays, q)
			continue
		}
		expectFigures(t, s.SalesDays, q, want)
		expectFigures(t, s.SalesProducts, q, line1(day, "p/p", "quantity", want.Figures["orders"], "gross", want.Figures["net_sales"], "net", want.Figures["net_sales"]))
	}
	expectDay(t, s, first, "edited", "kept", "revived", "stale")
	expectDay(t, s, second, "moved")
	expectDay(t, s, "2026-06-02")
}

// testRemovedRefunds removes orders with refunds, some whose values were never seen, one
// that comes back, and one of a location that the key lost.
func testRemovedRefunds(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	refunded := func(id, source, location string, amount string) {
		o := simple(id, source, location, "2026-03-01", 1, "1.00")
		switch id {
		case "cancelled": // it could have been refunded on the day of its removal
			o.totals["totals_total"], o.totals["updated_at"] = "10.00", "2026-11-20T22:00:00Z"
		case "gone": // and on the day before
			o.totals["totals_total"], o.totals["updated_at"] = "20.00", "2026-11-20T21:59:59Z"
		case "undated": // on any day since its last change, as nobody says when it was removed
			o.totals["totals_total"], o.totals["updated_at"] = "129.50", "2026-12-01T12:00:00Z"
		case "live":
			o.totals["totals_total"] = "40.00"
		}
		o.refunds = []map[string]string{words("amount", amount, "at", "2026-03-28T22:00:00Z"), words("amount", "0.50", "at", "2026-03-29T21:00:00Z")}
		store(t, s, sell(h, o))
	}
	for n, id := range []string{"live", "cancelled", "gone", "revived", "lost"} {
		refunded(id, source, "l1", fmt.Sprint(1<<n, ".00"))
	}
	refunded("elsewhere", "other", "l2", "64.00")
	refunded("undated", source, "l1", "128.00")
	buried := func(source string, of ...sinks.Tombstone) {
		store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "sales_orders", Tombstones: of})
	}
	unseen := func(id, reason string, deleted, updated, fetched time.Time) sinks.Tombstone {
		b := tombstone(id, 5, reason)
		b.DeletedAt, b.UpdatedAt, b.FetchedAt = deleted, updated, fetched
		return b
	}
	february, midnight := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC)
	buried(source, tombstone("cancelled", 5, "cancelled"), tombstone("gone", 5, "gone"), tombstone("revived", 5, "unpaid"), tombstone("lost", 5, "no_access"),
		unseen("never seen", "cancelled", midnight, midnight.AddDate(0, 1, 0), midnight.AddDate(0, 3, 0)),
		unseen("without deleted_at", "deleted", time.Time{}, february, midnight.AddDate(0, 3, 0)),
		unseen("without any", "gone", time.Time{}, time.Time{}, february),
		unseen("undated", "gone", time.Time{}, time.Time{}, time.Date(2026, 12, 3, 12, 0, 0, 0, time.UTC)),
		unseen("never paid", "unpaid", midnight.AddDate(0, 1, 0), time.Time{}, midnight))
	buried(source, tombstone("cancelled", 7, "deleted"))
	buried("other", tombstone("elsewhere", 5, "cancelled"), unseen("unseen elsewhere", "cancelled", time.Time{}, february, midnight.AddDate(0, 3, 0)))
	store(t, s, sell(h, simple("revived", source, "l1", "2026-03-01", 6, "1.00")))
	on := func(day string, q sinks.DayQuery) sinks.DayQuery {
		q.Business, q.From, q.To = business, day, day
		return q
	}
	until := ""
	refunds := func(ctx context.Context, q sinks.DayQuery) (days []sinks.DayFigures, err error) {
		days, until, err = s.RemovedRefunds(ctx, q)
		return days, err
	}
	of := func(d sinks.DayFigures, ids ...string) sinks.DayFigures {
		d.IDs = ids
		return d
	}
	for name, c := range map[string]struct {
		q     sinks.DayQuery
		until string
		want  []sinks.DayFigures
	}{
		"all": {year, "2026-03-29", []sinks.DayFigures{of(day1("2026-03-29", "deleted", "2.00", "gone", "132.00", "cancelled", "64.00"), "cancelled", "elsewhere", "gone", "undated"), of(day1("2026-03-30", "deleted", "0.50", "gone", "1.00", "cancelled", "0.50"), "cancelled", "elsewhere", "gone", "undated"),
			day1("2026-11-20", sinks.UnseenRefunds, "15.50"), day1("2026-11-21", sinks.UnseenRefunds, "23.00"),
			day1("2026-12-01", sinks.UnseenRefunds, "1.00"), day1("2026-12-02", sinks.UnseenRefunds, "1.00"), day1("2026-12-03", sinks.UnseenRefunds, "1.00")}},
		"a day":            {on("2026-03-30", sinks.DayQuery{}), "2026-03-29", []sinks.DayFigures{of(day1("2026-03-30", "deleted", "0.50", "gone", "1.00", "cancelled", "0.50"), "cancelled", "elsewhere", "gone", "undated")}},
		"a location":       {on("2026-03-29", sinks.DayQuery{Location: "l2"}), "2026-03-29", []sinks.DayFigures{of(day1("2026-03-29", "cancelled", "64.00"), "elsewhere")}},
		"a source":         {on("2026-03-29", sinks.DayQuery{Source: source, Locations: []string{}}), "2026-03-29", []sinks.DayFigures{of(day1("2026-03-29", "deleted", "2.00", "gone", "132.00"), "cancelled", "gone", "undated")}},
		"and a location":   {on("2026-03-29", sinks.DayQuery{Source: "other", Locations: []string{"l1"}}), "2026-02-01", []sinks.DayFigures{of(day1("2026-03-29", "deleted", "2.00", "gone", "132.00", "cancelled", "64.00"), "cancelled", "elsewhere", "gone", "undated")}},
		"but a location":   {on("2026-03-29", sinks.DayQuery{Except: []string{"l1"}}), "2026-03-29", []sinks.DayFigures{of(day1("2026-03-29", "cancelled", "64.00"), "elsewhere")}},
		"another business": {sinks.DayQuery{Business: "biz-2", From: "2026-01-01", To: "2026-12-31"}, "", nil},
	} {
		if expectFigures(t, refunds, c.q, c.want...); until != c.until {
			t.Errorf("%s: values are unknown until %q, want %q", name, until, c.until)
		}
	}
}

// expectDay expects the live orders of a day, and as many when they are counted.
func expectDay(t *testing.T, s sinks.Sink, day string, want ...string) {
	t.Helper()
	q := sinks.LiveQuery{Table: "sales_orders", Business: business, Day: day}
	rows, err := s.Live(within(t), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.ID)
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("live orders of %s (-want +got):\n%s", day, diff)
	}
	if n, err := s.CountLive(within(t), q); err != nil || n != uint64(len(want)) {
		t.Errorf("%d live orders of %s are counted, want %d: %v", n, day, len(want), err)
	}
}

// testVerdicts writes verdicts of one day again and again, in one commit and in many.
func testVerdicts(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	verdict := func(day, location, subject, found string, minutes int) sinks.Verdict {
		return sinks.Verdict{Location: location, Day: day, Subject: subject, Verdict: found, AskedAt: now.Add(time.Duration(minutes) * time.Minute)}
	}
	drift := verdict("2026-03-29", "", sinks.SubjectProducts, sinks.VerdictDrift, 3)
	drift.Differences = []sinks.Difference{{Figure: "p/42: net", Service: "12.00", Mirror: "13.00"}, {Figure: `payments/it's "new"`, Service: "", Mirror: "-0.01"}}
	drift.OrderIDs, drift.Requests, drift.Reason, drift.HealingTried = oddIDs, 17, "two\tlines\nof words", true
	commit := func(verdicts ...sinks.Verdict) *sinks.Commit {
		return &sinks.Commit{Source: source, Business: business, Stream: "sales_orders", Verdicts: verdicts}
	}
	daily, unproven := verdict("2026-03-29", "", sinks.SubjectDaily, sinks.VerdictProven, 5), verdict("2026-03-30", "l1", sinks.SubjectDaily, sinks.VerdictUnproven, 1)
	later, earlier := verdict("2026-03-31", "l1", sinks.SubjectDaily, sinks.VerdictHealed, 1), verdict("1999-12-31", "l1", sinks.SubjectDaily, sinks.VerdictHealed, 1)
	store(t, s, commit(verdict("2026-03-29", "", sinks.SubjectDaily, sinks.VerdictUnsettled, 9), drift, later, earlier,
		verdict("2026-03-29", "", sinks.SubjectDaily, sinks.VerdictDrift, 2)))
	store(t, s, commit(unproven, verdict("2026-03-30", "", sinks.SubjectDaily, sinks.VerdictDrift, 1)))
	store(t, s, commit(verdict("2026-03-30", "", sinks.SubjectDaily, sinks.VerdictWithdrawn, 1)))
	store(t, s, commit(daily)) // the last written stands, whatever its clock says
	elsewhere := commit(verdict("2026-03-29", "", sinks.SubjectDaily, sinks.VerdictDrift, 99))
	elsewhere.Source = "other"
	store(t, s, elsewhere)
	for name, reader := range map[string]sinks.Sink{"the same sink": s, "another sink": open(t, h, Options{})} {
		got, err := reader.Verdicts(within(t), business, source, "2026-03-29", "2026-03-30")
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff([]sinks.Verdict{daily, drift, unproven}, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("verdicts read by %s (-want +got):\n%s", name, diff)
		}
	}
	for _, who := range [][2]string{{business, "nobody"}, {"biz-2", source}} {
		if got, err := s.Verdicts(within(t), who[0], who[1], "1900-01-01", "2299-12-31"); err != nil || len(got) > 0 {
			t.Errorf("verdicts of %q: %v, %v", who, got, err)
		}
	}
}

func testNoDay(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	for _, day := range []string{"", "2026-02-30", "2026-3-1", "yesterday"} {
		_, err := s.Write(within(t), &sinks.Commit{Source: source, Business: business, Stream: "sales_orders", Verdicts: []sinks.Verdict{{Day: day}}})
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(day)) {
			t.Errorf("a verdict about day %q is written: %v", day, err)
		}
	}
}
