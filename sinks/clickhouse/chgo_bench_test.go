package clickhouse_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// BenchmarkEncodeCHGo is BenchmarkEncode with the columns of ch-go instead of the encoder:
// what they cost is asked again when either changes. The columns that every table has are
// left out but for the JSON of the rows. A block of ch-go stands in memory as a whole.
func BenchmarkEncodeCHGo(b *testing.B) {
	s, _ := migrated(b, clickhouse.Options{})
	page := orderPage(tables(b, s)["sales_orders"], rand.New(rand.NewPCG(1, 1)), 200)
	low := lowColumns(b, s, "sales_orders")
	b.ReportAllocs()
	b.ResetTimer()
	began, cpu, rows := time.Now(), cpuTime(), 0
	var peak int
	for range b.N {
		buf := &proto.Buffer{}
		for i := range page.Vectors {
			encodeCHGo(buf, &page.Vectors[i], low[page.Vectors[i].Column.Name], 50)
		}
		var raw proto.ColStr
		for range 50 {
			for _, r := range page.Rows {
				raw.AppendBytes(r.Raw)
			}
		}
		raw.EncodeColumn(buf)
		b.SetBytes(int64(len(buf.Buf)))
		peak = max(peak, cap(buf.Buf)+cap(raw.Buf))
		rows += 50 * 200
	}
	b.ReportMetric(float64(rows)/time.Since(began).Seconds(), "orders/s")
	b.ReportMetric((cpuTime()-cpu).Seconds()*1e6/float64(rows), "CPU-s/million")
	b.ReportMetric(float64(peak)/1e6, "MB-block")
}

// lowColumns are those whose texts, or keys, are of low cardinality.
func lowColumns(tb testing.TB, s *clickhouse.Sink, table string) map[string]bool {
	tb.Helper()
	low, err := clickhouse.LowColumnsForTest(context.Background(), s, table)
	if err != nil {
		tb.Fatal(err)
	}
	return low
}

// encodeCHGo writes a vector so many times, as one column.
func encodeCHGo(buf *proto.Buffer, v *sinks.Vector, low bool, copies int) {
	for _, ends := range v.Offsets {
		var offsets proto.ColUInt64
		var base uint64
		for range copies {
			for _, end := range ends {
				offsets = append(offsets, base+end)
			}
			if len(ends) > 0 {
				base += ends[len(ends)-1]
			}
		}
		offsets.EncodeColumn(buf)
	}
	if v.Column.Map {
		encodeTexts(buf, v.KeyBytes, v.KeyEnds, low, copies)
	}
	if v.Column.Nullable {
		var nulls proto.ColUInt8
		for range copies {
			nulls = append(nulls, v.Nulls...)
		}
		nulls.EncodeColumn(buf)
	}
	switch v.Column.Kind {
	case sinks.Text:
		encodeTexts(buf, v.Bytes, v.Ends, low && !v.Column.Map, copies)
	case sinks.Bool:
		var c proto.ColUInt8
		for range copies {
			for _, n := range v.Ints {
				c.Append(uint8(n))
			}
		}
		c.EncodeColumn(buf)
	case sinks.Day:
		var c proto.ColInt32
		for range copies {
			for _, n := range v.Ints {
				c.Append(int32(n))
			}
		}
		c.EncodeColumn(buf)
	case sinks.Quantity:
		var c proto.ColInt128
		for range copies {
			for _, n := range v.Wide {
				c.Append(proto.Int128{Low: n.Lo, High: uint64(n.Hi)})
			}
		}
		c.EncodeColumn(buf)
	default:
		var c proto.ColInt64
		for range copies {
			c = append(c, v.Ints...)
		}
		c.EncodeColumn(buf)
	}
}

func encodeTexts(buf *proto.Buffer, bytes []byte, ends []uint64, low bool, copies int) {
	text := func(add func([]byte)) {
		for range copies {
			var begin uint64
			for _, end := range ends {
				add(bytes[begin:end])
				begin = end
			}
		}
	}
	if !low {
		var c proto.ColStr
		text(c.AppendBytes)
		c.EncodeColumn(buf)
		return
	}
	c := new(proto.ColStr).LowCardinality()
	text(func(t []byte) { c.Append(string(t)) })
	if err := c.Prepare(); err != nil {
		panic(err)
	}
	c.EncodeColumn(buf)
}
