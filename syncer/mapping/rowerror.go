package mapping

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// excerptSize is how many bytes of a value are quoted, in errors and reports.
const excerptSize = 200

// RowError is a row that could not be understood. It belongs in quarantine
// (DESIGN R8) and troubles no other row.
type RowError struct {
	ID     string // empty when the row has none that can be read
	Field  string // path, e.g. items.3.unit_price; empty for the row as a whole
	Reason string // without anything of the row
	Detail string // what the parser says about it, which may quote the row; may be empty
	Value  string // the literal JSON of the value, cut to 200 bytes; may be empty
}

func (e *RowError) Error() string {
	var b strings.Builder
	b.WriteString("row ")
	b.WriteString(strconv.Quote(e.ID))
	if e.Field != "" {
		b.WriteString(", field " + e.Field)
	}
	b.WriteString(": " + e.Explained())
	return b.String()
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

// bad is the error of the value read last.
func (m *Mapper) bad(value []byte, reason string) error {
	return &RowError{Field: dotted(m.dec.StackPointer()), Reason: reason, Value: excerpt(value)}
}

// missing is the error of a field that the object read last does not have.
func (m *Mapper) missing(name string) error {
	field := dotted(m.dec.StackPointer())
	if field != "" {
		field += "."
	}
	return &RowError{Field: field + name, Reason: "missing"}
}

// syntax turns an error of the JSON parser into one of the row.
func (m *Mapper) syntax(err error) error {
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		if errors.Is(err, io.EOF) {
			return &RowError{Reason: "no JSON"}
		}
		return fmt.Errorf("read a row: %w", err)
	}
	e := &RowError{Field: dotted(syn.JSONPointer), Reason: "not valid JSON", Detail: syn.Err.Error()}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.Reason, e.Detail = "there twice", ""
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Reason, e.Detail = "the JSON ends early", ""
	case syn.ByteOffset < int64(len(m.raw)):
		e.Value = excerpt(m.raw[syn.ByteOffset:])
	}
	return e
}

// dotted writes a JSON pointer the way quarantine entries do: items.3.unit_price,
// cut like a value: names inside unknown fields may be long, and deep.
func dotted(p jsontext.Pointer) string {
	var b []byte
	for token := range p.Tokens() {
		if len(b) > 0 {
			b = append(b, '.')
		}
		if b = append(b, token...); len(b) > excerptSize {
			break
		}
	}
	return string(cut(b))
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
