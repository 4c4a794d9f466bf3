package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// option is one thing that can be configured, of a T ([Config] or [Source]).
type option[T any] struct {
	Key     string // path below T, e.g. warehouse.dsn
	Type    string // as the documentation names it
	Default string // as one would write it in YAML; empty for none
	Doc     string
	store   func(t *T, raw any) error
	show    func(t *T) string // its value, without secrets
	live    bool              // a reload changes it; the others hold from the next start on
}

// check returns what is wrong with a value, or nil.
type check[V any] func(V) error

func text[T any](key, def, doc string, field func(*T) *string, checks ...check[string]) option[T] {
	return plainOption(key, "text", def, doc, asText, field, checks)
}

func texts[T any](key, doc string, field func(*T) *[]string, checks ...check[[]string]) option[T] {
	return plainOption(key, "list of text", "[]", doc, asTexts, field, checks)
}

func number[T any](key, def, doc string, field func(*T) *int, checks ...check[int]) option[T] {
	return plainOption(key, "whole number", def, doc, asInt, field, checks)
}

func truth[T any](key, def, doc string, field func(*T) *bool) option[T] {
	return plainOption(key, "true or false", def, doc, asBool, field, nil)
}

func fraction[T any](key, def, doc string, field func(*T) *float64, checks ...check[float64]) option[T] {
	return plainOption(key, "number", def, doc, asFloat, field, checks)
}

func duration[T any](key, def, doc string, field func(*T) *time.Duration, checks ...check[time.Duration]) option[T] {
	return plainOption(key, "duration", def, doc, asDuration, field, checks)
}

// size is a number of bytes, written with its unit; empty is 0.
func size[T any](key, def, doc string, field func(*T) *int64, checks ...check[int64]) option[T] {
	o := plainOption(key, "size", def, doc, asSize, field, checks)
	o.show = func(t *T) string { return shownSize(*field(t)) }
	return o
}

func schedule[T any](key, def, doc string, field func(*T) *string, canBeOff bool) option[T] {
	return plainOption(key, "schedule", def, doc, asText, field, []check[string]{validSchedule(canBeOff)}).reloaded()
}

// custom is an option with a form of its own.
func custom[T any](key, kind, def, doc string, store func(*T, any) error, show func(*T) string) option[T] {
	return option[T]{Key: key, Type: kind, Default: def, Doc: doc, store: store, show: show}
}

// plainOption is an option that is one field.
func plainOption[T, V any](key, kind, def, doc string, parse func(any) (V, error), field func(*T) *V, checks []check[V]) option[T] {
	return option[T]{
		Key: key, Type: kind, Default: def, Doc: doc,
		store: storing(parse, field, checks),
		show:  func(t *T) string { return shownValue(*field(t)) },
	}
}

func shownValue(v any) string {
	if s := fmt.Sprint(v); s != "" {
		return s
	}
	return `""`
}

// reloaded marks an option that a reload changes.
func (o option[T]) reloaded() option[T] {
	o.live = true
	return o
}

func (o option[T]) typed(kind string) option[T] {
	o.Type = kind
	return o
}

func storing[T, V any](parse func(any) (V, error), field func(*T) *V, checks []check[V]) func(*T, any) error {
	return func(t *T, raw any) error {
		v, err := parse(raw)
		if err != nil {
			return err
		}
		for _, check := range checks {
			if err := check(v); err != nil {
				return err
			}
		}
		*field(t) = v
		return nil
	}
}

func asText(raw any) (string, error) {
	switch v := raw.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("got %s; allowed: text (put it in quotes)", describe(raw))
	}
}

// asTexts takes a list, or from environment and flags text with commas.
func asTexts(raw any) ([]string, error) {
	switch v := raw.(type) {
	case nil:
		return nil, nil
	case string:
		parts := strings.FieldsFunc(v, func(r rune) bool { return r == ',' })
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return slices.DeleteFunc(parts, func(s string) bool { return s == "" }), nil
	case []any:
		out := make([]string, 0, len(v))
		for i, item := range v {
			s, err := asText(item)
			if err != nil || s == "" {
				return nil, fmt.Errorf("item %d is %s; allowed: text (put it in quotes)", i+1, describe(item))
			}
			out = append(out, s)
		}
		return out, nil
	default:
		return nil, fmt.Errorf("got %s; allowed: a list of text, as in [a, b]", describe(raw))
	}
}

func asInt(raw any) (int, error) {
	switch v := raw.(type) {
	case int:
		return v, nil
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("got %s; allowed: a whole number", describe(raw))
}

func asBool(raw any) (bool, error) {
	switch v := raw.(type) {
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b, nil
		}
	}
	return false, fmt.Errorf("got %s; allowed: true or false", describe(raw))
}

func asFloat(raw any) (float64, error) {
	switch v := raw.(type) {
	case int:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f, nil
		}
	}
	return 0, fmt.Errorf("got %s; allowed: a number", describe(raw))
}

func asDuration(raw any) (time.Duration, error) {
	if s, ok := raw.(string); ok {
		if d, err := time.ParseDuration(s); err == nil {
			return d, nil
		}
	}
	return 0, fmt.Errorf("got %s; allowed: a duration with its unit, as in 500ms, 1s or 2m", describe(raw))
}

// describe names a value as a person wrote it.
func describe(raw any) string {
	switch v := raw.(type) {
	case nil:
		return "nothing"
	case string:
		return strconv.Quote(v)
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v)
	default:
		return kindOf(raw)
	}
}

// kindOf names what a value is without showing it: it may be a secret in the
// wrong place.
func kindOf(raw any) string {
	switch raw.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool, int, int64, uint64, float64:
		return "a value"
	case []any:
		return "a list"
	default:
		return "a section"
	}
}
