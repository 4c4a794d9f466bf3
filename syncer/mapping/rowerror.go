package mapping

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// excerptSize is how many bytes of a value are quoted, in errors and reports.
const excerptSize = 200

// RowError is a row that could not be understood. It belongs in quarantine
// (docs/rules.md R8) and troubles no other row.
type RowError struct {
	ID     string // empty when the row has none that can be read
	Field  string // path, e.g. items.3.unit_price; empty for the row as a whole
	Reason string // without anything of the row
	Detail string // what the parser says about it, which may quote the row; may be empty
	Value  string // the literal JSON of the value, cut to 200 bytes; may be empty
}

func (e *RowError) Error() string {
	which := "row " + strconv.Quote(e.ID)
	if e.Field != "" {
		which += ", field " + e.Field
	}
	return which + ": " + e.Explained()
}

// Explained is the reason with its detail and the value.
func (e *RowError) Explained() string {
	said := e.Reason
	for _, more := range []string{e.Detail, e.Value} {
		if more != "" {
			said += ": " + more
		}
	}
	return said
}

func excerpt(value []byte) string {
	return string(cut(bytes.ToValidUTF8(cut(value), []byte("\uFFFD"))))
}

// cut shortens a value to excerptSize bytes, not inside a character.
func cut(value []byte) []byte {
	if len(value) <= excerptSize {
		return value
	}
	end := excerptSize
	for end > excerptSize-utf8.UTFMax && !utf8.RuneStart(value[end]) {
		end--
	}
	return value[:end]
}
