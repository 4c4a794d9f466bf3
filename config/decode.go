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
	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"
)

// decode stores what is written below a key into a section, over its defaults.
func (l *loader) decode(key string, section any) {
	strict := &mapstructure.DecoderConfig{DecodeHook: convert, IgnoreUntaggedFields: true}
	l.addAll(key, l.written.UnmarshalWithConf(key, section, koanf.UnmarshalConf{DecoderConfig: strict}))
}

// addAll notes the problems that are joined in an error of mapstructure.
func (l *loader) addAll(key string, err error) {
	switch e := err.(type) { //nolint:errorlint // this walks down the tree of errors itself
	case nil:
	case *mapstructure.DecodeError:
		l.add(strings.Trim(key+"."+e.Name(), "."), "%v", e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			l.addAll(key, one)
		}
	case interface{ Unwrap() error }:
		l.addAll(key, e.Unwrap())
	default:
		l.add(key, "%v", err)
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
		l.decode(s.path, &s)
		s.BaseURL = strings.TrimRight(s.BaseURL, "/")
		l.Sources = append(l.Sources, s)
	}
}

// convert turns what is written (a value of YAML, or the text of a variable or flag) into the type
// of a field, or names what is allowed there. mapstructure calls it before it stores a value.
func convert(from, to reflect.Value) (any, error) {
	var known []string
	if to.Kind() == reflect.Struct {
		known = keysUnder("", keysOf(settings("", to)))
	}
	raw := from.Interface()
	text, isText := raw.(string)
	switch section := from.Kind() == reflect.Map; {
	case section && known != nil:
		return raw, nil
	case known != nil:
		return nil, fmt.Errorf("got %s; allowed: a section with %s", kindOf(raw), strings.Join(known, ", "))
	case section && from.Len() > 0:
		return to.Interface(), nil // refused already: no key is known below a value
	}
	switch to.Interface().(type) {
	case DSN:
		if isText {
			return ParseDSN(text)
		}
	case Secret:
		if isText {
			return NewSecret(text), nil
		}
		return nil, errors.New("not text; allowed: text (put it in quotes)") // it is not shown
	case []string:
		return list(raw)
	case int:
		return parsed(raw, strconv.Atoi, "a whole number")
	case bool:
		return parsed(raw, strconv.ParseBool, "true or false")
	case float64:
		return parsed(raw, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, "a number")
	case time.Duration:
		return parsed(raw, time.ParseDuration, "a duration with its unit, as in 500ms, 1s or 2m")
	case Bytes:
		return parsed(raw, parseBytes, "a size with its unit, as in 512MiB or 2GiB")
	}
	if isText {
		return text, nil
	}
	return nil, fmt.Errorf("got %s; allowed: text (put it in quotes)", describe(raw))
}

// parsed reads the text of a value, or names what is allowed.
func parsed[V any](raw any, parse func(string) (V, error), allowed string) (any, error) {
	v, err := parse(fmt.Sprint(raw))
	if err != nil {
		return nil, fmt.Errorf("got %s; allowed: %s", describe(raw), allowed)
	}
	return v, nil
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
