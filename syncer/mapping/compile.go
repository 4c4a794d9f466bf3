package mapping

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

// maxFields is how many fields an object may have: one bit each.
const maxFields = 64

// Compile plans the rows of type T, a struct of package types, into the named
// table. The context columns come first; their values are given with every row
// (e.g. the location of a day's totals).
//
// Names are mechanical (docs/rules.md, Warehouse): a nested object flattens with "_"; the
// fields of an array of objects follow a "." (items.id), and an array inside an
// array follows with "_" and a depth more (items.extras_name); a map of objects
// is a map column for each of their fields (channels_price). The field tagged
// row:"id" is no column when that would be named id, nor is business_id: every
// table has those two anyway.
func Compile[T any](table string, context ...sinks.Column) (*Plan, error) {
	c := &compiler{plan: &Plan{table: &sinks.Table{Name: table}, updated: -1}}
	for _, col := range context {
		if col.Kind != sinks.Text || col.Depth != 0 || col.Map {
			c.refuse("context column %s is not a text", col.Name)
		}
		c.plan.context = c.column(col) + 1
	}
	c.plan.root = c.object(reflect.TypeFor[T](), place{})
	if c.err != nil {
		return nil, fmt.Errorf("compile %s: %w", table, c.err)
	}
	return c.plan, nil
}

type compiler struct {
	plan *Plan
	err  error // the first reason why there is none
}

func (c *compiler) refuse(format string, about ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, about...)
	}
}

// place is where in a row the fields of an object are.
type place struct {
	path     string // of them in reports: "items."
	prefix   string // of their column names: "items."
	depth    int    // arrays around them
	nullable bool   // an object around them may be null
	inMap    bool
}

func (c *compiler) column(col sinks.Column) int {
	if c.plan.table.Column(col.Name) >= 0 {
		c.refuse("two columns are named %s", col.Name)
	}
	c.plan.table.Columns = append(c.plan.table.Columns, col)
	return len(c.plan.table.Columns) - 1
}

// object plans a struct, embedded structs in their place.
func (c *compiler) object(t reflect.Type, at place) *object {
	o := &object{path: at.path, index: map[string]int{}}
	if t.Kind() != reflect.Struct {
		c.refuse("%s: %s is not a struct", cmp.Or(strings.TrimSuffix(at.path, "."), "the row"), t)
		return o
	}
	for _, sf := range reflect.VisibleFields(t) {
		if sf.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			c.refuse("%s.%s has no name in JSON", t, sf.Name)
		}
		f, i := c.field(sf, name, at), len(o.fields)
		o.fields, o.index[name] = append(o.fields, f), i
		switch {
		case f.op == opSkip || f.op == opDeleted:
		case f.nullable:
			o.optional |= 1 << i
		default:
			o.required |= 1 << i
		}
	}
	if len(o.fields) > maxFields {
		c.refuse("%s has %d fields, %d are possible", t, len(o.fields), maxFields)
	}
	return o
}

func (c *compiler) field(sf reflect.StructField, name string, at place) field {
	f := field{name: name, quoted: strconv.Quote(name), level: at.depth, scalar: scalar{path: at.path + name}}
	column, before := at.prefix+name, len(c.plan.table.Columns)
	switch {
	case sf.Tag.Get("row") == "id" && at.depth == 0: // in an array it identifies the element
		c.identify(&f, sf, column, at)
	case f.scalar.path == "deleted":
		f.op, c.plan.deletable = opDeleted, true
	case sf.Tag.Get("column") == "-" || column == "business_id":
		f.op = opSkip
	default:
		c.shape(&f, sf, column, at)
	}
	for i := before; i < len(c.plan.table.Columns); i++ {
		f.columns = append(f.columns, i)
	}
	if column == "updated_at" && f.op == opScalar && f.scalar.kind == sinks.Instant {
		c.plan.updated = f.scalar.col
	}
	return f
}

// identify plans the field that identifies the row.
func (c *compiler) identify(f *field, sf reflect.StructField, column string, at place) {
	if c.plan.idPath != nil || at.nullable || at.inMap || sf.Type.Kind() != reflect.String {
		c.refuse("%s cannot identify the row", f.scalar.path)
	}
	c.plan.idPath = strings.Split(f.scalar.path, ".")
	f.op, f.id = opScalar, true
	f.scalar.kind, f.scalar.col = sinks.Text, -1
	if column != "id" {
		f.scalar.col = c.column(sinks.Column{Name: column, Kind: sinks.Text})
	}
}

// shape plans a field by its type, pointer taken off: one value, an array or a map, of scalars
// or of objects.
func (c *compiler) shape(f *field, sf reflect.StructField, column string, at place) {
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		f.nullable, t = sf.Tag.Get("column") != "required", t.Elem()
	}
	var enum []string
	if e := sf.Tag.Get("enum"); e != "" {
		enum = strings.Split(e, ",")
	}
	col := sinks.Column{Name: column, Nullable: f.nullable || at.nullable, Depth: at.depth, Map: at.inMap}
	below := place{path: f.scalar.path + ".", prefix: column + "_", depth: at.depth, nullable: col.Nullable}
	ofScalars, ofObjects := opScalar, opStruct
	switch _, isScalar := scalars[t]; {
	case isScalar:
	case at.inMap:
		c.refuse("%s: %s cannot be inside a map", f.scalar.path, t)
	case t.Kind() == reflect.Slice:
		ofScalars, ofObjects, t = opScalars, opStructs, t.Elem()
		col.Nullable, col.Depth = false, at.depth+1
		below.nullable, below.depth = false, at.depth+1
		if at.depth == 0 {
			below.prefix = column + "."
		}
	case t.Kind() == reflect.Map:
		if t.Key().Kind() != reflect.String || at.depth > 0 {
			c.refuse("%s: %s cannot be a map column", f.scalar.path, t)
		}
		ofScalars, ofObjects, t = opMap, opMapOf, t.Elem()
		f.keys, enum = enum, nil
		col.Nullable, col.Map = false, true
		below.nullable, below.inMap = false, true
	}
	if s, isScalar := scalars[t]; isScalar {
		col.Kind = s.kind
		s.path, s.col, s.enum, s.form = f.scalar.path, c.column(col), enum, forms[s.kind]
		f.op, f.scalar = ofScalars, s
		return
	}
	f.op, f.sub = ofObjects, c.object(t, below)
}

// scalars are the kinds of the scalar types (docs/openapi.yaml, Values).
var scalars = map[reflect.Type]scalar{
	reflect.TypeFor[types.Money]():    {kind: sinks.Money},
	reflect.TypeFor[types.Quantity](): {kind: sinks.Quantity},
	reflect.TypeFor[types.Number]():   {kind: sinks.Quantity, number: true},
	reflect.TypeFor[types.Instant]():  {kind: sinks.Instant},
	reflect.TypeFor[types.Date]():     {kind: sinks.Day},
	reflect.TypeFor[string]():         {kind: sinks.Text},
	reflect.TypeFor[bool]():           {kind: sinks.Bool},
	reflect.TypeFor[int]():            {kind: sinks.Int, number: true},
	reflect.TypeFor[int64]():          {kind: sinks.Int, number: true},
}
