package clickhouse

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/larder-sync/larder/sinks"
)

// blockColumn is one column of an INSERT: how it is called, what the server
// stores it as, and how its values are written, prefix first.
type blockColumn struct {
	name  string
	typ   wireType
	write func(*encoder)
}

// block is the data of one INSERT: the rows of all batches of one table.
type block struct {
	table   string
	rows    int
	columns []blockColumn
}

// part is a batch with what its commit says about all its rows.
type part struct {
	source, business string
	batch            *sinks.Batch
}

// rowBlock lays the rows of all parts out for their storage table.
func rowBlock(table string, types map[string]wireType, parts []part) (*block, error) {
	b := &block{table: table}
	for _, p := range parts {
		b.rows += len(p.batch.Rows)
	}
	columns := parts[0].batch.Table.Columns
	for i := range columns {
		vectors := make([]*sinks.Vector, len(parts))
		for n, p := range parts {
			if len(p.batch.Vectors) != len(columns) {
				return nil, fmt.Errorf("table %s: batches of different columns in one flush", table)
			}
			vectors[n] = &p.batch.Vectors[i]
		}
		if err := b.addVectors(types, columns[i].Name, vectors); err != nil {
			return nil, err
		}
	}
	return b, b.addMeta(types, parts)
}

// plainBlock lays out a batch that has all columns of its table itself.
func plainBlock(types map[string]wireType, batch *sinks.Batch) (*block, error) {
	b := &block{table: batch.Table.Name, rows: len(batch.Rows)}
	for i := range batch.Vectors {
		if err := b.addVectors(types, batch.Table.Columns[i].Name, []*sinks.Vector{&batch.Vectors[i]}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *block) addVectors(types map[string]wireType, name string, vectors []*sinks.Vector) error {
	typ, ok := types[name]
	if !ok {
		return fmt.Errorf("table %s has no column %s in the warehouse: does it need another version of the schema?", b.table, name)
	}
	for _, v := range vectors {
		if v.Column.Name != name || !typ.fits(v.Column) {
			return fmt.Errorf("table %s: column %s is %s in the warehouse and cannot hold %s (%s, depth %d, map %t)",
				b.table, name, typ.text, v.Column.Name, v.Column.Kind, v.Column.Depth, v.Column.Map)
		}
	}
	b.columns = append(b.columns, blockColumn{name: name, typ: typ, write: func(e *encoder) { e.vectors(typ, vectors) }})
	return nil
}

// addMeta adds the columns that every storage table has and no batch lists. What
// a live row leaves out (_deleted, _deleted_at, _delete_reason) is the default.
func (b *block) addMeta(types map[string]wireType, parts []part) error {
	each := func(f func(*encoder, *part, *sinks.Row)) func(*encoder) {
		return func(e *encoder) {
			for p := range parts {
				rows := parts[p].batch.Rows
				for r := range rows {
					f(e, &parts[p], &rows[r])
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		write func(*encoder)
	}{
		{"business_id", each(func(e *encoder, p *part, _ *sinks.Row) { e.textString(p.business) })},
		{"id", each(func(e *encoder, _ *part, r *sinks.Row) { e.textString(r.ID) })},
		{"_source", func(e *encoder) { e.prefix(types["_source"]); e.lowCardinality(false, sourcesOf(parts)) }},
		{"_version", each(func(e *encoder, _ *part, r *sinks.Row) { e.u64(r.Version) })},
		{"_fetched_at", each(func(e *encoder, _ *part, r *sinks.Row) { e.u64(uint64(r.FetchedAt.UnixMicro())) })},
		{"_raw", each(func(e *encoder, _ *part, r *sinks.Row) { e.text(r.Raw) })},
	} {
		typ, ok := types[c.name]
		if !ok {
			return fmt.Errorf("table %s has no column %s in the warehouse: is it one of Larder's?", b.table, c.name)
		}
		b.columns = append(b.columns, blockColumn{name: c.name, typ: typ, write: c.write})
	}
	return nil
}

// sourcesOf is the source of every row, as texts.
func sourcesOf(parts []part) []textList {
	lists := make([]textList, len(parts))
	for i, p := range parts {
		list := textList{ends: make([]uint64, len(p.batch.Rows))}
		for r := range list.ends {
			list.bytes = append(list.bytes, p.source...)
			list.ends[r] = uint64(len(list.bytes))
		}
		lists[i] = list
	}
	return lists
}

// insert is the statement that takes the block.
func (b *block) insert(d dialect) string {
	names := make([]string, len(b.columns))
	for i, c := range b.columns {
		names[i] = quote(c.name)
	}
	return "INSERT INTO " + d.table(b.table) + " (" + strings.Join(names, ", ") + ")"
}

// chunks is the block in the Native format. A chunk is only good until the next.
func (b *block) chunks(emit func([]byte) bool) {
	e := &encoder{emit: emit}
	e.uvarint(uint64(len(b.columns)))
	e.uvarint(uint64(b.rows))
	for _, c := range b.columns {
		if e.stopped {
			return
		}
		e.textString(c.name)
		e.textString(c.typ.text)
		c.write(e)
	}
	e.flush()
}

// reader reads the block in the Native format. Close it.
func (b *block) reader() *chunkReader { return newChunkReader(b.chunks) }

// reader reads the data of one column, prefix included.
func (c blockColumn) reader() *chunkReader {
	return newChunkReader(func(emit func([]byte) bool) {
		e := &encoder{emit: emit}
		c.write(e)
		e.flush()
	})
}

// chunkReader reads what an encoder emits, which goes on only as it is read. An
// HTTP client may close a body while another goroutine of it still reads.
type chunkReader struct {
	mu      sync.Mutex
	next    func() ([]byte, bool)
	stop    func()
	current []byte
	read    int64
}

func newChunkReader(chunks iter.Seq[[]byte]) *chunkReader {
	r := &chunkReader{}
	r.next, r.stop = iter.Pull(chunks)
	return r
}

// Read implements io.Reader.
func (r *chunkReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.current) == 0 {
		chunk, ok := r.next()
		if !ok {
			return 0, io.EOF
		}
		r.current = chunk
	}
	n := copy(p, r.current)
	r.current = r.current[n:]
	r.read += int64(n)
	return n, nil
}

// Close ends the encoder.
func (r *chunkReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.current = nil
	return nil
}
