package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// decode stores what is written below a path into fields, over their defaults.
func (l *loader) decode(path string, fields []setting) {
	for _, field := range fields {
		key := path + field.key
		raw := l.written.Get(key)
		if v := reflect.ValueOf(raw); raw == nil || v.Kind() == reflect.Map && v.Len() > 0 {
			continue // a section below a value is refused already
		}
		if err := field.set(raw); err != nil {
			l.add(key, "%v", err)
		}
	}
}

// decodeSources takes the sources in the order of their indexes, which may leave some out.
func (l *loader) decodeSources() {
	var indexes []int
	for _, key := range l.written.MapKeys("sources") {
		if i, err := strconv.Atoi(key); err == nil {
			indexes = append(indexes, i)
		}
	}
	slices.Sort(indexes)
	for _, i := range indexes {
		s := defaultSource()
		s.path = "sources." + strconv.Itoa(i)
		s.PersonalDataWritten = l.written.Exists(s.path + ".personal_data")
		l.decode(s.path+".", s.settings())
		s.BaseURL = strings.TrimRight(s.BaseURL, "/")
		l.Sources = append(l.Sources, s)
	}
}

// set stores what is written (a value of YAML, or the text of a variable or flag) as the type of the
// field, or names what is allowed there.
func (s setting) set(raw any) (err error) {
	text, isText := raw.(string)
	switch field := s.value.Addr().Interface().(type) {
	case *[]string:
		*field, err = list(raw)
		return err
	case *int:
		return parse(field, raw, strconv.Atoi, "a whole number")
	case *bool:
		return parse(field, raw, strconv.ParseBool, "true or false")
	case *float64:
		return parse(field, raw, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, "a number")
	case *time.Duration:
		return parse(field, raw, time.ParseDuration, "a duration with its unit, as in 500ms, 1s or 2m")
	case *Bytes:
		return parse(field, raw, parseBytes, "a size with its unit, as in 512MiB or 2GiB")
	case *Secret:
		if !isText {
			return errors.New("not text; allowed: text (put it in quotes)") // it is not shown
		}
		*field = NewSecret(text)
		return nil
	case *DSN:
		if isText {
			*field, err = ParseDSN(text)
			return err
		}
	case *string:
		if isText {
			*field = text
			return nil
		}
	}
	return fmt.Errorf("got %s; allowed: text (put it in quotes)", describe(raw))
}

// parse reads the text of a value, or names what is allowed.
func parse[V any](field *V, raw any, read func(string) (V, error), allowed string) error {
	v, err := read(fmt.Sprint(raw))
	if err != nil {
		return fmt.Errorf("got %s; allowed: %s", describe(raw), allowed)
	}
	*field = v
	return nil
}

// list takes a list of text, or from environment and flags text with commas.
func list(raw any) ([]string, error) {
	out := []string{}
	switch v := raw.(type) {
	case string:
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	case []any:
		for i, item := range v {
			s, ok := item.(string)
			if !ok || s == "" {
				return nil, fmt.Errorf("item %d is %s; allowed: text (put it in quotes)", i+1, describe(item))
			}
			out = append(out, s)
		}
	default:
		return nil, fmt.Errorf("got %s; allowed: a list of text, as in [a, b]", describe(raw))
	}
	return out, nil
}

// describe names a value as a person wrote it.
func describe(raw any) string {
	switch v := raw.(type) {
	case string:
		return strconv.Quote(v)
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	return kindOf(raw)
}

// kindOf names what a value is without showing it: it may be a secret in the wrong place.
func kindOf(raw any) string {
	switch reflect.ValueOf(raw).Kind() {
	case reflect.Invalid:
		return "nothing"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a section"
	}
	return "a value"
}

// Bytes is a number of bytes that is written with its unit; 0 when it is empty.
type Bytes int64

func (b Bytes) String() string {
	if b == 0 {
		return ""
	}
	return Size(int64(b))
}

func parseBytes(text string) (Bytes, error) {
	if text == "" {
		return 0, nil
	}
	n, err := humanize.ParseBytes(text)
	if n > math.MaxInt64 || text[0] == '-' || n == 0 && strings.ContainsAny(text, "123456789") {
		err = strconv.ErrRange
	}
	return Bytes(n), err
}

// Size is a number of bytes as people read it: 512 MiB.
func Size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
