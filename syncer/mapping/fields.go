package mapping

import (
	"bytes"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads an object of known fields.
func (m *Mapper) object(o *object) error {
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	var seen uint64
	next := 0
	for m.dec.PeekKind() != '}' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		i := o.find(name, next)
		if i < 0 {
			i = m.findEscaped(o, name)
		}
		if i < 0 {
			err = m.unknown(o, name)
		} else {
			next = i + 1
			if seen&(1<<i) != 0 {
				return m.bad(nil, "there twice")
			}
			seen |= 1 << i
			err = m.field(&o.fields[i])
		}
		if err != nil {
			return err
		}
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	return m.fill(o, seen)
}

// fill completes an object with the nulls of the fields it does not have.
func (m *Mapper) fill(o *object, seen uint64) error {
	if gone := o.required &^ seen; gone != 0 {
		return m.missing(o.fields[bits.TrailingZeros64(gone)].name)
	}
	for gone := o.optional &^ seen; gone != 0; gone &= gone - 1 {
		m.null(&o.fields[bits.TrailingZeros64(gone)])
	}
	return nil
}

func (m *Mapper) findEscaped(o *object, quoted []byte) int {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return -1
	}
	if i, ok := o.index[string(m.text(quoted))]; ok {
		return i
	}
	return -1
}

func (m *Mapper) field(f *field) error {
	switch f.op {
	case opScalar:
		return m.scalarField(f)
	case opStruct:
		return m.structField(f)
	case opScalars:
		return m.scalars(f)
	case opStructs:
		return m.structs(f)
	case opMap, opMapOf:
		return m.mapField(f)
	case opDeleted:
		return m.tombstones.deleted()
	default:
		if err := m.dec.SkipValue(); err != nil {
			return m.syntax(err)
		}
		return nil
	}
}

func (m *Mapper) scalarField(f *field) error {
	value, err := m.dec.ReadValue()
	if err != nil {
		return m.syntax(err)
	}
	if value[0] == 'n' && f.nullable {
		m.vectors[f.scalar.col].AppendZero()
		return nil
	}
	if f.id {
		return m.identify(f, value)
	}
	return m.scalar(&f.scalar, value)
}

// maxID bounds what identifies a row: ids stand in addresses, in memory and in the
// index of a table.
const maxID = 1024

const (
	tooLong       = "longer than 1024 bytes"
	halfSurrogate = "holds half a surrogate pair: with U+FFFD in its place it could be another row's"
)

// identify takes the value of the field that identifies the row.
func (m *Mapper) identify(f *field, value []byte) error {
	if value[0] != '"' {
		return m.bad(value, "want a string that is not empty")
	}
	text, whole := m.wholeText(value)
	if len(text) == 0 {
		return m.bad(value, "want a string that is not empty")
	}
	if !whole {
		return m.bad(value, halfSurrogate)
	}
	if len(text) > maxID {
		return m.bad(value, tooLong)
	}
	m.id = string(text)
	if f.scalar.col >= 0 {
		m.vectors[f.scalar.col].AppendText(text)
	}
	return nil
}

func (m *Mapper) structField(f *field) error {
	switch m.dec.PeekKind() {
	case '{':
		return m.object(f.sub)
	case 'n':
		if f.nullable {
			return m.skipNull(f)
		}
	}
	return m.unexpected("an object")
}

func (m *Mapper) scalars(f *field) error {
	if ok, err := m.open(f, '[', "an array"); !ok {
		return err
	}
	for m.dec.PeekKind() != ']' {
		value, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		if err := m.scalar(&f.scalar, value); err != nil {
			return err
		}
	}
	return m.close(f)
}

func (m *Mapper) structs(f *field) error {
	if ok, err := m.open(f, '[', "an array"); !ok {
		return err
	}
	for {
		switch m.dec.PeekKind() {
		case '{':
			if err := m.object(f.sub); err != nil {
				return err
			}
		case ']':
			return m.close(f)
		default:
			return m.unexpected("an object")
		}
	}
}

// open reads the start of an array or map. It returns false when there is
// nothing more to do.
func (m *Mapper) open(f *field, kind jsontext.Kind, want string) (bool, error) {
	switch k := m.dec.PeekKind(); {
	case k == 'n' && f.nullable:
		return false, m.skipNull(f)
	case k != kind:
		return false, m.unexpected(want)
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return false, m.syntax(err)
	}
	return true, nil
}

// close reads the end of an array or map.
func (m *Mapper) close(f *field) error {
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	for _, col := range f.columns {
		m.vectors[col].EndList(f.level)
	}
	return nil
}

func (m *Mapper) skipNull(f *field) error {
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	m.null(f)
	return nil
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

// unexpected is the error of a value of the wrong shape that comes next.
func (m *Mapper) unexpected(want string) error {
	value, err := m.dec.ReadValue()
	if err != nil {
		return m.syntax(err)
	}
	return m.bad(value, "want "+want)
}
