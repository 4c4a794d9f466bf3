package mapping

import (
	"testing"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
)

func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		lines int
	}{{"1 line", 1}, {"4 lines", 4}, {"100 lines", 100}} {
		b.Run(c.name, func(b *testing.B) { benchmarkRow(b, plan[api.SalesOrder](b, "sales_orders"), orderRow(c.lines)) })
	}
	b.Run("product", func(b *testing.B) { benchmarkRow(b, plan[api.Product](b, "products"), productRow) })
	b.Run("unknown field", func(b *testing.B) {
		benchmarkRow(b, plan[api.SalesOrder](b, "sales_orders"), `{"covers":4,`+orderRow(4)[1:])
	})
}

func benchmarkRow(b *testing.B, p *Plan, row string) {
	const page = 2000
	m, raw := p.NewMapper(), []byte(row)
	batch := sinks.NewBatch(p.Table(), page)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if len(batch.Rows) == page {
			batch.Truncate(0)
		}
		r, err := m.Append(batch, raw)
		if err != nil {
			b.Fatal(err)
		}
		if err := batch.EndRow(sinks.Row{ID: r.ID, Raw: raw}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "CPU-s/Mrow")
}
