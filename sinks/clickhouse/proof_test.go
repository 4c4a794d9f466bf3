package clickhouse_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

// verdicts stores what reconciliation found.
func (m *mirror) verdicts(business, source string, found ...sinks.Verdict) {
	m.t.Helper()
	receipt, err := m.Write(m.t.Context(), &sinks.Commit{Source: source, Business: business, Stream: "sales_orders", Verdicts: found})
	if err != nil {
		m.t.Fatal(err)
	}
	if err := receipt.Wait(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

func asked(day, location, subject, verdict string, hour int) sinks.Verdict {
	return sinks.Verdict{Day: day, Location: location, Subject: subject, Verdict: verdict, AskedAt: time.Date(2026, 4, 1, hour, 0, 0, 0, time.UTC)}
}

func TestReconciliationTakesVerdicts(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"), orderRow("b", "l1", "2026-03-29", "[]"))
	drift := asked("2026-03-28", "", sinks.SubjectProducts, sinks.VerdictDrift, 3)
	drift.Differences, drift.OrderIDs = []sinks.Difference{{Figure: "p/p1: net", Service: "22.00", Mirror: "23.00"}}, []string{"a"}
	healed := asked("2026-03-28", "l1", sinks.SubjectDaily, sinks.VerdictHealed, 4)
	healed.Differences = []sinks.Difference{{Figure: "orders", Service: "1", Mirror: "0"}}
	unproven := asked("2026-03-30", "", sinks.SubjectDaily, sinks.VerdictUnproven, 5)
	unproven.Reason = "the day is missing"
	m.verdicts("biz", "s", asked("2026-03-28", "", sinks.SubjectDaily, sinks.VerdictProven, 2), drift, healed, unproven,
		asked("2026-03-28", "l1", sinks.SubjectProducts, sinks.VerdictProven, 6))
	m.verdicts("biz", "other", asked("2026-03-28", "", sinks.SubjectProducts, sinks.VerdictProven, 9), asked("2026-03-28", "l1", sinks.SubjectDaily, sinks.VerdictDrift, 1))
	const compared = "date, verdict, toHour(toTimeZone(verdict_at, 'UTC')), `verdict_differences.figure`, `verdict_differences.service`, `verdict_differences.mirror`, verdict_order_ids, verdict_reason"
	m.expect("SELECT "+compared+" FROM reconciliation WHERE business_id = 'biz' ORDER BY date",
		`2026-03-28|drift|3|['p/p1: net']|['22.00']|['23.00']|['a']|`,
		`2026-03-29|unproven|\N|[]|[]|[]|[]|`,
		`2026-03-30|unproven|5|[]|[]|[]|[]|the day is missing`)
	m.expect("SELECT location_id, "+compared+" FROM reconciliation_by_location WHERE business_id = 'biz' ORDER BY date",
		"l1|2026-03-28|healed|4|['orders']|['1']|['0']|[]|",
		`l1|2026-03-29|unproven|\N|[]|[]|[]|[]|`)
	m.expect("SELECT verdict, mirror_net_sales, service_net_sales, service_payments, differences FROM reconciliation_by_location WHERE business_id = 'biz' AND date = '2026-03-28'",
		`healed|30|\N|{}|['no totals']`)
	m.verdicts("biz", "s", asked("2026-03-28", "", sinks.SubjectProducts, sinks.VerdictWithdrawn, 3), asked("2026-03-30", "", sinks.SubjectDaily, sinks.VerdictWithdrawn, 5))
	m.expect("SELECT date, verdict, toHour(toTimeZone(verdict_at, 'UTC')) FROM reconciliation WHERE business_id = 'biz' ORDER BY date",
		"2026-03-28|proven|2", `2026-03-29|unproven|\N`)
}

// Sources that ask at once share statements, and each gets what is its own.
func TestVerdictsAndFirstDaysOfManySources(t *testing.T) {
	m := newMirror(t)
	sources := [][2]string{{"b1", "s"}, {"b2", "s"}, {"b1", "other"}, {"b3", "none"}}
	put[types.SalesOrder](m, "b1", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"), orderRow("b", "l1", "2026-03-29", "[]"))
	put[types.SalesOrder](m, "b2", "sales_orders", orderRow("a", "l1", "2026-03-30", "[]"))
	for i, of := range sources[:3] {
		m.verdicts(of[0], of[1], asked("2026-03-28", "", sinks.SubjectDaily, sinks.VerdictProven, i+1), asked("2026-03-29", "l1", sinks.SubjectDaily, sinks.VerdictProven, i+1))
	}
	var all sync.WaitGroup
	for range 10 {
		for i, of := range sources {
			all.Go(func() {
				found, err := m.Verdicts(t.Context(), of[0], of[1], "2026-03-28", "2026-03-29")
				if want := min(3-i, 1) * 2; err != nil || len(found) != want || want > 0 && (found[0].Day != "2026-03-28" || found[1].Location != "l1" || found[1].AskedAt.UTC().Hour() != i+1) {
					t.Errorf("%v: %+v, %v", of, found, err)
				}
				first, err := m.FirstDay(t.Context(), of[0])
				if want := map[string]string{"b1": "2026-03-28", "b2": "2026-03-30"}[of[0]]; err != nil || first != want {
					t.Errorf("%v: its first day is %q, want %q: %v", of, first, want, err)
				}
			})
		}
	}
	all.Wait()
}

// An explained day is as good as proven while nothing else of it differs.
func TestExplainedDays(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"), orderRow("b", "l1", "2026-03-29", "[]"))
	explained := func(day, subject, figure string) sinks.Verdict {
		v := asked(day, "", subject, sinks.VerdictExplained, 2)
		v.Reason, v.Differences = "as left open", []sinks.Difference{{Figure: figure, Service: "9.00", Mirror: "0"}}
		return v
	}
	m.dayTotals("biz", "2026-03-28", "", "1", "30.00", "33.50", "3.50", "9.00", oneOrder)
	m.dayTotals("biz", "2026-03-29", "", "1", "31.00", "33.50", "3.50", "9.00", oneOrder)
	m.verdicts("biz", "s", explained("2026-03-28", sinks.SubjectDaily, "refunds"), asked("2026-03-28", "", sinks.SubjectProducts, sinks.VerdictProven, 3),
		explained("2026-03-29", sinks.SubjectDaily, "refunds"))
	m.expect("SELECT date, verdict, verdict_reason, differences FROM reconciliation ORDER BY date",
		"2026-03-28|explained|as left open|['refunds']", "2026-03-29|differs|as left open|['net_sales','refunds']")
	m.expect("SELECT proven_until, days_differing FROM proof", "2026-03-29|0")
}

// What is on the house is no money: it is among the payments, and was not taken.
func TestOnTheHouseIsNotTaken(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"),
		strings.Replace(orderRow("b", "l1", "2026-03-28", "[]"), `"method":"card"`, `"method":"protocol"`, 1))
	m.expect("SELECT net_sales, tips, deposits, cash, card, protocol, taken FROM day_close", "60|4|1|25|20|20|45")
}

// About single locations the service is asked at night: while a day runs what it said then
// stands hours behind the orders, and is not shown beside them.
func TestRunningDayOfALocationHasNoServiceFigures(t *testing.T) {
	m := newMirror(t)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly) // not over, however long the test takes
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", day, "[]"), orderRow("b", "l1", day, "[]"), orderRow("c", "l1", "2026-03-30", "[]"))
	for _, location := range []string{"", "l1"} {
		m.dayTotals("biz", day, location, "1", "30.00", "33.50", "3.50", "0.00", oneOrder)
		m.dayTotals("biz", "2026-03-30", location, "1", "30.00", "33.50", "3.50", "0.00", oneOrder)
		m.verdicts("biz", "s", asked(day, location, sinks.SubjectDaily, sinks.VerdictProven, 1), asked("2026-03-30", location, sinks.SubjectDaily, sinks.VerdictProven, 1))
	}
	const figures = "verdict, differences, service_orders, service_net_sales, service_payments, isNull(service_fetched_at), mirror_orders, mirror_net_sales"
	m.expect("SELECT "+figures+" FROM reconciliation_by_location WHERE business_id = 'biz' ORDER BY date",
		"proven|[]|1|30|{'card':20,'cash':12.5}|0|1|30", `open|['no totals']|\N|\N|{}|1|2|60`)
	m.expect("SELECT verdict, net_sales, cash, service_net_sales, service_items, service_refunds, service_payments, isNull(service_fetched_at) FROM day_close WHERE business_id = 'biz' ORDER BY date",
		"proven|30|12.5|30|33.5|0|{'card':20,'cash':12.5}|0", `open|60|25|\N|\N|\N|{}|1`)
	// About all of them together it is asked every few minutes.
	m.expect("SELECT verdict, service_net_sales, mirror_net_sales, notEmpty(differences) FROM reconciliation WHERE business_id = 'biz' AND date > '2026-03-30'", "open|30|60|1")
}

// A day that runs may be proven as far as it has come; what it becomes is not.
func TestRunningDayIsNotProven(t *testing.T) {
	m := newMirror(t)
	now := time.Now()
	var all []sinks.Verdict
	for n := -3; n <= 3; n++ {
		all = append(all, asked(now.AddDate(0, 0, n).Format(time.DateOnly), "", sinks.SubjectDaily, sinks.VerdictProven, 1))
	}
	m.verdicts("biz", "s", all...)
	m.verdicts("new", "s", all[5:]...)
	m.expect("SELECT business_id, proven_until = toDate32(now('Europe/Bucharest')) - 1, days_asked FROM proof ORDER BY business_id", "biz|1|7", `new|\N|2`)
}

func TestProvenUntil(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"), orderRow("b", "l2", "2026-03-30", "[]"), orderRow("gone", "l1", "2026-03-27", "[]"))
	m.remove("biz", "sales_orders", "gone", "deleted")
	m.remove("biz", "sales_orders", "never seen", "unpaid")
	put[types.SalesOrder](m, "else", "sales_orders", orderRow("a", "l1", "2026-01-01", "[]"))
	daily := func(location string, verdicts ...string) (all []sinks.Verdict) {
		for i, v := range verdicts {
			if v != "" {
				all = append(all, asked(time.Date(2026, 3, 26+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), location, sinks.SubjectDaily, v, i))
			}
		}
		return all
	}
	const p, h, d = sinks.VerdictProven, sinks.VerdictHealed, sinks.VerdictDrift
	m.verdicts("biz", "s", daily("", p, h, p, p, p, d, p, sinks.VerdictUnsettled)...)
	m.verdicts("biz", "s", daily("l1", p, p, p, "", p, p)...)                                                                                                         // a day was not asked about
	m.verdicts("biz", "s", daily("l2", d, d, p, p, p, p)...)                                                                                                          // before its first order
	m.verdicts("biz", "s", daily("l3", p, p)...)                                                                                                                      // it has no orders
	m.verdicts("biz", "t", append(daily("", p, p, p), asked("2026-03-28", "", sinks.SubjectProducts, d, 9), asked("2026-03-29", "", sinks.SubjectProducts, p, 9))...) // not the products
	m.verdicts("biz", "u", daily("", p, sinks.VerdictUnproven, p)...)                                                                                                 // not the first day
	m.expect("SELECT source, location_id, first_day, proven_from, proven_until, days_differing, differing, days_asked, toHour(toTimeZone(asked_at, 'UTC')) FROM proof WHERE business_id = 'biz' ORDER BY source, location_id",
		"s|l1|2026-03-27|2026-03-27|2026-03-28|0|[]|5|5",
		"s|l2|2026-03-30|2026-03-30|2026-03-31|2|['2026-03-26','2026-03-27']|6|5",
		"s|l3|2026-03-26|2026-03-26|2026-03-27|0|[]|2|1",
		`s|\N|2026-03-27|2026-03-27|2026-03-30|1|['2026-03-31']|8|7`,
		`t|\N|2026-03-27|2026-03-27|2026-03-27|1|['2026-03-28']|4|9`,
		`u|\N|2026-03-27|\N|\N|0|[]|3|2`)
	m.verdicts("biz", "s", daily("", "", "", "", "", "", h)...)
	m.expect("SELECT proven_until, days_differing FROM proof WHERE source = 's' AND location_id IS NULL", "2026-04-01|0")
	m.provenInPart()
	const w = sinks.VerdictWithdrawn // as if nobody had asked
	m.verdicts("biz", "s", daily("", w, w, w, w, w, w, w, w)...)
	m.verdicts("biz", "t", asked("2026-03-28", "", sinks.SubjectProducts, w, 9))
	m.expect("SELECT source, proven_until, days_differing FROM proof WHERE business_id = 'biz' AND location_id IS NULL ORDER BY source",
		"t|2026-03-28|0", `u|\N|0`)
}

// provenInPart has years of orders of which the last 92 days were asked about, then some
// before them, and then all that has none of them open.
func (m *mirror) provenInPart() {
	put[types.SalesOrder](m, "old", "sales_orders", orderRow("a", "l1", "2025-11-01", "[]"))
	day := func(n int) string {
		return time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n).Format(time.DateOnly)
	}
	ask := func(from, to int, verdict string) {
		var all []sinks.Verdict
		for n := from; n <= to; n++ {
			all = append(all, asked(day(n), "", sinks.SubjectDaily, verdict, 1))
		}
		m.verdicts("old", "s", all...)
	}
	proof := "SELECT first_day, proven_from, proven_until FROM proof WHERE business_id = 'old' AND location_id IS NULL"
	ask(-91, 0, sinks.VerdictProven)
	m.expect(proof, "2025-11-01|2025-12-30|2026-03-31")
	ask(-100, -95, sinks.VerdictProven) // with a gap
	m.expect(proof, "2025-11-01|2025-12-30|2026-03-31")
	ask(-94, -92, sinks.VerdictHealed)
	m.expect(proof, "2025-11-01|2025-12-21|2026-03-31")
	ask(-101, -101, sinks.VerdictDrift)
	m.expect(proof, "2025-11-01|2025-12-21|2026-03-31")
	ask(-91, -91, sinks.VerdictDrift)
	m.expect(proof, `2025-11-01|\N|\N`)
}

// TestDataQuality makes one contradiction after the other in an order that has none.
func TestDataQuality(t *testing.T) {
	m := newMirror(t)
	sound := orderRow("sound", "l1", "2026-03-28", `[{"amount":"32.50","method":"card","at":"2026-03-28T22:30:00Z","item_id":null}]`)
	put[types.SalesOrder](m, "biz", "sales_orders", sound)
	for id, change := range map[string][2]string{
		"1-total":     {`"tip":"2.00"`, `"tip":"2.01"`},
		"2-items":     {`"delivery_fee":"0.00"`, `"delivery_fee":"9.99"`},
		"3-lines":     {`"items":"33.50","discount":"3.50"`, `"items":"33.51","discount":"3.51"`},
		"4-line":      {`"unit_price":"10.00"`, `"unit_price":"10.01"`},
		"payments":    {`"amount":"12.50"`, `"amount":"12.49"`}, // no rule of the API's description
		"refunds":     {`"amount":"32.50"`, `"amount":"32.51"`}, // nor this
		"7-day":       {`"created_at":"2026-03-28T10:00:00Z"`, `"created_at":"2026-03-28T22:00:00Z"`},
		"8-enormous":  {`"quantity":"2.00"`, `"quantity":"9999999999999999999999999999.9999999999"`},
		"9-discount":  {`"discount_percent":12.5`, `"discount_percent":-9999999999999999999999999999`},
		"evening":     {`"created_at":"2026-03-28T10:00:00Z"`, `"created_at":"2026-03-28T21:59:59.999999Z"`},
		"morning":     {`"created_at":"2026-03-28T10:00:00Z"`, `"created_at":"2026-03-27T22:00:00Z"`},
		"within bani": {`"discount_percent":12.5`, `"discount_percent":12.58`},
	} {
		changed := strings.Replace(strings.Replace(sound, `"sound"`, `"`+id+`"`, 1), change[0], change[1], 1)
		put[types.SalesOrder](m, "biz", "sales_orders", changed)
	}
	m.expect("SELECT order_id, rule, stated, computed, item_ids FROM data_quality WHERE business_id = 'biz' ORDER BY order_id, rule",
		"1-total|net_sales_of_total|30.00|29.99|[]",
		"2-items|net_sales_of_items|30.00|39.99|[]",
		"3-lines|items|33.51|33.50|[]",
		"4-line|item_total|23.00|23.02|['i1']",
		"7-day|business_day|2026-03-28|2026-03-29|[]",
		"8-enormous|item_total|23.00|11500000000000000.00|['i1']",
		"9-discount|item_total|10.50|120012.00|['i2']")
	put[types.SalesOrder](m, "biz", "sales_orders", strings.Replace(sound, `"sound"`, `"4-line"`, 1))
	m.remove("biz", "sales_orders", "7-day", "deleted")
	m.expect("SELECT count() FROM data_quality", "5")
	// A negative total is none: what was given back counts on the order that was opened for it.
	negative := strings.NewReplacer(`"sound"`, `"negative"`, `"unit_price":"10.00"`, `"unit_price":"-40.00"`, `"total":"23.00"`, `"total":"-77.00"`,
		`"items":"33.50","discount":"3.50"`, `"items":"-66.50","discount":"3.50"`, `"total":"32.50","net_sales":"30.00"`, `"total":"-67.50","net_sales":"-70.00"`).Replace(
		orderRow("sound", "l1", "2026-03-28", "[]"))
	put[types.SalesOrder](m, "other", "sales_orders", negative)
	m.expect("SELECT rule, stated, computed FROM data_quality WHERE business_id = 'other'")
	m.expect("SELECT totals_total FROM sales_orders WHERE business_id = 'other'", "-67.5")
}
