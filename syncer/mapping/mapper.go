package mapping

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/larder-sync/larder/sinks"
)

// Mapper appends rows to batches. It holds the parser's buffers and is not safe
// for concurrent use.
type Mapper struct {
	reader
	driftNotes

	plan *Plan

	// Of the row at hand.
	vectors []sinks.Vector
	rowID   string
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
	return &Mapper{plan: p, driftNotes: driftNotes{paths: map[string]string{}}}
}

// errDeleted ends the reading of a live row that turns out to be a tombstone.
var errDeleted = errors.New("the row is a tombstone")

// Append maps one row and appends a value to every vector of the batch, which
// must be made of the plan's table; the caller closes the row with
// [sinks.Batch.EndRow]. The context values are those of the plan's context
// columns; "" is null where the column is nullable.
//
// A row that cannot be understood gives a *[RowError] and leaves the batch as it
// was. Any other error is the caller's mistake. raw is read, never kept.
func (m *Mapper) Append(b *sinks.Batch, raw []byte, context ...string) (Result, error) {
	if b.Table != m.plan.table || len(context) != m.plan.context {
		return Result{}, fmt.Errorf("map a row of %s: batch of %s with %d context values, want %d",
			m.plan.table.Name, b.Table.Name, len(context), m.plan.context)
	}
	m.beginRow(raw)
	m.vectors = b.Vectors
	defer func() { m.vectors = nil }() // the batch goes on to the sink
	err := m.row(context)
	if err == nil {
		return m.result(), nil
	}
	b.Rollback()
	if errors.Is(err, errDeleted) || m.isTombstone() {
		var t Result
		if t, err = m.tombstone(); err == nil {
			return t, nil
		}
	}
	if bad, ok := errors.AsType[*RowError](err); ok { // somebody will look for it
		bad.ID = m.ID(m.raw)
	}
	return Result{}, err
}

// beginRow begins a row of which nothing is known yet. Half a surrogate pair ("\ud83c") is valid
// JSON; bytes that are no UTF-8 are not, but [lenient] takes both.
func (m *Mapper) beginRow(raw []byte) {
	m.rowID, m.drift = "", m.drift[:0]
	if utf8.Valid(raw) {
		m.begin(raw, lenient)
	} else {
		m.begin(raw, duplicateNames)
	}
}

// isTombstone reports whether a row that failed as a live one says that it is deleted:
// the field may come behind the one that failed.
func (m *Mapper) isTombstone() bool {
	m.begin(m.raw, lenient)
	return m.plan.deletable && string(m.find("deleted")) == "true"
}

// ID is the id of a row, good or bad; empty when it has none that can be read.
func (m *Mapper) ID(raw []byte) string {
	m.begin(raw, lenient)
	value := m.find(m.plan.idPath...)
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	id, err := jsontext.AppendUnquote(nil, value)
	if err != nil || len(id) > maxID {
		return "" // not UTF-8: as text it would look like other ids
	}
	return string(id)
}

func (m *Mapper) row(context []string) error {
	for i, value := range context {
		if v := &m.vectors[i]; value == "" && v.Column.Nullable {
			v.AppendZero()
		} else {
			v.AppendText([]byte(value))
		}
	}
	if err := m.object(m.plan.root); err != nil {
		return err
	}
	return m.end()
}

func (m *Mapper) result() Result {
	r := Result{ID: m.rowID, Drift: m.drift}
	if m.plan.updated >= 0 {
		v := &m.vectors[m.plan.updated]
		last := len(v.Ints) - 1
		if !v.Column.Nullable || v.Nulls[last] == 0 {
			r.UpdatedAt = time.UnixMicro(v.Ints[last]).UTC()
		}
	}
	return r
}
