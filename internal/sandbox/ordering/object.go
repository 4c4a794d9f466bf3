package ordering

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// object is a JSON object of a request. Its methods read fields, and note by path what is
// wrong with them; a field that is wrong reads as if it were empty. Unknown fields are
// ignored.
type object struct {
	fields map[string]any
	path   string
	bad    refusal.Invalid
}

// readObject reads a body that must be a JSON object (docs/openapi.yaml, Error: bad_request).
func readObject(body []byte) (object, *refusal.Refusal) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil || fields == nil {
		return object{}, refusal.Of(refusal.BadRequest)
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token returns it bare
		return object{}, refusal.Of(refusal.BadRequest)
	}
	return object{fields: fields, bad: refusal.Invalid{}}, nil
}

func (o object) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

func (o object) wrong(key, format string, args ...any) {
	o.bad.Add(o.at(key), "The field "+key+" "+format+".", args...)
}

// value is a field that is there and not null; needed ones are missed otherwise.
func (o object) value(key string, needed bool) (any, bool) {
	v := o.fields[key]
	if v == nil && needed {
		o.wrong(key, "is required")
	}
	return v, v != nil
}

// text is a string of least to most characters, nil when it is not there.
func (o object) text(key string, least, most int, needed bool) *string {
	v, given := o.value(key, needed)
	if !given {
		return nil
	}
	s, ok := v.(string)
	switch n := utf8.RuneCountInString(s); {
	case !ok:
		o.wrong(key, "must be a string")
		return nil
	case n < least && n == 0:
		o.wrong(key, "must not be empty")
		return nil
	case n < least:
		o.wrong(key, "must have at least %d characters", least)
		return nil
	case n > most:
		o.wrong(key, "must have at most %d characters", most)
		return nil
	}
	return &s
}

// need is a string that must be there.
func (o object) need(key string, least, most int) string {
	if s := o.text(key, least, most, true); s != nil {
		return *s
	}
	return ""
}

// anyLength is for text that the API's description sets no limit to; the body's holds.
const anyLength = 1 << 20

func (o object) choice(key string, allowed ...string) string {
	s := o.text(key, 0, anyLength, true)
	if s == nil {
		return ""
	}
	if !slices.Contains(allowed, *s) {
		o.wrong(key, "must be one of: %s", strings.Join(allowed, ", "))
	}
	return *s
}

func (o object) flag(key string) *bool {
	v, given := o.value(key, false)
	if !given {
		return nil
	}
	yes, ok := v.(bool)
	if !ok {
		o.wrong(key, "must be true or false")
	}
	return &yes
}

func (o object) number(key string) *json.Number {
	v, given := o.value(key, false)
	if !given {
		return nil
	}
	n, ok := v.(json.Number)
	if !ok {
		o.wrong(key, "must be a number")
	}
	return &n
}

// whole is an integer from least to most, written without a fraction; fallback when it is
// not there, and a fallback below least asks for it.
func (o object) whole(key string, least, most, fallback int) int {
	v, given := o.value(key, fallback < least)
	if !given {
		return fallback
	}
	n, ok := v.(json.Number)
	i, err := strconv.Atoi(string(n))
	if !ok || err != nil || i < least || i > most {
		o.wrong(key, "must be an integer between %d and %d", least, most)
		return least
	}
	return i
}

// amount is a decimal string of zero or more with up to two decimals.
func (o object) amount(key string) *units.Bani {
	s := o.text(key, 0, anyLength, false)
	if s == nil {
		return nil
	}
	m, ok := units.ParseMoney(*s)
	if !ok {
		o.wrong(key, "must be a decimal string of 0 or more with up to two decimals")
	}
	return &m
}

// instant is in microseconds, nil when it is not there.
func (o object) instant(key string) *int64 {
	s := o.text(key, 0, anyLength, false)
	if s == nil {
		return nil
	}
	us, err := units.ParseInstant(*s)
	if err != nil {
		o.wrong(key, "is %v", err)
		return nil
	}
	return &us
}

// child is an object within; ok is false when it is not there or is none.
func (o object) child(key string, needed bool) (object, bool) {
	v, given := o.value(key, needed)
	if !given {
		return object{}, false
	}
	fields, ok := v.(map[string]any)
	if !ok {
		o.wrong(key, "must be an object")
	}
	return object{fields: fields, path: o.at(key), bad: o.bad}, ok
}

// children is a list of least to most objects, nil when it is not there. With most 0 there
// is no end to it but the body's.
func (o object) children(key string, least, most int) []object {
	v, given := o.value(key, least > 0)
	if !given {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		o.wrong(key, "must be a list")
		return nil
	}
	if len(list) < least || most > 0 && len(list) > most {
		o.wrong(key, "must have %d to %d entries", least, most)
		return nil
	}
	out := make([]object, 0, len(list))
	for i, v := range list {
		path := fmt.Sprintf("%s.%d", o.at(key), i)
		fields, ok := v.(map[string]any)
		if !ok {
			o.bad.Add(path, "Each of the %s must be an object.", key)
			continue
		}
		out = append(out, object{fields: fields, path: path, bad: o.bad})
	}
	return out
}
