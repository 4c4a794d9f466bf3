package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Difference is a column that does not hold what the row says.
type Difference struct {
	Column       string
	Want, Stored string // as JSON, empty where there is none
}

// Wrong are the columns that do not hold what a live row says. The context are the columns that
// are not in the row, with their values as JSON.
func (s *Shape) Wrong(raw []byte, columns map[string]json.RawMessage, context map[string]string) []Difference {
	row, err := parse(raw)
	if err != nil {
		return []Difference{{Want: literal(err.Error()), Stored: literal(string(raw))}}
	}
	var found []Difference
	for i := range s.columns {
		if d := s.columns[i].differs(row, columns); d != nil {
			found = append(found, *d)
		}
	}
	for name, want := range context {
		if got := string(columns[name]); got != want {
			found = append(found, Difference{name, want, got})
		}
	}
	return append(found, s.unknown(columns, context)...)
}

// unknown are columns that are no field of the API's description.
func (s *Shape) unknown(columns map[string]json.RawMessage, context map[string]string) []Difference {
	if len(columns) == len(s.columns)+len(s.beside)+len(context) {
		return nil // all that are wanted were found, or are reported as missing
	}
	var found []Difference
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		_, given := context[name]
		given = given || slices.Contains(s.beside, name)
		if !given && !slices.ContainsFunc(s.columns, func(c column) bool { return c.name == name }) {
			found = append(found, Difference{Column: name, Stored: string(columns[name])})
		}
	}
	return found
}

func (c *column) differs(row any, columns map[string]json.RawMessage) *Difference {
	got, ok := columns[c.name]
	want, err := c.expected(row)
	switch {
	case err != nil:
		return &Difference{c.name, literal(fmt.Sprintf("cannot be stored: %v", err)), string(got)}
	case !ok || !c.holds(want, got):
		return &Difference{c.name, literal(want), string(got)}
	}
	return nil
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
