package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/api/types"
)

// envelope is what surrounds the rows of an answer (api.md, "Page" and
// "Product sales row"). Unknown fields are ignored, known ones must be what
// api.md says, and must not come twice. What one envelope has is unknown in another.
type envelope struct {
	known []string

	rows     []Raw
	next     string
	more     bool
	from, to types.Date
	currency string
	groupBy  string
	totals   Raw

	seen map[string]bool
	most int // rows
}

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

// The fields of the envelopes.
var (
	pageFields     = []string{"data", "has_more", "next_cursor"}
	rangeFields    = append(slices.Clone(pageFields), "from", "to")
	snapshotFields = []string{"data"}
	productsFields = []string{"currency", "from", "to", "data", "group_by"}
	dailyFields    = []string{"currency", "from", "to", "data", "totals"}
)

func parsePage(body []byte, page *Page, fields []string) error {
	e := envelope{most: maxRows, known: fields}
	if err := e.parse(body, "data", "has_more"); err != nil {
		return err
	}
	if len(e.next) > maxCursor {
		return shapeWrong(0, fmt.Sprintf(`"next_cursor" has %d bytes, and more than %d do not fit into an address`, len(e.next), maxCursor))
	}
	*page = Page{Rows: e.rows, NextCursor: e.next, HasMore: e.more, From: e.from, To: e.to}
	return nil
}

func parseSnapshot(body []byte, s *Snapshot) error {
	e := envelope{most: maxRows, known: snapshotFields}
	if err := e.parse(body, "data"); err != nil {
		return err
	}
	*s = Snapshot{Rows: e.rows}
	return nil
}

func (e *envelope) parseReport(body []byte, totals bool) error {
	e.most = maxReportRows
	if totals {
		e.known = dailyFields
		return e.parse(body, "data", "from", "to", "totals")
	}
	e.known = productsFields
	return e.parse(body, "data", "from", "to")
}

// parseObject checks that the body is one JSON object.
func parseObject(body []byte) error {
	return eachField(body, func(s *scanner, _ string, at int) int { return s.value(at, maxDepth) })
}

// parseObjectWith checks that the body is one JSON object that has any of the fields. An
// object without them is no answer, whatever else it holds.
func parseObjectWith(fields ...string) func(body []byte) error {
	return func(body []byte) error {
		known := false
		err := eachField(body, func(s *scanner, name string, at int) int {
			known = known || slices.Contains(fields, name)
			return s.value(at, maxDepth)
		})
		if err == nil && !known {
			return shapeWrong(0, `it has neither "`+strings.Join(fields, `" nor "`)+`"`)
		}
		return err
	}
}

func (e *envelope) parse(body []byte, required ...string) error {
	*e = envelope{known: e.known, most: e.most, seen: make(map[string]bool, 8)}
	if err := eachField(body, e.field); err != nil {
		return err
	}
	for _, name := range required {
		if !e.seen[name] {
			return shapeWrong(0, `no "`+name+`"`)
		}
	}
	return nil
}

// eachField passes the one object that the body must be, handing each field's
// name and position to field, which returns the position behind the value.
func eachField(body []byte, field func(s *scanner, name string, at int) int) error {
	s := &scanner{b: body}
	i := s.space(0)
	switch {
	case i >= len(body):
		return &shapeError{kind: BodyEmpty, reason: "it is empty"}
	case body[i] == '<':
		return &shapeError{kind: BodyHTML, offset: i, reason: "it is HTML, not JSON"}
	}
	if i = s.fields(i, field); i < 0 {
		return s.err
	}
	if i = s.space(i); i < len(body) {
		return &shapeError{kind: BodySyntax, offset: i, reason: "something follows the JSON"}
	}
	return nil
}

// fields passes the object at i as [eachField] says.
func (s *scanner) fields(i int, field func(s *scanner, name string, at int) int) int {
	if s.at(i) != '{' {
		if end := s.value(i, maxDepth); end < 0 {
			return -1
		}
		s.err = shapeWrong(i, "it is not an object")
		return -1
	}
	i = s.space(i + 1)
	if s.at(i) == '}' {
		return i + 1
	}
	for {
		start := i
		if i = s.key(i); i < 0 {
			return -1
		}
		if i = field(s, fieldName(s.b[start:i]), i); i < 0 {
			return -1
		}
		i = s.space(i)
		switch s.at(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			return i + 1
		default:
			return s.fail(i, "a comma or } is missing")
		}
	}
}

// fieldName reads a key that the scanner has passed, colon and space included.
func fieldName(passed []byte) string {
	quoted := passed[:bytes.LastIndexByte(passed, '"')+1]
	return unquote(quoted)
}

// unquote reads a string that the scanner has passed.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return string(quoted) // cannot be: the scanner has checked it
	}
	return text
}

// field reads one field of the envelope.
func (e *envelope) field(s *scanner, name string, at int) int {
	read := e.reader(name)
	if read == nil {
		return s.value(at, maxDepth)
	}
	if e.seen[name] {
		s.err = shapeWrong(at, `"`+name+`" comes twice`)
		return -1
	}
	e.seen[name] = true
	return read(s, at)
}

func (e *envelope) reader(name string) func(s *scanner, at int) int {
	if !slices.Contains(e.known, name) {
		return nil
	}
	switch name {
	case "data":
		return e.readRows
	case "has_more":
		return e.readMore
	case "next_cursor", "next_updated_since":
		return func(s *scanner, at int) int { return s.textField(at, name, &e.next) }
	case "from":
		return func(s *scanner, at int) int { return s.textField(at, name, (*string)(&e.from)) }
	case "to":
		return func(s *scanner, at int) int { return s.textField(at, name, (*string)(&e.to)) }
	case "currency":
		return func(s *scanner, at int) int { return s.textField(at, name, &e.currency) }
	case "group_by":
		return func(s *scanner, at int) int { return s.textField(at, name, &e.groupBy) }
	case "totals":
		return e.readTotals
	}
	return nil
}

func (e *envelope) readRows(s *scanner, at int) int {
	if s.at(at) != '[' {
		return s.wrong(at, `"data" is not an array`)
	}
	e.rows = make([]Raw, 0, PageLimit)
	return s.elements(at, func(i int) int {
		if len(e.rows) == e.most {
			s.err = shapeWrong(i, fmt.Sprintf("it has more than %d rows", e.most))
			return -1
		}
		end := s.value(i, maxDepth)
		if end >= 0 {
			e.rows = append(e.rows, s.b[i:end:end])
		}
		return end
	})
}

func (e *envelope) readMore(s *scanner, at int) int {
	c := s.at(at)
	if c != 't' && c != 'f' {
		return s.wrong(at, `"has_more" is neither true nor false`)
	}
	e.more = c == 't'
	return s.value(at, maxDepth)
}

func (e *envelope) readTotals(s *scanner, at int) int {
	if s.at(at) != '{' {
		return s.wrong(at, `"totals" is not an object`)
	}
	end := s.value(at, maxDepth)
	if end >= 0 {
		e.totals = s.b[at:end:end]
	}
	return end
}

// textField reads a string, or null as the empty one.
func (s *scanner) textField(at int, name string, to *string) int {
	c := s.at(at)
	if c != '"' && c != 'n' {
		return s.wrong(at, `"`+name+`" is neither a string nor null`)
	}
	end := s.value(at, maxDepth)
	if end >= 0 && c == '"' {
		*to = unquote(s.b[at:end])
	}
	return end
}

// wrong notes a value of the wrong kind; broken JSON there counts as that.
func (s *scanner) wrong(at int, reason string) int {
	if s.value(at, maxDepth) >= 0 {
		s.err = shapeWrong(at, reason)
	}
	return -1
}
