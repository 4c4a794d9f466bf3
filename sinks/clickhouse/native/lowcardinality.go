package native

import "encoding/binary"

// The numbers of the LowCardinality serialization: one version, and flags beside
// the width of the indexes.
const (
	lowCardinalityVersion = 1
	hasAdditionalKeys     = 1 << 9
	needUpdateDictionary  = 1 << 10
)

// dictionary gathers the distinct texts of one column. Index 0 is the empty text,
// which stands for null in a nullable column.
type dictionary struct {
	index   map[string]uint32
	texts   []string
	indexes []uint32
}

func (d *dictionary) reset(nullable bool) {
	if d.index == nil {
		d.index = map[string]uint32{}
	}
	clear(d.index)
	d.texts, d.indexes = append(d.texts[:0], ""), d.indexes[:0]
	if !nullable {
		d.index[""] = 0
	}
}

func (d *dictionary) add(list textList) {
	var begin uint64
	for i, end := range list.ends {
		text := list.bytes[begin:end]
		begin = end
		if list.nulls != nil && list.nulls[i] != 0 {
			d.indexes = append(d.indexes, 0)
			continue
		}
		at, ok := d.index[string(text)]
		if !ok {
			at = uint32(len(d.texts))
			s := string(text)
			d.texts = append(d.texts, s)
			d.index[s] = at
		}
		d.indexes = append(d.indexes, at)
	}
}

// lowCardinality writes a dictionary and the index of each value in it. No
// values at all are written as nothing.
func (e *encoder) lowCardinality(nullable bool, lists []textList) {
	e.dict.reset(nullable)
	for _, list := range lists {
		e.dict.add(list)
	}
	if len(e.dict.indexes) == 0 {
		return
	}
	width := indexWidth(len(e.dict.texts))
	e.u64(uint64(width) | hasAdditionalKeys | needUpdateDictionary)
	e.u64(uint64(len(e.dict.texts)))
	for _, text := range e.dict.texts {
		e.textString(text)
	}
	e.u64(uint64(len(e.dict.indexes)))
	e.indexes(width)
}

func (e *encoder) indexes(width int) {
	for _, at := range e.dict.indexes {
		switch width {
		case 0:
			e.buf = append(e.buf, byte(at))
		case 1:
			e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(at))
		default:
			e.buf = binary.LittleEndian.AppendUint32(e.buf, at)
		}
		e.spill()
	}
}

// indexWidth is the format's number for indexes of 8, 16 or 32 bits.
func indexWidth(texts int) int {
	switch {
	case texts <= 1<<8:
		return 0
	case texts <= 1<<16:
		return 1
	}
	return 2
}
