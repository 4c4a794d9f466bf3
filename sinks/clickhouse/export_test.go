package clickhouse

import (
	"context"
	"io"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/native"
)

// EncodeForTest encodes copies of a batch as one block and returns its size.
func EncodeForTest(s *Sink, source, business string, batch *sinks.Batch, copies int) (int64, error) {
	types, err := s.warehouse.Columns(context.Background(), batch.Table.Name)
	if err != nil {
		return 0, err
	}
	parts := make([]native.Part, copies)
	for i := range parts {
		parts[i] = native.Part{Source: source, Business: business, Batch: batch}
	}
	b, err := native.RowBlock(batch.Table.Name, types, parts)
	if err != nil {
		return 0, err
	}
	r := b.Reader()
	n, err := io.Copy(io.Discard, r)
	return n, err
}

// ProofStatements are the statements of SalesDays and SalesProducts.
func ProofStatements(s *Sink, q sinks.DayQuery) (days, products string) {
	return s.salesDays([]sinks.DayQuery{q}), s.salesProducts([]sinks.DayQuery{q})
}

// LowColumnsForTest are the columns of a table with a part of low cardinality.
func LowColumnsForTest(ctx context.Context, s *Sink, table string) (map[string]bool, error) {
	types, err := s.warehouse.Columns(ctx, table)
	if err != nil {
		return nil, err
	}
	low := map[string]bool{}
	for name, t := range types {
		low[name] = t.Low || t.LowKey
	}
	return low, nil
}

// HoldErasing keeps everyone else from erasing until release is called.
func HoldErasing(s *Sink) (release func()) {
	s.personal.erasing.TryAcquire(1)
	return func() { s.personal.erasing.Release(1) }
}

// Ask runs a question on the connections that the questions of the sources share.
func Ask(ctx context.Context, s *Sink, sql string) error {
	return s.warehouse.Rows(ctx, sql, func(driver.Rows) error { return nil })
}
