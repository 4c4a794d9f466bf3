package mapping

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Canonical is the same text for JSON of the same meaning, but for how numbers are written; what
// is no JSON stays as it is.
func Canonical(raw []byte) string {
	v, err := parse(raw)
	if err != nil {
		return string(raw)
	}
	return Literal(v)
}

// parse reads one JSON value, its numbers as they are written. Of names that come twice the
// last counts.
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

// Literal is the JSON of a value, the names of objects in order.
func Literal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // cannot be: it is a text, or was parsed
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonDifferences are the paths at which two JSON values differ in meaning: order of names and
// white space do not count, numbers count by value.
func jsonDifferences(api, mirror []byte) []Difference {
	if bytes.Equal(api, mirror) {
		return nil
	}
	a, errA := parse(api)
	m, errM := parse(mirror)
	if errA == nil && errM == nil {
		return appendDifferences(nil, "", a, m)
	}
	d := Difference{API: string(api), Mirror: string(mirror)}
	if errA != nil {
		d.API = Literal(d.API)
	}
	if errM != nil {
		d.Mirror = Literal(d.Mirror)
	}
	return []Difference{d}
}

// absent takes the place of a member that an object or array does not have.
type absent struct{}

// appendDifferences walks two values side by side, and fills up what one of them does not have.
func appendDifferences(found []Difference, path string, a, m any) []Difference {
	switch a := a.(type) {
	case map[string]any:
		if m, ok := m.(map[string]any); ok {
			for name := range m {
				if _, there := a[name]; !there {
					a[name] = absent{}
				}
			}
			for _, name := range slices.Sorted(maps.Keys(a)) {
				if _, there := m[name]; !there {
					m[name] = absent{}
				}
				found = appendDifferences(found, join(path, name), a[name], m[name])
			}
			return found
		}
	case []any:
		if m, ok := m.([]any); ok {
			for len(a) < len(m) {
				a = append(a, absent{})
			}
			for len(m) < len(a) {
				m = append(m, absent{})
			}
			for i := range a {
				found = appendDifferences(found, join(path, strconv.Itoa(i)), a[i], m[i])
			}
			return found
		}
	case json.Number:
		if m, ok := m.(json.Number); ok && sameNumber(string(a), string(m)) {
			return found
		}
	default:
		if a == m { // nil, bool or string
			return found
		}
	}
	d := Difference{Field: path}
	if a != (absent{}) {
		d.API = Literal(a)
	}
	if m != (absent{}) {
		d.Mirror = Literal(m)
	}
	return append(found, d)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sameNumber compares by value, to some 600 digits; what is longer or larger than any column
// holds is compared as written.
func sameNumber(a, b string) bool {
	if a == b || max(len(a), len(b)) > 200 {
		return a == b
	}
	x, _, errX := big.ParseFloat(a, 10, 2048, big.ToNearestEven)
	y, _, errY := big.ParseFloat(b, 10, 2048, big.ToNearestEven)
	return errX == nil && errY == nil && x.Cmp(y) == 0 && !x.IsInf()
}
