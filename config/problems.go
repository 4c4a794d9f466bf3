package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	Key     string // sources[0].name; empty when it concerns no key
	Origin  string // "line 4", an environment variable, or a flag
	Message string
	Outside bool // it does not stand in the file
}

func (p Problem) String() string {
	parts := slices.DeleteFunc([]string{p.Origin, p.Key, p.Message}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}

// Error is everything wrong with a configuration.
type Error struct {
	File     string
	Problems []Problem
	// LogFormat is log.format as far as it could be read: the error itself is logged in it.
	LogFormat string
}

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.where(e.Problems[0]) + e.Problems[0].String()
	}
	var b strings.Builder
	head, where := e.File, func(Problem) string { return "" }
	if slices.ContainsFunc(e.Problems, func(p Problem) bool { return e.where(p) == "" }) {
		head, where = "configuration", e.where
	}
	fmt.Fprintf(&b, "%s: %d problems", head, len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + where(p) + p.String())
	}
	return b.String()
}

// where is the file of a problem, for a sentence to go on.
func (e *Error) where(p Problem) string {
	if e.File == "" || p.Outside {
		return ""
	}
	return e.File + ": "
}

// problems collects what is wrong while a tree is read.
type problems struct {
	tree  *tree
	found []located
	meant []string // sections that were misspelt
}

type located struct {
	Problem
	line int
}

var indexForm = regexp.MustCompile(`\.(\d+)(\.|$)`)

// shown writes sources.0.name as sources[0].name.
func shown(path string) string { return indexForm.ReplaceAllString(path, "[$1]$2") }

func (p *problems) add(path, message string) {
	o := p.tree.originOf(path)
	p.found = append(p.found, located{Problem{Key: shown(path), Origin: o.String(), Message: message, Outside: o.outside()}, o.line})
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

func (p *problems) err(file string) *Error {
	if len(p.found) == 0 {
		return nil
	}
	slices.SortStableFunc(p.found, func(a, b located) int { return cmp.Compare(a.line, b.line) })
	e := &Error{File: file}
	for _, f := range p.found {
		e.Problems = append(e.Problems, f.Problem)
	}
	return e
}

// unknownKeys refuses keys that are no options, and names the nearest option.
func (p *problems) unknownKeys() {
	known := map[string]bool{"sources": false}
	for _, o := range options {
		known[o.Key] = true
	}
	for _, path := range slices.Sorted(maps.Keys(p.tree.values)) {
		if rest, ok := strings.CutPrefix(path, "sources."); ok {
			p.unknownSourceKey(path, rest)
			continue
		}
		if !known[path] && !p.unknownSection(path) {
			p.refuse(path, path, keysOf(options))
		}
	}
}

// unknownSection refuses a section that is called almost as a known one, once for all
// that stands in it.
func (p *problems) unknownSection(path string) bool {
	sections := append([]string{"sources"}, keysUnder("", keysOf(options))...)
	name, _, _ := strings.Cut(path, ".")
	if slices.Contains(sections, name) {
		return false
	}
	meant := nearestSection(name, sections)
	if meant == "" {
		return false
	}
	if !slices.Contains(p.meant, meant) {
		p.meant = append(p.meant, meant)
		if _, known := p.tree.origin[name]; !known { // from the environment or a flag
			p.tree.origin[name] = p.tree.origin[path]
		}
		p.add(name, fmt.Sprintf("unknown key; did you mean %q?", meant))
	}
	return true
}

func (p *problems) unknownSourceKey(path, rest string) {
	index, key, _ := strings.Cut(rest, ".")
	if _, err := strconv.Atoi(index); err != nil {
		p.refuse(path, rest, keysOf(sourceOptions))
		return
	}
	if !slices.Contains(keysOf(sourceOptions), key) {
		p.refuse(path, key, keysOf(sourceOptions))
	}
}

func (p *problems) refuse(path, key string, known []string) {
	value := p.tree.values[path]
	if value == nil || emptySection(value) { // "web:" with nothing below it is all defaults
		if path == "sources" || key == "" || isSection(key, known) {
			return
		}
	}
	switch {
	case path == "sources":
		p.add(path, "got "+kindOf(value)+"; allowed: a list, every source beginning with a dash")
	case key == "" || isSection(key, known):
		p.add(path, "got "+kindOf(value)+"; allowed: a section with "+strings.Join(keysUnder(key, known), ", "))
	default:
		if near := nearest(key, known); near != "" {
			p.add(path, fmt.Sprintf("unknown key; did you mean %q?", near))
			return
		}
		section := sectionOf(key, known)
		here := keysUnder(section, known)
		if section == "" && path == key { // the sources have a table of their own
			here = append([]string{"sources"}, here...)
		}
		p.add(path, "unknown key; known here: "+strings.Join(here, ", "))
	}
}

func emptySection(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 0
}

func isSection(key string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
}

// sectionOf is the known section that an unknown key stands in, or "".
func sectionOf(key string, known []string) string {
	for s := parent(key); s != ""; s = parent(s) {
		if isSection(s, known) {
			return s
		}
	}
	return ""
}

// keysUnder are the keys of a section, or the sections when it is "".
func keysUnder(section string, known []string) []string {
	var out []string
	for _, k := range known {
		if section != "" {
			rest, ok := strings.CutPrefix(k, section+".")
			if !ok {
				continue
			}
			k = rest
		}
		k, _, _ = strings.Cut(k, ".")
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func keysOf[T any](table []option[T]) []string {
	keys := make([]string, len(table))
	for i, o := range table {
		keys[i] = o.Key
	}
	return keys
}

func loopbackURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && loopback(u.Hostname())
}
