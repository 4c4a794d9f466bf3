package sinks

import (
	"fmt"
	"slices"
	"time"
)

// Int128 is a signed 128-bit integer in two's complement.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Row is what every row of a [Batch] carries besides its columns.
type Row struct {
	ID        string
	Version   uint64    // grows strictly per source (docs/rules.md R4)
	FetchedAt time.Time // by the service's clock
	Raw       []byte    // the row's JSON as received
}

// Batch is rows of one table in columns: Vectors[i] holds the values of
// Table.Columns[i] for every row of Rows. Append the values of one row to every
// vector, then call [Batch.EndRow]; [Batch.Rollback] drops the values of a row
// that turned out bad. A batch given to a sink belongs to the sink.
type Batch struct {
	Table   *Table
	Rows    []Row
	Vectors []Vector
}

// NewBatch returns an empty batch with room for n rows.
func NewBatch(t *Table, n int) *Batch {
	b := &Batch{Table: t, Rows: make([]Row, 0, n), Vectors: make([]Vector, len(t.Columns))}
	for i := range t.Columns {
		b.Vectors[i].init(&t.Columns[i], n)
	}
	return b
}

// EndRow closes a row. It fails when a column did not get exactly one value,
// and drops the row then.
func (b *Batch) EndRow(r Row) error {
	n := len(b.Rows) + 1
	for i := range b.Vectors {
		if got := b.Vectors[i].Len(); got != n {
			b.Rollback()
			return fmt.Errorf("column %s has %d values for %d rows", b.Table.Columns[i].Name, got, n)
		}
	}
	b.Rows = append(b.Rows, r)
	return nil
}

// Rollback drops the values appended since the last [Batch.EndRow].
func (b *Batch) Rollback() {
	for i := range b.Vectors {
		b.Vectors[i].truncate(len(b.Rows))
	}
}

// Truncate keeps the first n rows.
func (b *Batch) Truncate(n int) {
	b.Rows = b.Rows[:n]
	b.Rollback()
}

// Slice returns a copy of the rows from the first index to below the second. The rows' JSON
// is shared.
func (b *Batch) Slice(from, to int) *Batch {
	part := &Batch{Table: b.Table, Rows: slices.Clone(b.Rows[from:to]), Vectors: make([]Vector, len(b.Vectors))}
	for i := range b.Vectors {
		part.Vectors[i] = b.Vectors[i].slice(from, to)
	}
	return part
}
