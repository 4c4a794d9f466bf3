package mapping

import (
	"syscall"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		lines int
	}{{"1 line", 1}, {"4 lines", 4}, {"100 lines", 100}} {
		b.Run(c.name, func(b *testing.B) { benchmarkRow(b, plan[types.SalesOrder](b, "sales_orders"), orderRow(c.lines)) })
	}
	b.Run("product", func(b *testing.B) { benchmarkRow(b, plan[types.Product](b, "products"), productRow) })
	b.Run("unknown field", func(b *testing.B) {
		benchmarkRow(b, plan[types.SalesOrder](b, "sales_orders"), `{"covers":4,`+orderRow(4)[1:])
	})
}

func benchmarkRow(b *testing.B, p *Plan, row string) {
	const page = 2000
	m, raw := p.NewMapper(), []byte(row)
	batch := sinks.NewBatch(p.Table(), page)
	b.SetBytes(int64(len(raw)))
	before := cpuTime(b)
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
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "CPU-s/Mrow")
}

// cpuTime is what the process has used, so that a busy machine does not blur it.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
