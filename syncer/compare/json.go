package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// lenient takes what a row may hold without being understood: what comes twice
// comes last, and what is no UTF-8 is replaced.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// parse reads one JSON value, its numbers as they are written.
func parse(raw []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	v, err := value(d)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: something follows the value")
	}
	return v, nil
}

func value(d *jsontext.Decoder) (any, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return object(d)
	case '[':
		return list(d)
	case '"':
		return t.String(), nil
	case 't', 'f':
		return t.Bool(), nil
	case '0':
		return json.Number(t.String()), nil
	default:
		return nil, nil
	}
}

func object(d *jsontext.Decoder) (any, error) {
	v := map[string]any{}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		if v[name], err = value(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return v, err
}

func list(d *jsontext.Decoder) (any, error) {
	v := []any{}
	for d.PeekKind() != ']' {
		e, err := value(d)
		if err != nil {
			return nil, err
		}
		v = append(v, e)
	}
	_, err := d.ReadToken()
	return v, err
}

// literal is the JSON of a value.
func literal(v any) string { return string(appendJSON(nil, v)) }

// appendJSON writes a value that parse, or a column's expectation, can be; the
// names of an object in order.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, v...)
	case string:
		return appendText(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			b = appendJSON(comma(b, i), e)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			b = append(appendText(comma(b, i), name), ':')
			b = appendJSON(b, v[name])
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func appendText(b []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil { // no UTF-8: AppendQuote has replaced it
		quoted, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(text, "\ufffd"))
	}
	return quoted
}

// Equal is true when two JSON values mean the same: order of keys and white space
// do not count, numbers count by value.
func Equal(a, b []byte) bool { return len(rawDifferences(a, b)) == 0 }

// rawDifferences are the paths at which two JSON values differ.
func rawDifferences(api, mirror []byte) []Difference {
	if bytes.Equal(api, mirror) {
		return nil
	}
	a, errA := parse(api)
	m, errM := parse(mirror)
	switch {
	case errA == nil && errM == nil:
		var d differ
		d.values("", a, m)
		return d.found
	case errA != nil && errM != nil: // both unreadable, and not the same bytes
		return []Difference{{API: quoted(api), Mirror: quoted(mirror)}}
	case errA != nil:
		return []Difference{{API: quoted(api), Mirror: string(mirror)}}
	default:
		return []Difference{{API: string(api), Mirror: quoted(mirror)}}
	}
}

func quoted(raw []byte) string { return literal(string(raw)) }

// differ walks two values side by side.
type differ struct{ found []Difference }

func (d *differ) values(path string, a, m any) {
	switch a := a.(type) {
	case map[string]any:
		if m, ok := m.(map[string]any); ok {
			d.objects(path, a, m)
			return
		}
	case []any:
		if m, ok := m.([]any); ok {
			d.arrays(path, a, m)
			return
		}
	case json.Number:
		if m, ok := m.(json.Number); ok && sameNumber(string(a), string(m)) {
			return
		}
	default:
		if a == m { // nil, bool or string
			return
		}
	}
	d.differs(path, literal(a), literal(m))
}

func (d *differ) differs(path, api, mirror string) {
	d.found = append(d.found, Difference{Field: path, API: api, Mirror: mirror})
}

func (d *differ) objects(path string, a, m map[string]any) {
	names := slices.Collect(maps.Keys(a))
	for name := range m {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		va, inAPI := a[name]
		vm, inMirror := m[name]
		switch below := join(path, name); {
		case !inAPI:
			d.differs(below, "", literal(vm))
		case !inMirror:
			d.differs(below, literal(va), "")
		default:
			d.values(below, va, vm)
		}
	}
}

func (d *differ) arrays(path string, a, m []any) {
	for i := range max(len(a), len(m)) {
		switch below := join(path, strconv.Itoa(i)); {
		case i >= len(a):
			d.differs(below, "", literal(m[i]))
		case i >= len(m):
			d.differs(below, literal(a[i]), "")
		default:
			d.values(below, a[i], m[i])
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sameNumber compares by value; what no column can hold is compared as written.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := rational(a)
	if !ok {
		return false
	}
	y, ok := rational(b)
	return ok && x.Cmp(y) == 0
}
