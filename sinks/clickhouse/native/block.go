package native

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/larder-sync/larder/sinks"
)

// Column is one column of an INSERT: how it is called, what the server
// stores it as, and how its values are written, prefix first.
type Column struct {
	Name  string
	Typ   Type
	write func(*encoder)
}

// Block is the data of one INSERT: the rows of all batches of one table.
type Block struct {
	Table   string
	Rows    int
	Columns []Column
}

// Part is a batch with what its commit says about all its rows.
type Part struct {
	Source, Business string
	Batch            *sinks.Batch
	Removal          *sinks.Batch // of [RemovalTable], a row for each one of Batch; nil where they live
}

// RemovalTable has the meta columns of a removed row: when and why it was removed, and the JSON of its tombstone.
var RemovalTable = &sinks.Table{Columns: []sinks.Column{
	{Name: "_deleted", Kind: sinks.Bool}, {Name: "_deleted_at", Kind: sinks.Instant, Nullable: true}, {Name: "_delete_reason"},
	{Name: "_tombstone_updated_at", Kind: sinks.Instant, Nullable: true}, {Name: "_tombstone_raw"},
}}

// RowBlock lays the rows of all parts out for their storage table.
func RowBlock(table string, types map[string]Type, parts []Part) (*Block, error) {
	b := &Block{Table: table}
	for _, p := range parts {
		b.Rows += len(p.Batch.Rows)
	}
	columns := parts[0].Batch.Table.Columns
	for i := range columns {
		vectors := make([]*sinks.Vector, len(parts))
		for n, p := range parts {
			if len(p.Batch.Vectors) != len(columns) {
				return nil, fmt.Errorf("table %s: batches of different columns in one flush", table)
			}
			vectors[n] = &p.Batch.Vectors[i]
		}
		if err := b.addVectors(types, columns[i].Name, vectors); err != nil {
			return nil, err
		}
	}
	if err := b.addRemoval(types, parts); err != nil {
		return nil, err
	}
	return b, b.addMeta(types, parts)
}

// addRemoval adds how rows were removed, where any was.
func (b *Block) addRemoval(types map[string]Type, parts []Part) error {
	if !slices.ContainsFunc(parts, func(p Part) bool { return p.Removal != nil }) {
		return nil
	}
	removals := make([]*sinks.Batch, len(parts))
	for n, p := range parts {
		if removals[n] = p.Removal; p.Removal == nil {
			removals[n] = sinks.NewBatch(RemovalTable, len(p.Batch.Rows))
			for range p.Batch.Rows {
				for i := range removals[n].Vectors {
					removals[n].Vectors[i].AppendZero()
				}
			}
		}
	}
	for i, column := range RemovalTable.Columns {
		vectors := make([]*sinks.Vector, len(parts))
		for n := range parts {
			vectors[n] = &removals[n].Vectors[i]
		}
		if err := b.addVectors(types, column.Name, vectors); err != nil {
			return err
		}
	}
	return nil
}

// PlainBlock lays out a batch that has all columns of its table itself.
func PlainBlock(types map[string]Type, batch *sinks.Batch) (*Block, error) {
	b := &Block{Table: batch.Table.Name, Rows: len(batch.Rows)}
	for i := range batch.Vectors {
		if err := b.addVectors(types, batch.Table.Columns[i].Name, []*sinks.Vector{&batch.Vectors[i]}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *Block) addVectors(types map[string]Type, name string, vectors []*sinks.Vector) error {
	typ, ok := types[name]
	if !ok {
		return fmt.Errorf("table %s has no column %s in the warehouse: does it need another version of the schema?", b.Table, name)
	}
	for _, v := range vectors {
		if v.Column.Name != name || !typ.fits(v.Column) {
			return fmt.Errorf("table %s: column %s is %s in the warehouse and cannot hold %s (%s, depth %d, map %t)",
				b.Table, name, typ.Text, v.Column.Name, v.Column.Kind, v.Column.Depth, v.Column.Map)
		}
	}
	b.Columns = append(b.Columns, Column{Name: name, Typ: typ, write: func(e *encoder) { e.vectors(typ, vectors) }})
	return nil
}

// addMeta adds the columns that every storage table has and no batch lists. What
// a live row leaves out, the columns of [RemovalTable], is the default.
func (b *Block) addMeta(types map[string]Type, parts []Part) error {
	each := func(f func(*encoder, *Part, *sinks.Row)) func(*encoder) {
		return func(e *encoder) {
			for p := range parts {
				rows := parts[p].Batch.Rows
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
		{"business_id", each(func(e *encoder, p *Part, _ *sinks.Row) { e.textString(p.Business) })},
		{"id", each(func(e *encoder, _ *Part, r *sinks.Row) { e.textString(r.ID) })},
		{"_source", func(e *encoder) { e.prefix(types["_source"]); e.lowCardinality(false, sourcesOf(parts)) }},
		{"_version", each(func(e *encoder, _ *Part, r *sinks.Row) { e.u64(r.Version) })},
		{"_fetched_at", each(func(e *encoder, _ *Part, r *sinks.Row) { e.u64(uint64(r.FetchedAt.UnixMicro())) })},
		{"_raw", each(func(e *encoder, _ *Part, r *sinks.Row) { e.text(r.Raw) })},
	} {
		typ, ok := types[c.name]
		if !ok {
			return fmt.Errorf("table %s has no column %s in the warehouse: is it one of Larder's?", b.Table, c.name)
		}
		b.Columns = append(b.Columns, Column{Name: c.name, Typ: typ, write: c.write})
	}
	return nil
}

// sourcesOf is the source of every row, as texts.
func sourcesOf(parts []Part) []textList {
	lists := make([]textList, len(parts))
	for i, p := range parts {
		list := textList{ends: make([]uint64, len(p.Batch.Rows))}
		for r := range list.ends {
			list.bytes = append(list.bytes, p.Source...)
			list.ends[r] = uint64(len(list.bytes))
		}
		lists[i] = list
	}
	return lists
}

// chunks is the block in the Native format. A chunk is only good until the next.
func (b *Block) chunks(emit func([]byte) bool) {
	e := &encoder{emit: emit}
	e.uvarint(uint64(len(b.Columns)))
	e.uvarint(uint64(b.Rows))
	for _, c := range b.Columns {
		if e.stopped {
			return
		}
		e.textString(c.Name)
		e.textString(c.Typ.Text)
		c.write(e)
	}
	e.flush()
}

// Reader reads the block in the Native format. Close it.
func (b *Block) Reader() *ChunkReader { return newChunkReader(b.chunks) }

// Reader reads the data of one column, prefix included.
func (c Column) Reader() *ChunkReader {
	return newChunkReader(func(emit func([]byte) bool) {
		e := &encoder{emit: emit}
		c.write(e)
		e.flush()
	})
}

// ChunkReader reads what an encoder emits, which goes on only as it is read. An
// HTTP client may close a body while another goroutine of it still reads.
type ChunkReader struct {
	mu      sync.Mutex
	next    func() ([]byte, bool)
	stop    func()
	current []byte
	// Size is how much was read.
	Size int64
}

func newChunkReader(chunks iter.Seq[[]byte]) *ChunkReader {
	r := &ChunkReader{}
	r.next, r.stop = iter.Pull(chunks)
	return r
}

// Read implements io.Reader.
func (r *ChunkReader) Read(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { // an HTTP client reads in a goroutine of its own, where a panic would end the process
		if broken := recover(); broken != nil {
			err = fmt.Errorf("encode a block: panic: %v", broken)
		}
	}()
	for len(r.current) == 0 {
		chunk, ok := r.next()
		if !ok {
			return 0, io.EOF
		}
		r.current = chunk
	}
	n = copy(p, r.current)
	r.current = r.current[n:]
	r.Size += int64(n)
	return n, nil
}

// Close ends the encoder.
func (r *ChunkReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.current = nil
	return nil
}
