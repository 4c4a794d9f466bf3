package mapping

import (
	"bytes"
	"slices"

	"github.com/larder-sync/larder/sinks"
)

// fewKeys is how many keys of a map are compared with each other; with more,
// the strict parser looks for duplicates.
const fewKeys = 16

// mapField reads an object with open keys.
func (m *Mapper) mapField(f *field) error {
	if ok, err := m.open(f, '{', "an object"); !ok {
		return err
	}
	first := &m.vectors[f.leaves[0]]
	start := len(first.KeyEnds)
	for m.dec.PeekKind() != '}' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		key := m.text(name)
		if len(first.KeyEnds)-start > fewKeys {
			m.recheck = true
		} else if hasKey(first, start, key) {
			return m.bad(nil, "there twice")
		}
		if f.keys != nil && !slices.Contains(f.keys, string(key)) {
			m.report(f.path(), DriftValue, name)
		}
		for _, col := range f.leaves {
			m.vectors[col].AppendKey(key)
		}
		if err := m.mapValue(f); err != nil {
			return err
		}
	}
	return m.close(f)
}

func (m *Mapper) mapValue(f *field) error {
	if f.op == opMapOf {
		if m.dec.PeekKind() != '{' {
			return m.unexpected("an object")
		}
		return m.object(f.sub)
	}
	value, err := m.dec.ReadValue()
	if err != nil {
		return m.syntax(err)
	}
	return m.scalar(&f.scalar, value)
}

// path is the path of the map in reports.
func (f *field) path() string {
	if f.sub != nil {
		return f.sub.path[:len(f.sub.path)-1]
	}
	return f.scalar.path
}

func hasKey(v *sinks.Vector, start int, key []byte) bool {
	for i := start; i < len(v.KeyEnds); i++ {
		from := uint64(0)
		if i > 0 {
			from = v.KeyEnds[i-1]
		}
		if bytes.Equal(v.KeyBytes[from:v.KeyEnds[i]], key) {
			return true
		}
	}
	return false
}
