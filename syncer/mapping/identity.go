package mapping

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// identified puts the id of the bad row into its error, when the row has one
// that can be read: somebody will look for it.
func (m *Mapper) identified(err error) error {
	var bad *RowError
	if errors.As(err, &bad) {
		bad.ID = m.findID()
	}
	return err
}

func (m *Mapper) findID() string {
	value := m.find(m.plan.idPath)
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	id, err := jsontext.AppendUnquote(nil, value)
	if err != nil || len(id) > maxID {
		return "" // not UTF-8: as text it would look like other ids
	}
	return string(id)
}

// buried is true when a row that failed as a live one says that it is deleted:
// the field may stand behind the one that failed.
func (m *Mapper) buried() bool {
	return m.plan.deletable && string(m.find([]string{"deleted"})) == "true"
}

// find reads the row leniently, as far as the named field, and returns its
// literal value, or nil.
func (m *Mapper) find(path []string) []byte {
	if path == nil {
		return nil
	}
	m.read(m.raw, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for _, name := range path {
		if !m.enter(name) {
			return nil
		}
	}
	value, err := m.dec.ReadValue()
	if err != nil {
		return nil
	}
	return value
}

// enter reads an object as far as the value of a field.
func (m *Mapper) enter(field string) bool {
	if m.dec.PeekKind() != '{' {
		return false
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return false
	}
	for m.dec.PeekKind() == '"' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return false
		}
		if text, err := jsontext.AppendUnquote(m.scratch[:0], name); err == nil && string(text) == field {
			return true
		}
		if err := m.dec.SkipValue(); err != nil {
			return false
		}
	}
	return false
}
