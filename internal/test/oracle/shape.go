package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// kind is what a value of the API is (docs/openapi.yaml, Values).
type kind string

const (
	text     kind = "text"
	boolean  kind = "boolean"
	integer  kind = "integer"
	money    kind = "money"    // decimal string, two decimals in its column
	quantity kind = "quantity" // decimal string, ten decimals in its column
	number   kind = "number"   // JSON number, ten decimals in its column
	instant  kind = "instant"
	day      kind = "day"
	beside   kind = "beside" // no field of the row: what its answer said beside it
)

// step leads from a value to a field of it.
type step struct {
	name string
	form form     // of the field
	keys []string // open: those that the API's description names
}

type form uint8

const (
	plain form = iota // an object or, at the end of a path, a scalar
	array
	open // an object with open keys
)

// column is where a field lies.
type column struct {
	name  string
	kind  kind
	steps []step
	// entry is what every value of the open object on the way must hold: the columns
	// that it is spread over.
	entry []column
}

// Shape is how the rows of one stream lie in columns.
type Shape struct {
	columns []column
	beside  []string // columns of which the row says nothing, and that are not compared
}

// Of returns the shape of a stream's rows, false when the API's description describes none.
func Of(stream string) (*Shape, bool) {
	lines, ok := shapes[stream]
	if !ok {
		return nil, false
	}
	s := &Shape{}
	for line := range strings.Lines(lines) {
		if fields := strings.Fields(line); len(fields) > 0 {
			s.add(fields)
		}
	}
	s.spread()
	return s, true
}

// add takes a line of a shape: path and kind. A field named id is every table's second column,
// and none of its own.
func (s *Shape) add(line []string) {
	c := column{kind: kind(line[1])}
	if c.kind == beside {
		s.beside = append(s.beside, line[0])
		return
	}
	for name := range strings.SplitSeq(line[0], ".") {
		st := step{name: name}
		if keyed, keys, ok := strings.Cut(strings.TrimSuffix(name, "}"), "{"); ok {
			st = step{name: keyed, form: open, keys: strings.Split(keys, ",")}
		} else if list, ok := strings.CutSuffix(name, "[]"); ok {
			st = step{name: list, form: array}
		}
		c.steps = append(c.steps, st)
	}
	if c.name = columnName(c.steps); c.name != "id" {
		s.columns = append(s.columns, c)
	}
}

// spread tells each column of an open object which others its entries are spread over.
func (s *Shape) spread() {
	of := map[string][]column{} // by the path of the object
	for _, c := range s.columns {
		if i := c.open(); i >= 0 {
			at := pathOf(c.steps[:i+1])
			of[at] = append(of[at], column{kind: c.kind, steps: c.steps[i+1:]})
		}
	}
	for k := range s.columns {
		if i := s.columns[k].open(); i >= 0 {
			s.columns[k].entry = of[pathOf(s.columns[k].steps[:i+1])]
		}
	}
}

// open is the index of the step to an open object, or -1.
func (c *column) open() int {
	return slices.IndexFunc(c.steps, func(st step) bool { return st.form == open })
}

func pathOf(steps []step) string {
	var names []string
	for _, st := range steps {
		names = append(names, st.name)
	}
	return strings.Join(names, ".")
}

// columnName is the naming rule of docs/rules.md, Warehouse: names are joined by "_", those of an
// array's objects by ".", but an array inside an array by "_" again.
func columnName(steps []step) string {
	var b strings.Builder
	depth := 0
	for i, st := range steps {
		b.WriteString(st.name)
		if i == len(steps)-1 {
			break
		}
		separator := "_"
		if st.form == array {
			if depth == 0 {
				separator = "."
			}
			depth++
		}
		b.WriteString(separator)
	}
	return b.String()
}

// Columns are the names of the columns.
func (s *Shape) Columns() []string {
	names := slices.Clone(s.beside)
	for i := range s.columns {
		names = append(names, s.columns[i].name)
	}
	return names
}

// lists is true when there is an array or a map on the way: a null is an empty
// one there.
func lists(steps []step) bool {
	return slices.ContainsFunc(steps, func(st step) bool { return st.form != plain })
}

// expected is the value that the column must hold, given the row. The error names
// the value that no column of its kind can hold.
func (c *column) expected(row any) (any, error) {
	v, err := c.descend(row, c.steps)
	if err != nil {
		return nil, err
	}
	if v == nil && lists(c.steps) {
		return []any{}, nil
	}
	return v, nil
}

func (c *column) descend(v any, steps []step) (any, error) {
	if len(steps) == 0 {
		return scalar(c.kind, v)
	}
	object, ok := v.(map[string]any)
	switch {
	case v == nil:
		return nil, nil
	case !ok:
		return nil, unfit("an object", v)
	}
	value, st := object[steps[0].name], steps[0]
	switch {
	case value == nil:
		return nil, nil
	case st.form == array:
		return c.elements(value, steps[1:])
	case st.form == open:
		return c.entries(value, st.keys, steps[1:])
	default:
		return c.descend(value, steps[1:])
	}
}

func (c *column) elements(v any, steps []step) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, unfit("an array", v)
	}
	values := make([]any, len(list))
	for i, e := range list {
		var err error
		if values[i], err = c.descend(e, steps); err != nil {
			return nil, err
		}
		if values[i] == nil && lists(steps) {
			values[i] = []any{}
		}
	}
	return values, nil
}

// entries are the values under the keys of an open object. One under a key that
// the API's description does not name is there when it is a whole entry, else in the row alone.
func (c *column) entries(v any, known []string, steps []step) (any, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, unfit("an object", v)
	}
	values := make(map[string]any, len(object))
	for key, e := range object {
		if !slices.Contains(known, key) && !c.isEntry(e) {
			continue
		}
		var err error
		if values[key], err = c.descend(e, steps); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// isEntry is true when a value fits all columns of its open object.
func (c *column) isEntry(v any) bool {
	return !slices.ContainsFunc(c.entry, func(e column) bool {
		value, err := e.descend(v, e.steps)
		return err != nil || value == nil
	})
}

func unfit(want string, v any) error { return fmt.Errorf("want %s: %s", want, literal(v)) }
