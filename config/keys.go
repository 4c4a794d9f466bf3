package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A setting is one value of a configuration or of a source, by its key.
type setting struct {
	key, kind string // web.listen, address
	allowed   string // the values that it may have, with commas; empty: others
	value     reflect.Value
}

// String is the value without secrets.
func (s setting) String() string { return cmp.Or(fmt.Sprint(s.value), `""`) }

// settings are the fields of a struct that have keys, and the fields of the sections in it.
func settings(prefix string, section reflect.Value) (all []setting) {
	for field, value := range section.Fields() {
		key := field.Tag.Get("koanf")
		if key == "" {
			continue
		}
		var below []setting // none of a DSN or a secret
		if value.Kind() == reflect.Struct {
			below = settings(prefix+key+".", value)
		}
		if below == nil {
			below = []setting{{prefix + key, field.Tag.Get("kind"), field.Tag.Get("allowed"), value}}
		}
		all = append(all, below...)
	}
	return all
}

func (c *Config) settings() []setting { return settings("", reflect.ValueOf(c).Elem()) }

func (s *Source) settings() []setting { return settings("", reflect.ValueOf(s).Elem()) }

var (
	sourceKeys = keysOf((&Source{}).settings())
	knownKeys  = append([]string{"sources"}, keysOf((&Config{}).settings())...)
	sections   = keysUnder("", knownKeys)
)

func keysOf(all []setting) (keys []string) {
	for _, s := range all {
		keys = append(keys, s.key)
	}
	return keys
}

var sourceForm = regexp.MustCompile(`^sources\.\d+(\.|$)`)

// refuseUnknown refuses what is written below keys that do not exist, and names the nearest that
// does. So it does values where a section belongs.
func (l *loader) refuseUnknown() {
	for _, path := range l.written.Keys() {
		prefix, known := sourceForm.FindString(path), knownKeys
		if prefix != "" {
			known = sourceKeys
		}
		key := path[len(prefix):]
		section, _, _ := strings.Cut(key, ".")
		switch meant := nearest(section, sections); {
		case prefix == "" && section == "sources":
			if got := l.written.Get(path); key != section {
				l.add(path, "not a source; allowed: a list, every source beginning with a dash; counted from 0 in variables and flags")
			} else if got != nil && kindOf(got) != "a section" {
				l.add(path, "got %s; allowed: a list, every source beginning with a dash", kindOf(got))
			}
		case key == "" || isKnown(key, known): // decoding refuses a wrong value
			if below, got := keysUnder(key, known), l.written.Get(path); len(below) > 0 && got != nil && kindOf(got) != "a section" {
				l.add(path, "got %s; allowed: a section with %s", kindOf(got), strings.Join(below, ", "))
			}
		case prefix == "" && meant != "" && meant != section: // once for all that is in it
			if _, inFile := l.origins[section]; !inFile {
				l.origins[section] = l.origins[path]
			}
			l.misspelt = append(l.misspelt, meant)
			l.add(section, "unknown key; did you mean %q?", meant)
		case nearest(key, known) != "":
			l.add(path, "unknown key; did you mean %q?", nearest(key, known))
		default:
			here := keysUnder("", known)
			if below := keysUnder(section, known); len(below) > 0 {
				here = below
			}
			l.add(path, "unknown key; known here: %s", strings.Join(here, ", "))
		}
	}
}

// isKnown reports whether a key is one of the known, or a section of theirs.
func isKnown(key string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool {
		return key == k || strings.HasPrefix(k, key+".")
	})
}

// keysUnder are the keys of a section, or the first parts of all keys when it is "".
func keysUnder(section string, known []string) (under []string) {
	for _, k := range known {
		rest, ok := strings.CutPrefix(k, strings.TrimPrefix(section+".", "."))
		rest, _, _ = strings.Cut(rest, ".")
		if ok && !slices.Contains(under, rest) {
			under = append(under, rest)
		}
	}
	return under
}

// nearest returns the candidate that a typo most likely meant, or "" when none
// is near. A right key in a wrong section counts as near.
func nearest(typo string, candidates []string) string {
	last := func(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
	best, bestAt := "", max(1, len(typo)/3)+1
	for _, c := range candidates {
		d := distance(typo, c)
		if last(typo) == last(c) {
			d = min(d, 1)
		}
		if d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
