package mapping

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// reader reads the JSON of one row after the other.
type reader struct {
	raw     []byte // the row at hand
	escapes bool   // there is a backslash in it
	dec     jsontext.Decoder
	in      bytes.Buffer
	scratch []byte
}

// begin reads a row from its start.
func (r *reader) begin(raw []byte, opts jsontext.Options) {
	r.raw, r.in, r.escapes = raw, *bytes.NewBuffer(raw), bytes.IndexByte(raw, '\\') >= 0
	r.dec.Reset(&r.in, opts)
}

// value reads the next value, which is valid until the next call.
func (r *reader) value() (jsontext.Value, error) {
	value, err := r.dec.ReadValue()
	if err != nil {
		return nil, r.syntax(err)
	}
	return value, nil
}

// token reads a bracket, or a null.
func (r *reader) token() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	return nil
}

func (r *reader) skip() error {
	if err := r.dec.SkipValue(); err != nil {
		return r.syntax(err)
	}
	return nil
}

// open reads the start of an object or array.
func (r *reader) open(kind jsontext.Kind, want string) error {
	if r.dec.PeekKind() == kind {
		return r.token()
	}
	value, err := r.value()
	if err != nil {
		return err
	}
	return r.bad(value, "want "+want)
}

// members reads an object, handing each name, in quotes, to member, which reads the value.
func (r *reader) members(member func(quoted []byte) error) error {
	if err := r.open('{', "an object"); err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.value()
		if err == nil {
			err = member(name)
		}
		if err != nil {
			return err
		}
	}
	return r.token()
}

// end checks what comes after the row.
func (r *reader) end() error {
	if len(bytes.TrimLeft(r.raw[r.dec.InputOffset():], " \t\r\n")) == 0 {
		return nil
	}
	if err := r.token(); err != nil {
		return err
	}
	return &RowError{Reason: "more than one JSON value"}
}

// kept is the literal read last as it is in the row, where it stays when the reader goes on.
func (r *reader) kept(literal []byte) []byte {
	end := int(r.dec.InputOffset())
	return r.raw[end-len(literal) : end]
}

// text returns the text of a JSON string, valid until the next call. Half a surrogate
// pair becomes U+FFFD; whole reports whether nothing was replaced.
func (r *reader) text(quoted []byte) (text []byte, whole bool) {
	if r.escapes {
		return r.unquoted(quoted)
	}
	return quoted[1 : len(quoted)-1], true
}

func (r *reader) unquoted(quoted []byte) (text []byte, whole bool) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], true
	}
	text, err := jsontext.AppendUnquote(r.scratch[:0], quoted)
	r.scratch = text
	return text, err == nil
}

// maxID bounds what identifies a row: ids are in addresses, in memory and in the index of a table.
const maxID = 1024

const halfSurrogate = "holds half a surrogate pair: with U+FFFD in its place it could be another row's"

// id returns the text of a value that identifies a row.
func (r *reader) id(value []byte) (string, error) {
	if value[0] != '"' || len(value) == len(`""`) {
		return "", r.bad(value, "want a string that is not empty")
	}
	text, whole := r.text(value)
	switch {
	case !whole:
		return "", r.bad(value, halfSurrogate)
	case len(text) > maxID:
		return "", r.bad(value, "longer than 1024 bytes")
	}
	return string(text), nil
}

// errFound ends the reading of a row whose field was found.
var errFound = errors.New("the field was found")

// find reads a row that could not be understood as far as the field that a path names, and
// returns the field's value, nil when there is none.
func (r *reader) find(path ...string) (found jsontext.Value) {
	if len(path) == 0 {
		return nil
	}
	_ = r.members(func(name []byte) error { // what cannot be read is not found
		if text, _ := r.text(name); string(text) != path[0] {
			return r.skip()
		}
		if len(path) > 1 {
			found = r.find(path[1:]...)
		} else {
			found, _ = r.value()
		}
		return errFound
	})
	return found
}

// bad is the error of the value read last.
func (r *reader) bad(value []byte, reason string) error {
	return &RowError{Field: dotted(r.dec.StackPointer()), Reason: reason, Value: excerpt(value)}
}

// missing is the error of a field that the object read last does not have.
func (r *reader) missing(name string) error {
	return &RowError{Field: dotted(r.dec.StackPointer().AppendToken(name)), Reason: "missing"}
}

// syntax turns an error of the JSON parser into one of the row.
func (r *reader) syntax(err error) error {
	syn, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
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
	case syn.ByteOffset < int64(len(r.raw)):
		e.Value = excerpt(r.raw[syn.ByteOffset:])
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
