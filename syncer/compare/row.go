package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Difference is one field that is not the same on both sides.
type Difference struct {
	// Field is the path in the API's JSON (items.0.total), or the name of a column
	// (items.total) when Column is set; empty for the row as a whole.
	Field  string
	Column bool
	// API and Mirror are the values as JSON, empty where there is none.
	API, Mirror string
}

// Row is what is read of a row of the API to find it.
type Row struct {
	ID      string // empty: it has none, or it cannot be read
	Deleted bool   // it is a tombstone
	Reason  string // of a tombstone; "deleted" when it gives none
	// DeletedAt and UpdatedAt are instants as columns show them, or empty.
	DeletedAt, UpdatedAt string
}

// Read reads the id of a row, and what a tombstone says (api.md, "Tombstone").
func (s *Shape) Read(raw []byte) Row {
	var r Row
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return r
	}
	reason := ""
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return Row{}
		}
		switch name := t.String(); {
		case name == "deleted":
			r.Deleted, err = field[bool](d)
		case name == "reason":
			reason, err = field[string](d)
		case name == "deleted_at":
			r.DeletedAt, err = instantField(d)
		case name == "updated_at":
			r.UpdatedAt, err = instantField(d)
		case len(s.id) > 0 && name == s.id[0]:
			r.ID, err = idField(d, s.id[1:])
		default:
			err = d.SkipValue()
		}
		if err != nil {
			return Row{}
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return Row{}
	}
	if r.Deleted {
		r.Reason = cmp.Or(reason, "deleted")
	}
	return r
}

// field reads the value of a field, zero when it is of another kind.
func field[T any](d *jsontext.Decoder) (T, error) {
	v, err := value(d)
	t, _ := v.(T)
	return t, err
}

func instantField(d *jsontext.Decoder) (string, error) {
	text, err := field[string](d)
	if at, unfit := instantText(text); unfit == nil {
		return at, err
	}
	return "", err
}

// idField reads the id at a path below the field.
func idField(d *jsontext.Decoder, path []string) (string, error) {
	v, err := value(d)
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	id, _ := v.(string)
	return id, err
}

// Live compares a live row of the API with what is stored of it: the row as
// received (mirror), and its typed columns as JSON. A column that holds what the
// stored row says is right, and a row that is stored as an older one differs in
// the fields that changed, not in their columns again. The context are the columns
// that are not in the row, with their values as JSON.
func (s *Shape) Live(api, mirror []byte, columns map[string]json.RawMessage, context map[string]string) []Difference {
	found := rawDifferences(api, mirror)
	rows := [][]byte{api}
	if len(found) > 0 {
		rows = append(rows, mirror)
	}
	return append(found, s.columnDifferences(rows, columns, context)...)
}

// columnDifferences are the columns that hold what none of the rows says. The
// first row is the one to agree with.
func (s *Shape) columnDifferences(rows [][]byte, columns map[string]json.RawMessage, context map[string]string) []Difference {
	var read []any
	for _, raw := range rows {
		if v, err := parse(raw); err == nil {
			read = append(read, v)
		}
	}
	var found []Difference
	for i := range s.columns {
		if d := s.columns[i].differs(read, columns); d != nil {
			found = append(found, *d)
		}
	}
	for name, want := range context {
		if got, ok := columns[name]; !ok || !Equal([]byte(want), got) {
			found = append(found, Difference{Field: name, Column: true, API: want, Mirror: string(got)})
		}
	}
	return append(found, s.strangers(columns, context)...)
}

// strangers are columns that are no field of api.md.
func (s *Shape) strangers(columns map[string]json.RawMessage, context map[string]string) []Difference {
	if len(columns) == len(s.columns)+len(s.beside)+len(context) {
		return nil // all that are wanted were found, or are reported as missing
	}
	var found []Difference
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		_, given := context[name]
		given = given || slices.Contains(s.beside, name)
		if !given && !slices.ContainsFunc(s.columns, func(c column) bool { return c.name == name }) {
			found = append(found, Difference{Field: name, Column: true, Mirror: string(columns[name])})
		}
	}
	return found
}

func (c *column) differs(rows []any, columns map[string]json.RawMessage) *Difference {
	got, ok := columns[c.name]
	api := ""
	for i, row := range rows {
		want, err := c.expected(row)
		if err == nil && ok && c.holds(want, got) {
			return nil
		}
		switch {
		case i > 0:
		case err != nil:
			api = literal(fmt.Sprintf("cannot be stored: %v", err))
		default:
			api = literal(want)
		}
	}
	return &Difference{Field: c.name, Column: true, API: api, Mirror: string(got)}
}

// holds is true when a column's JSON is the wanted value. It is nearly always
// written just so.
func (c *column) holds(want any, got []byte) bool {
	var room [512]byte
	if bytes.Equal(appendJSON(room[:0], want), got) {
		return true
	}
	v, err := parse(got)
	return err == nil && c.same(want, v)
}

// same compares a wanted value with what a column holds: flags may be written as
// numbers, and an empty list or map is one however it is written.
func (c *column) same(want, got any) bool {
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		if len(w) == 0 {
			return ok && len(g) == 0 || isEmptyObject(got)
		}
		return ok && slices.EqualFunc(w, g, c.same)
	case map[string]any:
		g, ok := got.(map[string]any)
		return ok && maps.EqualFunc(w, g, c.same)
	case bool:
		if n, ok := got.(json.Number); ok {
			return w && n == "1" || !w && n == "0"
		}
	case json.Number:
		n, ok := got.(json.Number)
		return ok && sameNumber(string(w), string(n))
	case string:
		if g, ok := got.(string); ok && c.kind != text {
			return sameText(c.kind, w, g)
		}
	}
	return want == got
}

func isEmptyObject(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 0
}

// sameText compares decimals and instants by value.
func sameText(k kind, want, got string) bool {
	v, err := scalar(valueKind(k), got)
	return err == nil && v == want
}

// valueKind is the kind under which a column's own text is read: a number's column
// shows its decimals as text.
func valueKind(k kind) kind {
	if k == number {
		return quantity
	}
	return k
}
