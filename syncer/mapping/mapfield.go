package mapping

import (
	"slices"
)

// fewKeys is how many unknown keys of a map are compared with each other; more
// are looked up.
const fewKeys = 16

// mapField reads an object with open keys. A value under a key that api.md names
// is as strict as any field. One under another key lands when it fits the columns,
// and is left to the row's JSON when it does not: it never costs the row (DESIGN
// R9).
func (m *Mapper) mapField(f *field) error {
	if ok, err := m.open(f, '{', "an object"); !ok {
		return err
	}
	var seen uint64
	m.entries.reset()
	for m.dec.PeekKind() != '}' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		i := f.key(m.text(name))
		if i < 0 {
			err = m.unknownEntry(f, name)
		} else if seen&(1<<i) != 0 {
			return m.bad(nil, "there twice")
		} else {
			seen |= 1 << i
			err = m.knownEntry(f, f.keys[i])
		}
		if err != nil {
			return err
		}
	}
	m.addEntries(f)
	return m.close(f)
}

// key is the index of a key that api.md names, or -1.
func (f *field) key(text []byte) int {
	return slices.IndexFunc(f.keys, func(k string) bool { return k == string(text) })
}

func (m *Mapper) knownEntry(f *field, key string) error {
	for _, col := range f.columns {
		m.vectors[col].AppendKey([]byte(key))
	}
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

// unknownEntry reports an entry that api.md does not name, and puts it aside: of
// those with one key the last counts.
func (m *Mapper) unknownEntry(f *field, name []byte) error {
	m.drift.report(f.path(), DriftValue, name)
	key := string(m.text(name))
	value, err := m.dec.ReadValue()
	if err != nil {
		return m.syntax(err)
	}
	m.entries.put(key, m.drift.kept(value))
	return nil
}

// addEntries appends the unknown entries that fit.
func (m *Mapper) addEntries(f *field) {
	for _, e := range m.entries.all {
		if !m.fits(f, e.value) {
			continue
		}
		for _, col := range f.columns {
			m.vectors[col].AppendKey([]byte(e.key))
		}
	}
}

// fits appends the value of an unknown entry, or nothing when it is no value of the
// map's columns.
func (m *Mapper) fits(f *field, value []byte) bool {
	if f.op == opMap {
		return m.scalar(&f.scalar, value) == nil
	}
	if value[0] != '{' {
		return false
	}
	if m.inner == nil {
		m.inner = m.plan.NewMapper()
	}
	in := m.inner
	in.begin(value)
	in.vectors = m.vectors
	defer func() { in.vectors = nil }()
	if in.object(f.sub) != nil {
		for _, col := range f.columns {
			v := &m.vectors[col]
			v.KeepValues(len(v.KeyEnds))
		}
		return false
	}
	for _, d := range in.drift.items {
		m.drift.note(d.Path, d.Kind, d.Example)
	}
	return true
}

// path is the path of the map in reports.
func (f *field) path() string {
	if f.sub != nil {
		return f.sub.path[:len(f.sub.path)-1]
	}
	return f.scalar.path
}

// entries are the unknown entries of a map, in order of their first key.
type entries struct {
	all   []entry
	index map[string]int // by key, once there are many
}

type entry struct {
	key   string
	value []byte // a part of the row
}

func (e *entries) reset() { e.all, e.index = e.all[:0], nil }

func (e *entries) put(key string, value []byte) {
	if i := e.find(key); i >= 0 {
		e.all[i].value = value
		return
	}
	e.all = append(e.all, entry{key, value})
	switch n := len(e.all); {
	case n == fewKeys:
		e.index = make(map[string]int, 2*fewKeys)
		for i, other := range e.all {
			e.index[other.key] = i
		}
	case n > fewKeys:
		e.index[key] = n - 1
	}
}

func (e *entries) find(key string) int {
	if e.index == nil {
		return slices.IndexFunc(e.all, func(other entry) bool { return other.key == key })
	}
	if i, ok := e.index[key]; ok {
		return i
	}
	return -1
}
