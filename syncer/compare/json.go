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
)

// parse reads one JSON value, its numbers as they are written.
func parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: something follows the value")
	}
	return v, nil
}

// literal is the JSON of a value.
func literal(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error() // cannot be: v came from JSON
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Equal tells whether two JSON values mean the same: order of keys and white space
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
