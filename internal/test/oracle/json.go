package oracle

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
