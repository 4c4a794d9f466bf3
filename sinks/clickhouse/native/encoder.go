package native

import (
	"encoding/binary"

	"github.com/larder-sync/larder/sinks"
)

// chunkSize is about how much is encoded before it is handed on.
const chunkSize = 64 << 10

// encoder writes ClickHouse's Native format, revision 0, and hands it on in
// chunks, so that a flush needs no memory of its own size. The layout of a
// [sinks.Vector] is that of the format; what is left is to add up offsets across
// batches and to build the dictionaries of LowCardinality columns.
type encoder struct {
	buf     []byte
	emit    func([]byte) bool
	stopped bool // emit wants no more
	dict    dictionary
}

// spill hands on what is encoded when it is enough.
func (e *encoder) spill() {
	if len(e.buf) >= chunkSize {
		e.flush()
	}
}

func (e *encoder) flush() {
	if len(e.buf) > 0 && !e.stopped {
		e.stopped = !e.emit(e.buf)
	}
	e.buf = e.buf[:0]
}

func (e *encoder) uvarint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }

func (e *encoder) u64(n uint64) {
	e.buf = binary.LittleEndian.AppendUint64(e.buf, n)
	e.spill()
}

func (e *encoder) text(s []byte) {
	e.uvarint(uint64(len(s)))
	e.buf = append(e.buf, s...)
	e.spill()
}

func (e *encoder) textString(s string) {
	e.uvarint(uint64(len(s)))
	e.buf = append(e.buf, s...)
	e.spill()
}

// vectors writes the values of one column: first what the format calls the
// prefix, then the data of all vectors as if they were one.
func (e *encoder) vectors(t Type, all []*sinks.Vector) {
	e.prefix(t)
	if t.mapped {
		e.offsets(all, 0)
		e.texts(t.LowKey, false, keysOf(all))
		e.values(t, all)
		return
	}
	for level := range t.Depth {
		e.offsets(all, level)
	}
	e.values(t, all)
}

// prefix is one version number for every LowCardinality part of the type.
func (e *encoder) prefix(t Type) {
	if t.LowKey {
		e.u64(lowCardinalityVersion)
	}
	if t.Low {
		e.u64(lowCardinalityVersion)
	}
}

func (e *encoder) offsets(all []*sinks.Vector, level int) {
	var base uint64
	for _, v := range all {
		ends := v.Offsets[level]
		for _, end := range ends {
			e.u64(base + end)
		}
		if len(ends) > 0 {
			base += ends[len(ends)-1]
		}
	}
}

func (e *encoder) values(t Type, all []*sinks.Vector) {
	if t.Kind == sinks.Text {
		e.texts(t.Low, t.nullable, textsOf(all))
		return
	}
	if t.nullable {
		e.masks(all)
	}
	for _, v := range all {
		if t.Kind == sinks.Quantity {
			for _, n := range v.Wide {
				e.u64(n.Lo)
				e.u64(uint64(n.Hi))
			}
			continue
		}
		e.ints(t.Kind, v.Ints)
	}
}

func (e *encoder) ints(kind sinks.Kind, ints []int64) {
	switch kind {
	case sinks.Bool:
		for _, n := range ints {
			e.buf = append(e.buf, byte(n))
			e.spill()
		}
	case sinks.Day:
		for _, n := range ints {
			e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(int32(n)))
			e.spill()
		}
	default:
		for _, n := range ints {
			e.u64(uint64(n))
		}
	}
}

// masks writes the null masks; a vector that is never null has none.
func (e *encoder) masks(all []*sinks.Vector) {
	for _, v := range all {
		e.mask(v.Nulls, countValues(v))
	}
}

func (e *encoder) mask(nulls []uint8, n int) {
	if nulls == nil {
		for range n {
			e.buf = append(e.buf, 0)
			e.spill()
		}
		return
	}
	e.buf = append(e.buf, nulls...)
	e.spill()
}

func countValues(v *sinks.Vector) int {
	switch v.Column.Kind {
	case sinks.Text:
		return len(v.Ends)
	case sinks.Quantity:
		return len(v.Wide)
	default:
		return len(v.Ints)
	}
}

// textList is the texts of one vector: its values, or the keys of its maps.
type textList struct {
	bytes []byte
	ends  []uint64
	nulls []uint8
}

func textsOf(all []*sinks.Vector) []textList {
	lists := make([]textList, len(all))
	for i, v := range all {
		lists[i] = textList{bytes: v.Bytes, ends: v.Ends, nulls: v.Nulls}
	}
	return lists
}

func keysOf(all []*sinks.Vector) []textList {
	lists := make([]textList, len(all))
	for i, v := range all {
		lists[i] = textList{bytes: v.KeyBytes, ends: v.KeyEnds}
	}
	return lists
}

func (e *encoder) texts(low, nullable bool, lists []textList) {
	if low {
		e.lowCardinality(nullable, lists)
		return
	}
	if nullable {
		for _, l := range lists {
			e.mask(l.nulls, len(l.ends))
		}
	}
	for _, l := range lists {
		var begin uint64
		for _, end := range l.ends {
			e.text(l.bytes[begin:end])
			begin = end
		}
	}
}
