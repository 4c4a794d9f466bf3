package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// envelope is what surrounds the rows of an answer (api.md, "Page" and "Product sales row"): by
// the name of each field, what reads it. Unknown fields are ignored, known ones must be what
// api.md says, and must not come twice. What one envelope has is unknown in another.
type envelope map[string]func(d *decoder, name string) error

// What an envelope may hold at most. A page has 200 rows by api.md; what is more is
// taken as long as it is no flood, since each row of a few bytes costs a hundred
// here. A cursor goes back in an address, which servers and proxies cut.
const (
	maxRows       = 20_000
	maxReportRows = 1_000_000
	maxCursor     = 4 << 10
)

// shapeError says what is wrong with a body; offset is where.
type shapeError struct {
	kind   BodyKind
	offset int
	reason string
}

func (e *shapeError) Error() string { return e.reason }

func shapeWrong(offset int, reason string) *shapeError {
	return &shapeError{kind: BodyShape, offset: offset, reason: reason}
}

func parsePage(body []byte, p *Page, ranged bool) error {
	*p = Page{}
	e := envelope{"data": asRows(&p.Rows, maxRows), "has_more": asFlag(&p.HasMore), "next_cursor": asText(&p.NextCursor)}
	if ranged {
		e["from"], e["to"] = asText(&p.From), asText(&p.To)
	}
	if err := e.read(body, "data", "has_more"); err != nil {
		return err
	}
	if n := len(p.NextCursor); n > maxCursor {
		return shapeWrong(0, fmt.Sprintf(`"next_cursor" has %d bytes, and more than %d do not fit into an address`, n, maxCursor))
	}
	return nil
}

func parseSnapshot(body []byte, s *Snapshot) error {
	return envelope{"data": asRows(&s.Rows, maxRows)}.read(body, "data")
}

func parseReport(body []byte, s *SalesReport, daily bool) error {
	*s = SalesReport{}
	e := envelope{"currency": asText(&s.Currency), "from": asText(&s.From), "to": asText(&s.To), "data": asRows(&s.Rows, maxReportRows)}
	required := []string{"data", "from", "to"}
	if daily {
		e["totals"], required = asObject(&s.Totals), append(required, "totals")
	} else {
		e["group_by"] = asText(&s.GroupBy)
	}
	return e.read(body, required...)
}

// parseObject checks that the body is one JSON object.
func parseObject(body []byte) error { return parseObjectWith()(body) }

// parseObjectWith checks that the body is one JSON object that has any of the fields, if some
// are named. An object without them is no answer, whatever else it holds.
func parseObjectWith(fields ...string) func(body []byte) error {
	return func(body []byte) error {
		known := len(fields) == 0
		err := eachField(body, func(d *decoder, name string) error {
			known = known || slices.Contains(fields, name)
			_, err := d.value()
			return err
		})
		if err == nil && !known {
			return shapeWrong(0, `it has neither "`+strings.Join(fields, `" nor "`)+`"`)
		}
		return err
	}
}

func (e envelope) read(body []byte, required ...string) error {
	seen := make(map[string]bool, len(e))
	err := eachField(body, func(d *decoder, name string) error {
		read, known := e[name]
		switch {
		case !known:
			_, err := d.value()
			return err
		case seen[name]:
			return shapeWrong(d.at(), `"`+name+`" comes twice`)
		}
		seen[name] = true
		return read(d, name)
	})
	if err != nil {
		return err
	}
	for _, name := range required {
		if !seen[name] {
			return shapeWrong(0, `no "`+name+`"`)
		}
	}
	return nil
}

// asText reads a text, or null as the empty one.
func asText[T ~string](to *T) func(*decoder, string) error {
	return func(d *decoder, name string) error {
		value, err := d.of(name, "neither a string nor null", '"', 'n')
		if err != nil || value.Kind() == 'n' {
			return err
		}
		unquoted, _ := jsontext.AppendUnquote(nil, value) // what is no UTF-8 is replaced
		*to = T(unquoted)
		return nil
	}
}

func asFlag(to *bool) func(*decoder, string) error {
	return func(d *decoder, name string) error {
		value, err := d.of(name, "neither true nor false", 't', 'f')
		*to = value.Kind() == 't'
		return err
	}
}

func asObject(to *Raw) func(*decoder, string) error {
	return func(d *decoder, name string) error {
		value, err := d.of(name, "not an object", '{')
		*to = Raw(value)
		return err
	}
}

// asRows reads an array, of so many rows at most.
func asRows(to *[]Raw, most int) func(*decoder, string) error {
	return func(d *decoder, name string) error {
		if d.PeekKind() != '[' {
			_, err := d.of(name, "not an array", '[')
			return err
		}
		if _, err := d.ReadToken(); err != nil {
			return broken(err)
		}
		*to = make([]Raw, 0, PageLimit)
		for d.PeekKind() != ']' {
			row, err := d.value()
			if err != nil {
				return err
			}
			if len(*to) == most {
				return shapeWrong(d.at(), fmt.Sprintf("it has more than %d rows", most))
			}
			*to = append(*to, Raw(row))
		}
		_, err := d.ReadToken()
		return err
	}
}

// decoder reads a body value by value. Texts may be no UTF-8, and names of rows may come
// twice: that is a row's matter, not a page's (DESIGN R8).
type decoder struct {
	*jsontext.Decoder
	body []byte
}

const blanks = " \n\r\t"

// eachField reads the one object that the body must be, handing each field's name to field,
// which reads the value.
func eachField(body []byte, field func(d *decoder, name string) error) error {
	switch begin := bytes.TrimLeft(body, blanks); {
	case len(begin) == 0:
		return &shapeError{kind: BodyEmpty, reason: "it is empty"}
	case begin[0] == '<':
		return &shapeError{kind: BodyHTML, offset: len(body) - len(begin), reason: "it is HTML, not JSON"}
	}
	d := &decoder{jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), body}
	if d.PeekKind() != '{' {
		if _, err := d.value(); err != nil {
			return err
		}
		return shapeWrong(0, "it is not an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return broken(err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return broken(err)
		}
		if err := field(d, name.String()); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return broken(err)
	}
	if len(bytes.TrimLeft(body[d.at():], blanks)) > 0 {
		return &shapeError{kind: BodySyntax, offset: d.at(), reason: "something follows the JSON"}
	}
	return nil
}

// at is how far the body has been read.
func (d *decoder) at() int { return int(d.InputOffset()) }

// value reads a value: a piece of the body.
func (d *decoder) value() (jsontext.Value, error) {
	value, err := d.ReadValue()
	if err != nil {
		return nil, broken(err)
	}
	end := d.at()
	return d.body[end-len(value) : end : end], nil
}

// of reads a field's value, which must be of one of the kinds.
func (d *decoder) of(name, otherwise string, kinds ...jsontext.Kind) (jsontext.Value, error) {
	value, err := d.value()
	if err == nil && !slices.Contains(kinds, value.Kind()) {
		err = shapeWrong(d.at()-len(value), `"`+name+`" is `+otherwise)
	}
	return value, err
}

// broken is the error of a body that is no JSON. It repeats no more of the body than the few
// characters that are wrong.
func broken(err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		shape := &shapeError{kind: BodyTruncated, reason: "it ends in the middle"}
		if ok {
			shape.offset = int(syntax.ByteOffset)
		}
		return shape
	case ok:
		return &shapeError{kind: BodySyntax, offset: int(syntax.ByteOffset), reason: syntax.Err.Error()}
	}
	return &shapeError{kind: BodySyntax, reason: err.Error()}
}
