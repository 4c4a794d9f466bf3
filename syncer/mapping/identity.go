package mapping

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// identityFinder finds in a bad row what can be said of it all the same.
type identityFinder struct{ mapper *Mapper }

// identified puts the id of the bad row into its error, when the row has one
// that can be read: somebody will look for it.
func (i *identityFinder) identified(err error) error {
	var bad *RowError
	if errors.As(err, &bad) {
		bad.ID = i.findID()
	}
	return err
}

func (i *identityFinder) findID() string {
	value := i.find(i.mapper.plan.idPath)
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	id, err := jsontext.AppendUnquote(nil, value)
	if err != nil || len(id) > maxID {
		return "" // not UTF-8: as text it would look like other ids
	}
	return string(id)
}

// isTombstone is true when a row that failed as a live one says that it is deleted:
// the field may stand behind the one that failed.
func (i *identityFinder) isTombstone() bool {
	return i.mapper.plan.deletable && string(i.find([]string{"deleted"})) == "true"
}

// find reads the row leniently, as far as the named field, and returns its
// literal value, or nil.
func (i *identityFinder) find(path []string) []byte {
	if path == nil {
		return nil
	}
	i.mapper.read(i.mapper.raw, lenient)
	for _, name := range path {
		if !i.enter(name) {
			return nil
		}
	}
	value, err := i.mapper.dec.ReadValue()
	if err != nil {
		return nil
	}
	return value
}

// enter reads an object as far as the value of a field.
func (i *identityFinder) enter(field string) bool {
	if i.mapper.dec.PeekKind() != '{' {
		return false
	}
	if _, err := i.mapper.dec.ReadToken(); err != nil {
		return false
	}
	for i.mapper.dec.PeekKind() == '"' {
		name, err := i.mapper.dec.ReadValue()
		if err != nil {
			return false
		}
		if text, err := jsontext.AppendUnquote(i.mapper.scratch[:0], name); err == nil && string(text) == field {
			return true
		}
		if err := i.mapper.dec.SkipValue(); err != nil {
			return false
		}
	}
	return false
}
