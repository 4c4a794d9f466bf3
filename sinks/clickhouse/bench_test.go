package clickhouse_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// BenchmarkOrders writes pages of 200 realistic orders, as a backfill does, and
// reports what a million of them cost: the engine runs in this process, so its
// CPU time is counted too. Decoding JSON is not part of it.
func BenchmarkOrders(b *testing.B) {
	for _, o := range []struct {
		name    string
		options clickhouse.Options
	}{
		{"default", clickhouse.Options{}},
		{"flush=10000", clickhouse.Options{FlushRows: 10_000}},
	} {
		b.Run(o.name, func(b *testing.B) { benchmarkOrders(b, o.options) })
	}
}

func benchmarkOrders(b *testing.B, o clickhouse.Options) {
	s, _ := migrated(b, o)
	const pageRows, pages = 200, 100
	templates := make([]*sinks.Batch, pages)
	chance := rand.New(rand.NewPCG(1, 1))
	for i := range templates {
		templates[i] = orderPage(tables(b, s)["sales_orders"], chance, pageRows)
	}
	ctx := context.Background()
	var peak uint64
	b.ResetTimer()
	began, cpu := time.Now(), cpuTime()
	rows := 0
	for range b.N {
		var last *sinks.Receipt
		for n := range 500 {
			page := *templates[n%pages]
			page.Rows = make([]sinks.Row, pageRows)
			for r := range page.Rows {
				page.Rows[r] = templates[n%pages].Rows[r]
				page.Rows[r].ID = fmt.Sprintf("01J%019d", chance.Uint64())
				page.Rows[r].Version = uint64(rows + r + 1)
			}
			rows += pageRows
			receipt, err := s.Write(ctx, &sinks.Commit{Source: "bistro", Business: "biz", Stream: "sales_orders", Batch: &page,
				Checkpoint: &sinks.Checkpoint{Source: "bistro", Stream: "sales_orders", Walk: "backfill", Rows: uint64(rows), UpdatedAt: time.Now()}})
			if err != nil {
				b.Fatal(err)
			}
			last = receipt
			if n%100 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
		if err := last.Wait(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/time.Since(began).Seconds(), "orders/s")
	b.ReportMetric((cpuTime()-cpu).Seconds()*1e6/float64(rows), "CPU-s/million")
	b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
	b.ReportMetric(0, "ns/op")
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkEncode measures the encoder alone: bytes of the Native format.
func BenchmarkEncode(b *testing.B) {
	s, _ := migrated(b, clickhouse.Options{})
	chance := rand.New(rand.NewPCG(1, 1))
	page := orderPage(tables(b, s)["sales_orders"], chance, 200)
	b.ReportAllocs()
	b.ResetTimer()
	began, cpu, rows := time.Now(), cpuTime(), 0
	for range b.N {
		n, err := clickhouse.EncodeForTest(s, "bistro", "biz", page, 50)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
		rows += 50 * 200
	}
	b.ReportMetric(float64(rows)/time.Since(began).Seconds(), "orders/s")
	b.ReportMetric((cpuTime()-cpu).Seconds()*1e6/float64(rows), "CPU-s/million")
}

// orderPage is a page of believable orders: one to six lines, some with extras,
// one or two payments, few refunds.
func orderPage(t *sinks.Table, chance *rand.Rand, n int) *sinks.Batch {
	batch := sinks.NewBatch(t, n)
	for r := range n {
		o := order{chance: chance, lines: 1 + chance.IntN(6), payments: 1 + chance.IntN(10)/9, refunds: chance.IntN(30) / 29,
			at: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(r) * 97 * time.Second)}
		for range o.lines {
			o.extras = append(o.extras, chance.IntN(3))
		}
		for i := range batch.Vectors {
			o.fill(&batch.Vectors[i])
		}
		raw := o.json(r)
		if err := batch.EndRow(sinks.Row{ID: fmt.Sprint("order-", r), Version: uint64(r), FetchedAt: o.at, Raw: raw}); err != nil {
			panic(err)
		}
	}
	return batch
}

type order struct {
	chance                   *rand.Rand
	lines, payments, refunds int
	extras                   []int
	at                       time.Time
}

// json is about what the API sends for such an order.
func (o *order) json(r int) []byte {
	at := o.at.Format(time.RFC3339)
	raw := fmt.Appendf(nil, `{"id":"01J%019d","deleted":false,"number":"%d","location_id":"loc_1","channel":"pos","type":"dine_in","table_id":"t_%d","business_day":"%s","created_at":"%s","updated_at":"%s","paid_at":"%s","items":[`,
		o.chance.Uint64(), r, r%40, o.at.Format(time.DateOnly), at, at, at)
	for i := range o.lines {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = fmt.Appendf(raw, `{"id":"01J%019d","product_id":"prod_%d","name":%q,"variant_id":null,"variant_name":null,"quantity":"%d.00","weight_kg":null,"price_per_kg":null,"unit_price":"%d.50","extras":[`,
			o.chance.Uint64(), o.chance.IntN(300), words[o.chance.IntN(len(words))], 1+o.chance.IntN(3), o.chance.IntN(90))
		for e := range o.extras[i] {
			if e > 0 {
				raw = append(raw, ',')
			}
			raw = fmt.Appendf(raw, `{"name":%q,"price":"%d.00"}`, words[o.chance.IntN(len(words))], o.chance.IntN(9))
		}
		raw = fmt.Appendf(raw, `],"discount_percent":0,"vat_rate":11,"total":"%d.50"}`, o.chance.IntN(200))
	}
	return fmt.Appendf(raw, `],"totals":{"items":"%[1]d.50","discount":"0.00","delivery_fee":"0.00","tip":"%[2]d.00","deposit":"0.50","total":"%[1]d.00","net_sales":"%[1]d.00"},"payments":[{"method":"card","amount":"%[1]d.00","at":"%[3]s"}],"refunds":[]}`,
		o.chance.IntN(400), o.chance.IntN(9), at)
}

func (o *order) fill(v *sinks.Vector) {
	name := v.Column.Name
	switch v.Column.Depth {
	case 2:
		for _, n := range o.extras {
			for range n {
				o.scalar(v)
			}
			v.EndList(1)
		}
		v.EndList(0)
	case 1:
		n := map[byte]int{'i': o.lines, 'p': o.payments, 'r': o.refunds}[name[0]]
		for range n {
			o.scalar(v)
		}
		v.EndList(0)
	default:
		o.scalar(v)
	}
}

var words = []string{"Ciorbă de burtă", "Mici", "Papanași", "Limonadă", "Pizza Quattro Stagioni", "Salată de boeuf", "Cafea", "Apă plată 0,5"}

func (o *order) scalar(v *sinks.Vector) {
	n := o.chance.IntN(1000)
	if v.Column.Nullable && n%2 == 0 {
		v.AppendZero()
		return
	}
	switch v.Column.Kind {
	case sinks.Text:
		switch v.Column.Name {
		case "location_id", "channel", "type", "payments.method", "refunds.method":
			v.AppendText([]byte([]string{"pos", "card", "direct"}[n%3]))
		case "items.name", "items.extras_name", "items.variant_name":
			v.AppendText([]byte(words[n%len(words)]))
		default:
			v.AppendText(fmt.Appendf(nil, "01J%012d", o.chance.Uint32()))
		}
	case sinks.Instant:
		v.AppendInt(o.at.Add(time.Duration(n) * time.Second).UnixMicro())
	case sinks.Day:
		v.AppendInt(o.at.Unix() / 86400)
	case sinks.Quantity:
		v.AppendWide(sinks.Int128{Lo: uint64(n%4+1) * 10_000_000_000})
	default:
		v.AppendInt(int64(500 + n*10))
	}
}
