package mapping

import "bytes"

// The kinds of drift.
const (
	DriftField  = "field"  // a field that the API's description does not name
	DriftValue  = "value"  // a value, or a key of a map, that the API's description does not name
	DriftDigits = "digits" // digits finer than the column, which were cut
	DriftTotals = "totals" // totals of an answer that its days do not add up to
)

// maxDrift is how many new things one row can report: the next rows report the rest.
const maxDrift = 512

// maxPaths bounds the interned paths of a mapper, whatever the rows hold.
const maxPaths = 4096

// DriftItem is something in a row that the API's description does not name, or that its column
// cannot hold. The row landed all the same.
type DriftItem struct {
	Path    string // array indexes and map keys left out: items.discount_code
	Kind    string // one of the kinds
	Example []byte // the literal JSON, cut to 200 bytes; a part of the row
}

// Key identifies what is reported once (docs/rules.md R9): kind and path, separated by
// a zero byte, and for a value the value too.
func (d DriftItem) Key() string { return string(d.appendKey(nil)) }

func (d DriftItem) appendKey(b []byte) []byte {
	b = append(append(append(b, d.Kind...), 0), d.Path...)
	if d.Kind == DriftValue {
		b = append(append(b, 0), d.Example...)
	}
	return b
}

// maxSeen bounds a set, should a field that looks like an enumeration hold free
// text: values beyond it are kept in their rows and not reported.
const maxSeen = 10_000

// Seen is the set of what was reported. It is not safe for concurrent use.
type Seen struct {
	keys    map[string]struct{}
	scratch []byte
}

// Has is true when the item was reported, or must not be: the set is full.
func (s *Seen) Has(d DriftItem) bool {
	s.scratch = d.appendKey(s.scratch[:0])
	_, ok := s.keys[string(s.scratch)]
	return ok || len(s.keys) >= maxSeen
}

// Add puts a [DriftItem.Key] into the set.
func (s *Seen) Add(key string) {
	if s.keys == nil {
		s.keys = map[string]struct{}{}
	}
	s.keys[key] = struct{}{}
}

// driftNotes are what the row at hand has that the API's description lacks.
type driftNotes struct {
	// Known, when not nil, reports whether drift was reported before: rows leave it out, so
	// that there is space for what is new.
	Known func(DriftItem) bool

	drift []DriftItem
	paths map[string]string // interned paths of unknown fields
}

func (d *driftNotes) path(prefix string, name []byte) string {
	if len(d.paths) >= maxPaths {
		clear(d.paths)
	}
	name = cut(name)
	var buffer [256]byte
	full := append(append(buffer[:0], prefix...), name...)
	path, ok := d.paths[string(full)]
	if !ok {
		path = string(full)
		d.paths[path] = path
	}
	return path
}

// note notes drift once per row. literal is a part of the row.
func (d *driftNotes) note(path, kind string, literal []byte) {
	item := DriftItem{Path: path, Kind: kind, Example: cut(literal)}
	if len(d.drift) >= maxDrift || d.Known != nil && d.Known(item) {
		return
	}
	for i := range d.drift {
		if d := &d.drift[i]; d.Path == path && d.Kind == kind && (kind != DriftValue || bytes.Equal(d.Example, item.Example)) {
			return
		}
	}
	d.drift = append(d.drift, item)
}
