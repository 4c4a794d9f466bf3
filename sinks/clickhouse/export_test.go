package clickhouse

import (
	"context"
	"io"

	"github.com/larder-sync/larder/sinks"
)

// EncodeForTest encodes copies of a batch as one block and returns its size.
func EncodeForTest(s *Sink, source, business string, batch *sinks.Batch, copies int) (int64, error) {
	types, err := s.warehouse.columns(context.Background(), batch.Table.Name)
	if err != nil {
		return 0, err
	}
	parts := make([]part, copies)
	for i := range parts {
		parts[i] = part{source: source, business: business, batch: batch}
	}
	b, err := rowBlock(batch.Table.Name, types, parts)
	if err != nil {
		return 0, err
	}
	r := b.reader()
	n, err := io.Copy(io.Discard, r)
	return n, err
}

// ProofStatements are the statements of SalesDays and SalesProducts.
func ProofStatements(s *Sink, q sinks.DayQuery) (days, products string) {
	return s.salesDays(q), s.salesProducts(q)
}

// ViewsHash is the hash that the number of the views stands for, and the one they have.
func ViewsHash() (stated, actual string, version int, err error) {
	actual, err = hashOfViews()
	return viewsHash, actual, viewsVersion, err
}
