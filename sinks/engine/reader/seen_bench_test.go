package reader_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkSeen is how long a row that is durable takes until a reader sees it.
func BenchmarkSeen(b *testing.B) {
	w := newWorld(b)
	var all []time.Duration
	for b.Loop() {
		n := len(all) + 1
		w.write(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, business_day, totals_net_sales, _version) VALUES ('b', '%d', '2026-01-02', 10, 1)", n))
		durable, want := time.Now(), fmt.Sprint(n)
		for answer := ""; answer != want; {
			_, answer, _ = w.ask("SELECT count() FROM sales_orders", "")
		}
		all = append(all, time.Since(durable))
	}
	slices.Sort(all)
	b.ReportMetric(all[len(all)/2].Seconds(), "s-p50")
	b.ReportMetric(all[len(all)*99/100].Seconds(), "s-p99")
	b.ReportMetric(all[len(all)-1].Seconds(), "s-most")
}
