package api

import (
	"bytes"
	"fmt"
	"testing"
)

// orderPage is a page of n orders of three lines each, like those of the
// service: about 1 KB a row.
func orderPage(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"data":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"ord_%08d","deleted":false,"number":"%d","location_id":"loc_1","channel":"pos","type":"dine_in","table_id":null,`+
			`"business_day":"2026-03-14","created_at":"2026-03-14T18:%02d:11.123Z","updated_at":"2026-03-14T19:%02d:59.456Z","paid_at":"2026-03-14T19:%02d:58.000Z","items":[`, i, i, i%60, i%60, i%60)
		for j := range 3 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":"it_%d_%d","product_id":"prod_%04d","name":"Ciorbă de burtă cu smântână și ardei","variant_id":null,"variant_name":null,"quantity":"%d.00",`+
				`"weight_kg":null,"price_per_kg":null,"unit_price":"29.50","extras":[{"name":"Pâine","price":"2.50"}],"discount_percent":0,"vat_rate":11,"total":"32.00"}`, i, j, j*7, j+1)
		}
		b.WriteString(`],"totals":{"items":"96.00","discount":"0.00","delivery_fee":"0.00","tip":"9.60","deposit":"0.50","total":"106.10","net_sales":"96.00"},` +
			`"payments":[{"method":"card","amount":"106.10","at":"2026-03-14T19:12:58.000Z"}],"refunds":[]}`)
	}
	b.WriteString(`],"next_cursor":"b2Zmc2V0OjIwMA==","has_more":true}`)
	return b.Bytes()
}

// BenchmarkSplit splits a page of 200 rows into raw rows while checking its syntax.
func BenchmarkSplit(b *testing.B) {
	body := orderPage(200)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if p, err := parsePage(body); err != nil || len(p.Rows) != 200 {
			b.Fatal(len(p.Rows), err)
		}
	}
}
