package mapping

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/larder-sync/larder/sinks"
)

// Mapper appends rows to batches. It holds the parser's buffers and is not safe
// for concurrent use.
type Mapper struct {
	plan *Plan
	dec  jsontext.Decoder
	in   bytes.Buffer

	// Of the row at hand.
	raw     []byte
	vectors []sinks.Vector
	id      string
	recheck bool // names were read that only the strict parser can tell apart
	drift   []DriftItem

	scratch []byte
	paths   map[string]string // interned paths of unknown fields
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
	return &Mapper{plan: p, paths: map[string]string{}}
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
	err := m.row(context)
	if err == nil {
		return m.result(), nil
	}
	b.Rollback()
	if errors.Is(err, errDeleted) || m.buried() {
		return m.tombstone()
	}
	return Result{}, m.identified(err)
}

func (m *Mapper) begin(raw []byte) {
	m.raw, m.id, m.recheck, m.drift = raw, "", false, m.drift[:0]
	// Names are checked for duplicates here, which is faster, or by [Mapper.end].
	m.read(raw, jsontext.AllowDuplicateNames(true))
}

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

// end checks what comes after the row, and what was left unchecked in it.
func (m *Mapper) end() error {
	if _, err := m.dec.ReadToken(); !errors.Is(err, io.EOF) {
		if err != nil {
			return m.syntax(err)
		}
		return &RowError{Reason: "more than one JSON value"}
	}
	if !m.recheck {
		return nil
	}
	m.read(m.raw)
	if _, err := m.dec.ReadValue(); err != nil {
		return m.syntax(err)
	}
	return nil
}

func (m *Mapper) result() Result {
	r := Result{ID: m.id, Drift: m.drift}
	if m.plan.updated >= 0 {
		v := &m.vectors[m.plan.updated]
		last := len(v.Ints) - 1
		if !v.Column.Nullable || v.Nulls[last] == 0 {
			r.UpdatedAt = time.UnixMicro(v.Ints[last]).UTC()
		}
	}
	return r
}

// object reads an object of known fields.
func (m *Mapper) object(o *object) error {
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	var seen uint64
	next := 0
	for m.dec.PeekKind() != '}' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		i := o.find(name, next)
		if i < 0 {
			i = m.findEscaped(o, name)
		}
		if i < 0 {
			err = m.unknown(o, name)
		} else {
			next = i + 1
			if seen&(1<<i) != 0 {
				return m.bad(nil, "there twice")
			}
			seen |= 1 << i
			err = m.field(&o.fields[i])
		}
		if err != nil {
			return err
		}
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	return m.fill(o, seen)
}

// fill completes an object with the nulls of the fields it does not have.
func (m *Mapper) fill(o *object, seen uint64) error {
	if gone := o.required &^ seen; gone != 0 {
		return m.missing(o.fields[bits.TrailingZeros64(gone)].name)
	}
	for gone := o.optional &^ seen; gone != 0; gone &= gone - 1 {
		m.null(&o.fields[bits.TrailingZeros64(gone)])
	}
	return nil
}

func (m *Mapper) findEscaped(o *object, quoted []byte) int {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return -1
	}
	if i, ok := o.index[string(m.text(quoted))]; ok {
		return i
	}
	return -1
}

func (m *Mapper) field(f *field) error {
	switch f.op {
	case opScalar:
		return m.scalarField(f)
	case opStruct:
		return m.structField(f)
	case opScalars:
		return m.scalars(f)
	case opStructs:
		return m.structs(f)
	case opMap, opMapOf:
		return m.mapField(f)
	case opDeleted:
		return m.deleted()
	default:
		if err := m.dec.SkipValue(); err != nil {
			return m.syntax(err)
		}
		m.recheck = true
		return nil
	}
}

func (m *Mapper) scalarField(f *field) error {
	value, err := m.dec.ReadValue()
	if err != nil {
		return m.syntax(err)
	}
	if value[0] == 'n' && f.nullable {
		m.vectors[f.scalar.col].AppendZero()
		return nil
	}
	if f.id {
		return m.identify(f, value)
	}
	return m.scalar(&f.scalar, value)
}

// identify takes the value of the field that identifies the row.
func (m *Mapper) identify(f *field, value []byte) error {
	if value[0] != '"' {
		return m.bad(value, "want a string that is not empty")
	}
	text := m.text(value)
	if len(text) == 0 {
		return m.bad(value, "want a string that is not empty")
	}
	m.id = string(text)
	if f.scalar.col >= 0 {
		m.vectors[f.scalar.col].AppendText(text)
	}
	return nil
}

func (m *Mapper) structField(f *field) error {
	switch m.dec.PeekKind() {
	case '{':
		return m.object(f.sub)
	case 'n':
		if f.nullable {
			return m.skipNull(f)
		}
	}
	return m.unexpected("an object")
}

func (m *Mapper) scalars(f *field) error {
	if ok, err := m.open(f, '[', "an array"); !ok {
		return err
	}
	for m.dec.PeekKind() != ']' {
		value, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		if err := m.scalar(&f.scalar, value); err != nil {
			return err
		}
	}
	return m.close(f)
}

func (m *Mapper) structs(f *field) error {
	if ok, err := m.open(f, '[', "an array"); !ok {
		return err
	}
	for {
		switch m.dec.PeekKind() {
		case '{':
			if err := m.object(f.sub); err != nil {
				return err
			}
		case ']':
			return m.close(f)
		default:
			return m.unexpected("an object")
		}
	}
}

// open reads the start of an array or map. It returns false when there is
// nothing more to do.
func (m *Mapper) open(f *field, kind jsontext.Kind, want string) (bool, error) {
	switch k := m.dec.PeekKind(); {
	case k == 'n' && f.nullable:
		return false, m.skipNull(f)
	case k != kind:
		return false, m.unexpected(want)
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return false, m.syntax(err)
	}
	return true, nil
}

// close reads the end of an array or map.
func (m *Mapper) close(f *field) error {
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	for _, col := range f.leaves {
		m.vectors[col].EndList(f.level)
	}
	return nil
}

func (m *Mapper) skipNull(f *field) error {
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	m.null(f)
	return nil
}

// null appends a field that is null: nulls, and empty lists and maps.
func (m *Mapper) null(f *field) {
	for _, col := range f.leaves {
		v := &m.vectors[col]
		if len(v.Offsets) > f.level {
			v.EndList(f.level)
		} else {
			v.AppendZero()
		}
	}
}

// unexpected is the error of a value of the wrong shape that comes next.
func (m *Mapper) unexpected(want string) error {
	value, err := m.dec.ReadValue()
	if err != nil {
		return m.syntax(err)
	}
	return m.bad(value, "want "+want)
}

// text returns the text of a JSON string, valid until the next call.
func (m *Mapper) text(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, err := jsontext.AppendUnquote(m.scratch[:0], quoted)
	if err != nil {
		panic(fmt.Sprintf("a string that the parser accepted cannot be unquoted: %v", err))
	}
	m.scratch = text
	return text
}
