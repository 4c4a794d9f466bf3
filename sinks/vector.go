package sinks

import "slices"

// Vector holds the values of one column. For a scalar column it is one value a
// row. For arrays, Offsets[d] holds, for level d from the outside in, where each
// list ends among the lists (or, at the innermost level, the values) below it;
// a map is one level, with Keys beside the values. The layout is the one that
// columnar warehouses use on the wire, so that a sink copies and never converts.
type Vector struct {
	Column *Column

	Bytes   []byte   // Text: all values, one after the other
	Ends    []uint64 // Text: where each value ends in Bytes
	Ints    []int64  // Bool, Int, Money, Instant, Day
	Wide    []Int128 // Quantity
	Nulls   []uint8  // 1 for null, beside every value, when the column is nullable
	Offsets [][]uint64

	KeyBytes []byte // Map: the keys
	KeyEnds  []uint64
}

func (v *Vector) init(c *Column, n int) {
	v.Column = c
	levels := c.Depth
	if c.Map {
		levels = 1
	}
	if levels > 0 {
		v.Offsets = make([][]uint64, levels)
		v.Offsets[0] = make([]uint64, 0, n)
	}
	switch c.Kind {
	case Text:
		v.Ends = make([]uint64, 0, n)
	case Quantity:
		v.Wide = make([]Int128, 0, n)
	default:
		v.Ints = make([]int64, 0, n)
	}
	if c.Nullable {
		v.Nulls = make([]uint8, 0, n)
	}
}

// Len is the number of rows.
func (v *Vector) Len() int {
	if len(v.Offsets) > 0 {
		return len(v.Offsets[0])
	}
	return v.values()
}

func (v *Vector) values() int {
	switch v.Column.Kind {
	case Text:
		return len(v.Ends)
	case Quantity:
		return len(v.Wide)
	default:
		return len(v.Ints)
	}
}

// AppendText appends a text value.
func (v *Vector) AppendText(s []byte) {
	v.Bytes = append(v.Bytes, s...)
	v.Ends = append(v.Ends, uint64(len(v.Bytes)))
	v.notNull()
}

// AppendInt appends a value of the kinds Bool, Int, Money, Instant and Day.
func (v *Vector) AppendInt(n int64) {
	v.Ints = append(v.Ints, n)
	v.notNull()
}

// AppendWide appends a value of the kind Quantity.
func (v *Vector) AppendWide(n Int128) {
	v.Wide = append(v.Wide, n)
	v.notNull()
}

func (v *Vector) notNull() {
	if v.Column.Nullable {
		v.Nulls = append(v.Nulls, 0)
	}
}

// AppendZero appends the zero of the column's kind: null where the column is
// nullable.
func (v *Vector) AppendZero() {
	switch v.Column.Kind {
	case Text:
		v.Ends = append(v.Ends, uint64(len(v.Bytes)))
	case Quantity:
		v.Wide = append(v.Wide, Int128{})
	default:
		v.Ints = append(v.Ints, 0)
	}
	if v.Column.Nullable {
		v.Nulls = append(v.Nulls, 1)
	}
}

// AppendKey appends the key of a map's next entry; its value follows.
func (v *Vector) AppendKey(s []byte) {
	v.KeyBytes = append(v.KeyBytes, s...)
	v.KeyEnds = append(v.KeyEnds, uint64(len(v.KeyBytes)))
}

// EndList closes the list at the given level (0 is the outermost), after its
// values or inner lists have been appended. A map has the one level 0.
func (v *Vector) EndList(level int) {
	end := v.values()
	if level+1 < len(v.Offsets) {
		end = len(v.Offsets[level+1])
	}
	v.Offsets[level] = append(v.Offsets[level], uint64(end))
}

// truncate keeps the first n rows.
func (v *Vector) truncate(n int) {
	for level := range v.Offsets {
		v.Offsets[level] = v.Offsets[level][:n]
		if n > 0 {
			n = int(v.Offsets[level][n-1])
		}
	}
	switch v.Column.Kind {
	case Text:
		v.Ends = v.Ends[:n]
		v.Bytes = v.Bytes[:last(v.Ends)]
	case Quantity:
		v.Wide = v.Wide[:n]
	default:
		v.Ints = v.Ints[:n]
	}
	if v.Column.Nullable {
		v.Nulls = v.Nulls[:n]
	}
	if v.Column.Map {
		v.KeyEnds = v.KeyEnds[:n]
		v.KeyBytes = v.KeyBytes[:last(v.KeyEnds)]
	}
}

// slice is a copy of some rows.
func (v *Vector) slice(from, to int) Vector {
	part := Vector{Column: v.Column}
	for _, ends := range v.Offsets {
		var below []uint64
		below, from, to = sliceEnds(ends, from, to)
		part.Offsets = append(part.Offsets, below)
	}
	if v.Column.Nullable {
		part.Nulls = slices.Clone(v.Nulls[from:to])
	}
	if v.Column.Map {
		part.KeyEnds, part.KeyBytes = sliceTexts(v.KeyEnds, v.KeyBytes, from, to)
	}
	switch v.Column.Kind {
	case Text:
		part.Ends, part.Bytes = sliceTexts(v.Ends, v.Bytes, from, to)
	case Quantity:
		part.Wide = slices.Clone(v.Wide[from:to])
	default:
		part.Ints = slices.Clone(v.Ints[from:to])
	}
	return part
}

func sliceTexts(ends []uint64, bytes []byte, from, to int) (partEnds []uint64, partBytes []byte) {
	partEnds, from, to = sliceEnds(ends, from, to)
	return partEnds, slices.Clone(bytes[from:to])
}

// sliceEnds is some of the ends, counted from the first of them, and which of the elements
// below those cover.
func sliceEnds(ends []uint64, from, to int) (part []uint64, begin, end int) {
	first := last(ends[:from])
	part = make([]uint64, 0, to-from)
	for _, n := range ends[from:to] {
		part = append(part, n-first)
	}
	return part, int(first), int(last(ends[:to]))
}

func last(ends []uint64) uint64 {
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1]
}

// KeepValues drops the values behind the first n: those of a map's entry that did
// not fit, before its key was appended.
func (v *Vector) KeepValues(n int) {
	switch v.Column.Kind {
	case Text:
		v.Ends = v.Ends[:min(n, len(v.Ends))]
		v.Bytes = v.Bytes[:last(v.Ends)]
	case Quantity:
		v.Wide = v.Wide[:min(n, len(v.Wide))]
	default:
		v.Ints = v.Ints[:min(n, len(v.Ints))]
	}
	if v.Column.Nullable {
		v.Nulls = v.Nulls[:min(n, len(v.Nulls))]
	}
}
