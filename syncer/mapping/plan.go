package mapping

import "github.com/larder-sync/larder/sinks"

// Plan says how the rows of one list become the columns of one table. It is
// immutable and may be shared.
type Plan struct {
	table   *sinks.Table
	context int // how many columns, the first ones, are given with every row and not read from it
	root    *object
	idPath  []string // names down to the identifying field; nil for rows without one
	updated int      // the column of updated_at, or -1
	// deletable: rows have a field deleted, and may be tombstones
	deletable bool
}

// Table is the table of the plan. Batches given to its mappers are made of it.
func (p *Plan) Table() *sinks.Table { return p.table }

// op is what to do with a field's value.
type op uint8

const (
	opSkip    op = iota // read past it
	opDeleted           // true makes the row a tombstone
	opScalar
	opStruct
	opScalars // array of scalars
	opStructs // array of objects
	opMap     // object with open keys, scalar values
	opMapOf   // object with open keys, objects as values
)

// object is a JSON object of known fields.
type object struct {
	path     string // of its fields in reports: "items."
	fields   []field
	index    map[string]int
	required uint64 // bits of fields that must be there
	optional uint64 // bits of fields that are filled in when they are not
}

// field is one field of an object.
type field struct {
	name     string
	quoted   string // as it is in JSON
	op       op
	nullable bool
	id       bool // identifies the row
	level    int  // arrays around the field
	columns  []int
	scalar   scalar // opScalar, opScalars, opMap; of others its path alone
	sub      *object
	keys     []string // opMap, opMapOf: the keys the API's description names
}

// scalar is a value that goes to one column.
type scalar struct {
	path   string // in reports: "items.vat_rate"
	kind   sinks.Kind
	number bool // from a JSON number instead of a string
	form   form // of decimals
	col    int  // -1: no column
	enum   []string
}

// find returns the index of a field by its name in quotes, or -1. Rows of one
// list name their fields in one order, so the guess is nearly always right.
func (o *object) find(quoted []byte, guess int) int {
	if guess < len(o.fields) && o.fields[guess].quoted == string(quoted) {
		return guess
	}
	return o.named(quoted[1 : len(quoted)-1])
}

func (o *object) named(name []byte) int {
	if i, ok := o.index[string(name)]; ok {
		return i
	}
	return -1
}
