package mapping

import "slices"

// mapField reads an object with open keys. A value under a key that the API's description names
// is as strict as any field. One under another key lands when it fits the columns,
// and is left to the row's JSON when it does not: it never costs the row (docs/rules.md
// R9). Of unknown entries with one key the first counts.
func (m *Mapper) mapField(f *field) error {
	var named uint64
	var others map[string]bool
	err := m.members(func(name []byte) error {
		key, _ := m.text(name)
		i := slices.IndexFunc(f.keys, func(k string) bool { return k == string(key) })
		switch {
		case i < 0 && others[string(key)]:
			return m.skip()
		case i < 0:
			if others == nil {
				others = map[string]bool{}
			}
			others[string(key)] = true
			return m.unknownEntry(f, name)
		case named&(1<<i) != 0:
			return m.bad(nil, "there twice")
		}
		named |= 1 << i
		m.appendKey(f, key)
		return m.element(f)
	})
	if err == nil {
		m.endList(f)
	}
	return err
}

func (m *Mapper) appendKey(f *field, key []byte) {
	for _, col := range f.columns {
		m.vectors[col].AppendKey(key)
	}
}

// unknownEntry reads an entry that the API's description does not name, and reports it.
func (m *Mapper) unknownEntry(f *field, name []byte) error {
	m.note(f.scalar.path, DriftValue, m.kept(name))
	text, _ := m.text(name)
	key := string(text) // the value's text takes its place
	value, err := m.value()
	if err == nil && m.fits(f, value) {
		m.appendKey(f, []byte(key))
	}
	return err
}

// fits appends the value of an unknown entry, or nothing when it is no value of the
// map's columns.
func (m *Mapper) fits(f *field, value []byte) bool {
	if f.op == opMap {
		return m.scalar(&f.scalar, value) == nil
	}
	in := m.plan.NewMapper()
	in.beginRow(m.kept(value))
	in.vectors = m.vectors
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
