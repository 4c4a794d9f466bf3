package connection

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"

	"github.com/larder-sync/larder/sinks/clickhouse/native"
)

// insertNative writes a block over the native protocol. The driver takes no
// encoded block there, but the columns of its batch decode themselves: they are
// given the very bytes that go over HTTP.
func (w *Warehouse) insertNative(ctx context.Context, b *native.Block) (sent int64, err error) {
	batch, err := w.conn.PrepareBatch(ctx, insertStatement(w.Dialect, b))
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil && !batch.IsSent() {
			err = errors.Join(err, batch.Abort())
		}
	}()
	columns := batch.Columns() // a new slice of the batch's own columns
	if len(columns) != len(b.Columns) {
		return 0, fmt.Errorf("table %s: the server wants %d columns, not %d", b.Table, len(columns), len(b.Columns))
	}
	for i, c := range b.Columns {
		n, err := fill(columns[i], c, b.Rows)
		if err != nil {
			return 0, fmt.Errorf("table %s, column %s: %w", b.Table, c.Name, err)
		}
		sent += n
	}
	return sent, batch.Send()
}

func fill(into column.Interface, from native.Column, rows int) (int64, error) {
	if into.Name() != from.Name {
		return 0, fmt.Errorf("the server wants %s in its place", into.Name())
	}
	if got := string(into.Type()); got != from.Typ.Text {
		return 0, fmt.Errorf("the server wants %s, not %s", got, from.Typ.Text)
	}
	body := from.Reader()
	r := proto.NewReader(body)
	if stated, ok := into.(column.CustomSerialization); ok {
		if err := stated.ReadStatePrefix(r); err != nil {
			return 0, errors.Join(err, body.Close())
		}
	}
	if err := into.Decode(r, rows); err != nil {
		return 0, errors.Join(err, body.Close())
	}
	return body.Size, body.Close()
}
