package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What an envelope may hold at most. A page has 200 rows by the API's description; what is more is
// taken as long as it is no flood, since each row of a few bytes costs a hundred
// here. A cursor goes back in an address, which servers and proxies cut.
const (
	maxRows       = 20_000
	maxReportRows = 1_000_000
	maxCursor     = 4 << 10
)

func shapeWrong(offset int, reason string) *BodyError {
	return &BodyError{Kind: BodyShape, Offset: offset, Reason: reason}
}

// rows reads the array of an envelope: each row is a piece of the body, as received.
type rows struct {
	body []byte
	most int
	list []Raw // nil: there is no array
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (r *rows) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if r.list != nil {
		return twice(d)
	}
	begin, err := d.ReadToken()
	switch {
	case err != nil:
		return err
	case begin.Kind() != '[':
		return shapeWrong(int(d.InputOffset()), `"data" is not an array`)
	}
	for r.list = []Raw{}; d.PeekKind() != ']'; { // most pages have hardly a row
		row, err := piece(d, r.body)
		if err != nil {
			return err
		}
		if len(r.list) == r.most {
			return shapeWrong(int(d.InputOffset()), fmt.Sprintf("it has more than %d rows", r.most))
		}
		r.list = append(r.list, row)
	}
	_, err = d.ReadToken()
	return err
}

// piece reads a value, which is a piece of the body: the library would copy it.
func piece(d *jsontext.Decoder, body []byte) (Raw, error) {
	value, err := d.ReadValue()
	end := int(d.InputOffset())
	return body[end-len(value) : end : end], err
}

// single reads a field that must not come twice.
type single[T any] struct {
	value T
	came  bool
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (s *single[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if s.came {
		return twice(d)
	}
	s.came = true
	return json.UnmarshalDecode(d, &s.value)
}

// twice is the error of a field whose name was just read once more.
func twice(d *jsontext.Decoder) error {
	return shapeWrong(int(d.InputOffset()), fmt.Sprintf("%q comes twice", d.StackPointer().LastToken()))
}

// there reports whether an object has a field, whatever it holds.
type there bool

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (t *there) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*t = true
	return d.SkipValue()
}

func parsePage(body []byte) (p Page, err error) {
	v := struct {
		Data       rows           `json:"data"`
		HasMore    single[*bool]  `json:"has_more"`
		NextCursor single[string] `json:"next_cursor"`
	}{Data: rows{body: body, most: maxRows}}
	err = parseObject(body, &v)
	switch n := len(v.NextCursor.value); {
	case err != nil:
		return p, err
	case v.Data.list == nil:
		return p, errNoData
	case v.HasMore.value == nil:
		return p, shapeWrong(0, `no "has_more"`)
	case n > maxCursor:
		return p, shapeWrong(0, fmt.Sprintf(`"next_cursor" has %d bytes, and more than %d do not fit into an address`, n, maxCursor))
	}
	return Page{Rows: v.Data.list, NextCursor: v.NextCursor.value, HasMore: *v.HasMore.value}, nil
}

var errNoData = shapeWrong(0, `no "data"`)

const blanks = " \n\r\t"

// parseObject reads the one object that a body must be. Unknown fields are ignored. Texts may be
// no UTF-8, and names of rows may come twice: that is a row's matter, not a page's (docs/rules.md R8).
func parseObject(body []byte, v any) error {
	begin := bytes.TrimLeft(body, blanks)
	switch {
	case len(begin) == 0:
		return &BodyError{Kind: BodyEmpty, Reason: "it is empty"}
	case begin[0] == '<':
		return &BodyError{Kind: BodyHTML, Offset: len(body) - len(begin), Reason: "it is HTML, not JSON"}
	}
	err := json.Unmarshal(body, v, lenient)
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	shape, isShape := errors.AsType[*BodyError](err)
	semantic, isSemantic := errors.AsType[*json.SemanticError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &BodyError{Kind: BodyTruncated, Offset: len(body), Reason: "it ends in the middle"}
	case isSyntax:
		// It repeats no more of the body than the few characters that are wrong.
		return &BodyError{Kind: BodySyntax, Offset: int(syntax.ByteOffset), Reason: syntax.Err.Error()}
	case isShape:
		return shape
	case begin[0] != '{':
		return shapeWrong(0, "it is not an object")
	case isSemantic:
		return shapeWrong(int(semantic.ByteOffset), brief(fmt.Sprintf("the value at %q does not fit %s", semantic.JSONPointer, semantic.GoType)))
	}
	return err
}

// parseRow checks that a body is a row: one JSON object that has what one is known by.
func parseRow(body []byte) (Raw, error) {
	var row struct {
		ID         there `json:"id"`
		LocationID there `json:"location_id"`
	}
	if err := parseObject(body, &row); err != nil {
		return nil, err
	}
	if !row.ID && !row.LocationID {
		return nil, shapeWrong(0, `it has neither "id" nor "location_id"`)
	}
	return body, nil
}
