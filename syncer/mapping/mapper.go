package mapping

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/larder-sync/larder/sinks"
)

// Mapper appends rows to batches. It holds the parser's buffers and is not safe
// for concurrent use.
type Mapper struct {
	// Known, when not nil, tells drift that was reported before: rows leave it out, so
	// that there is room for what is new.
	Known func(DriftItem) bool

	plan *Plan
	dec  jsontext.Decoder
	in   bytes.Buffer

	// Of the row at hand.
	raw     []byte
	vectors []sinks.Vector
	id      string
	entries entries // of the map that is open

	drift      *driftNotes
	tombstones *tombstoneReader
	identity   *identityFinder

	inner   *Mapper // reads the unknown entries of maps of objects
	scratch []byte
}

// Result is what a good row brought.
type Result struct {
	ID string // empty when the rows of the plan have none
	// Tombstone is set when the row is one; nothing was appended then.
	Tombstone *Tombstone
	UpdatedAt time.Time // zero when null, or when there is no such field
	// Drift is valid until the mapper's next row.
	Drift []DriftItem
}

// NewMapper returns a mapper of the plan.
func (p *Plan) NewMapper() *Mapper {
	m := &Mapper{plan: p}
	m.drift, m.tombstones, m.identity = &driftNotes{mapper: m, paths: map[string]string{}}, &tombstoneReader{m}, &identityFinder{m}
	return m
}

// errDeleted ends the reading of a live row that turns out to be a tombstone.
var errDeleted = errors.New("the row is a tombstone")

// Append maps one row and appends a value to every vector of the batch, which
// must be made of the plan's table; the caller closes the row with
// [sinks.Batch.EndRow]. The context values are those of the plan's context
// columns, written as the API would; "" is null where the column is nullable.
//
// A row that cannot be understood gives a *[RowError] and leaves the batch as it
// was. Any other error is the caller's mistake. raw is read, never kept.
func (m *Mapper) Append(b *sinks.Batch, raw []byte, context ...string) (Result, error) {
	if b.Table != m.plan.table || len(context) != len(m.plan.context) {
		return Result{}, fmt.Errorf("map a row of %s: batch of %s with %d context values, want %d",
			m.plan.table.Name, b.Table.Name, len(context), len(m.plan.context))
	}
	m.begin(raw)
	m.vectors = b.Vectors
	defer func() { m.vectors = nil }() // the batch goes on to the sink
	err := m.row(context)
	if err == nil {
		return m.result(), nil
	}
	b.Rollback()
	if errors.Is(err, errDeleted) || m.identity.isTombstone() {
		return m.tombstones.tombstone()
	}
	return Result{}, m.identity.identified(err)
}

func (m *Mapper) begin(raw []byte) {
	m.raw, m.id, m.drift.items = raw, "", m.drift.items[:0]
	// Known names are checked for duplicates here; twice an unknown one is as little a
	// reason to lose the row as once (DESIGN R9).
	m.read(raw, decodeOptions(raw)...)
}

// decodeOptions takes half a surrogate pair ("\ud83c"), which is valid JSON. Bytes that are
// no UTF-8 are not.
func decodeOptions(raw []byte) []jsontext.Options {
	if utf8.Valid(raw) {
		return halfSurrogates
	}
	return duplicateNames
}

var (
	duplicateNames = []jsontext.Options{jsontext.AllowDuplicateNames(true)}
	halfSurrogates = append(slices.Clone(duplicateNames), jsontext.AllowInvalidUTF8(true))
)

func (m *Mapper) read(raw []byte, opts ...jsontext.Options) {
	m.in = *bytes.NewBuffer(raw)
	m.dec.Reset(&m.in, opts...)
}

func (m *Mapper) row(context []string) error {
	for i := range m.plan.context {
		if err := m.given(&m.plan.context[i], context[i]); err != nil {
			return err
		}
	}
	if k := m.dec.PeekKind(); k != '{' {
		return m.unexpected("an object")
	}
	if err := m.object(m.plan.root); err != nil {
		return err
	}
	return m.end()
}

// end checks what comes after the row.
func (m *Mapper) end() error {
	if _, err := m.dec.ReadToken(); !errors.Is(err, io.EOF) {
		if err != nil {
			return m.syntax(err)
		}
		return &RowError{Reason: "more than one JSON value"}
	}
	return nil
}

func (m *Mapper) result() Result {
	r := Result{ID: m.id, Drift: m.drift.items}
	if m.plan.updated >= 0 {
		v := &m.vectors[m.plan.updated]
		last := len(v.Ints) - 1
		if !v.Column.Nullable || v.Nulls[last] == 0 {
			r.UpdatedAt = time.UnixMicro(v.Ints[last]).UTC()
		}
	}
	return r
}

// text returns the text of a JSON string, valid until the next call. Half a surrogate
// pair becomes U+FFFD.
func (m *Mapper) text(quoted []byte) []byte {
	text, _ := m.wholeText(quoted)
	return text
}

// wholeText is text; whole reports whether nothing was replaced.
func (m *Mapper) wholeText(quoted []byte) (text []byte, whole bool) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], true
	}
	text, err := jsontext.AppendUnquote(m.scratch[:0], quoted)
	m.scratch = text
	return text, err == nil
}
