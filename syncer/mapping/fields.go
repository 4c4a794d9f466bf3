package mapping

import "math/bits"

// object reads an object of known fields.
func (m *Mapper) object(o *object) error {
	if err := m.open('{', "an object"); err != nil {
		return err
	}
	var seen uint64
	next := 0
	for m.dec.PeekKind() != '}' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		i := o.find(name, next)
		if i < 0 && m.escapes {
			text, _ := m.text(name)
			i = o.named(text)
		}
		switch {
		case i < 0:
			err = m.unknown(o, name)
		case seen&(1<<i) != 0:
			err = m.bad(nil, "there twice")
		default:
			next = i + 1
			seen |= 1 << i
			err = m.field(&o.fields[i])
		}
		if err != nil {
			return err
		}
	}
	if err := m.token(); err != nil {
		return err
	}
	// What it does not have is null, where that may be.
	if gone := o.required &^ seen; gone != 0 {
		return m.missing(o.fields[bits.TrailingZeros64(gone)].name)
	}
	for gone := o.optional &^ seen; gone != 0; gone &= gone - 1 {
		m.null(&o.fields[bits.TrailingZeros64(gone)])
	}
	return nil
}

// unknown reads past a field that the API's description does not name, and reports it. It may hold
// anything that is JSON.
func (m *Mapper) unknown(o *object, quoted []byte) error {
	name, _ := m.text(quoted)
	path := m.path(o.path, name)
	value, err := m.value()
	if err != nil {
		return err
	}
	m.note(path, DriftField, m.kept(value))
	return nil
}

func (m *Mapper) field(f *field) error {
	switch f.op {
	case opScalar:
		value, err := m.dec.ReadValue()
		switch {
		case err != nil:
			return m.syntax(err)
		case value[0] == 'n' && f.nullable:
			m.vectors[f.scalar.col].AppendZero()
			return nil
		case !f.id:
			return m.scalar(&f.scalar, value)
		}
		if m.rowID, err = m.id(value); err == nil && f.scalar.col >= 0 {
			m.vectors[f.scalar.col].AppendText([]byte(m.rowID))
		}
		return err
	case opSkip:
		return m.skip()
	case opDeleted:
		return m.deleted()
	}
	if f.nullable && m.dec.PeekKind() == 'n' {
		m.null(f)
		return m.token()
	}
	switch f.op {
	case opStruct:
		return m.object(f.sub)
	case opScalars, opStructs:
		return m.list(f)
	default:
		return m.mapField(f)
	}
}

// element reads an element of an array or a map.
func (m *Mapper) element(f *field) error {
	if f.sub != nil {
		return m.object(f.sub)
	}
	value, err := m.value()
	if err != nil {
		return err
	}
	return m.scalar(&f.scalar, value)
}

func (m *Mapper) list(f *field) error {
	if err := m.open('[', "an array"); err != nil {
		return err
	}
	for m.dec.PeekKind() != ']' {
		if err := m.element(f); err != nil {
			return err
		}
	}
	m.endList(f)
	return m.token()
}

func (m *Mapper) endList(f *field) {
	for _, col := range f.columns {
		m.vectors[col].EndList(f.level)
	}
}

// null appends a field that is null: nulls, and empty lists and maps.
func (m *Mapper) null(f *field) {
	for _, col := range f.columns {
		v := &m.vectors[col]
		if len(v.Offsets) > f.level {
			v.EndList(f.level)
		} else {
			v.AppendZero()
		}
	}
}
