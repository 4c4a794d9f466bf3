package mapping

import "slices"

// mapField reads an object with open keys. A value under a key that api.md names
// is as strict as any field. One under another key lands when it fits the columns,
// and is left to the row's JSON when it does not: it never costs the row (DESIGN
// R9).
func (m *Mapper) mapField(f *field) error {
	if f.nullable && m.dec.PeekKind() == 'n' {
		return m.skipNull(f)
	}
	var seen uint64
	m.entries, m.at = m.entries[:0], nil
	err := m.members(func(name []byte) error {
		key, _ := m.text(name)
		i := slices.IndexFunc(f.keys, func(k string) bool { return k == string(key) })
		switch {
		case i < 0:
			return m.unknownEntry(f, name)
		case seen&(1<<i) != 0:
			return m.bad(nil, "there twice")
		}
		seen |= 1 << i
		m.appendKey(f, key)
		return m.element(f)
	})
	if err != nil {
		return err
	}
	// The unknown entries come after the others: which value of a key is the last is known at
	// the object's end. They are read from the row, where the parser is already past them.
	for _, e := range m.entries {
		if m.fits(f, e.value) {
			m.appendKey(f, []byte(e.key))
		}
	}
	m.endList(f)
	return nil
}

func (m *Mapper) appendKey(f *field, key []byte) {
	for _, col := range f.columns {
		m.vectors[col].AppendKey(key)
	}
}

// entry is an entry of a map under a key that api.md does not name.
type entry struct {
	key   string
	value []byte // a part of the row
}

// unknownEntry reports an entry that api.md does not name, and puts it aside: of
// those with one key the last counts.
func (m *Mapper) unknownEntry(f *field, name []byte) error {
	m.note(f.scalar.path, DriftValue, m.kept(name))
	text, _ := m.text(name)
	key := string(text)
	value, err := m.value()
	if err != nil {
		return err
	}
	i, again := m.at[key]
	if !again {
		if m.at == nil {
			m.at = map[string]int{}
		}
		i = len(m.entries)
		m.entries, m.at[key] = append(m.entries, entry{key: key}), i
	}
	m.entries[i].value = m.kept(value)
	return nil
}

// fits appends the value of an unknown entry, or nothing when it is no value of the
// map's columns.
func (m *Mapper) fits(f *field, value []byte) bool {
	if f.op == opMap {
		return m.scalar(&f.scalar, value) == nil
	}
	if m.inner == nil {
		m.inner = m.plan.NewMapper()
	}
	in := m.inner
	in.beginRow(value)
	in.vectors = m.vectors
	defer func() { in.vectors = nil }()
	if in.object(f.sub) != nil {
		for _, col := range f.columns {
			v := &m.vectors[col]
			v.KeepValues(len(v.KeyEnds))
		}
		return false
	}
	for _, d := range in.drift {
		m.note(d.Path, d.Kind, d.Example)
	}
	return true
}
