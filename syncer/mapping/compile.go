package mapping

import (
	"fmt"
	"reflect"
	"slices"
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
// Names are mechanical (DESIGN §4): a nested object flattens with "_"; the
// fields of an array of objects follow a "." (items.id), and an array inside an
// array follows with "_" and a depth more (items.extras_name); a map of objects
// is a map column for each of their fields (channels_price). The field tagged
// row:"id" is no column when that would be named id, nor is business_id: every
// table has those two anyway.
func Compile[T any](table string, context ...sinks.Column) (*Plan, error) {
	c := &compiler{plan: &Plan{table: &sinks.Table{Name: table}, updated: -1}}
	for _, col := range context {
		if col.Depth != 0 || col.Map {
			return nil, fmt.Errorf("compile %s: context column %s is not a scalar", table, col.Name)
		}
		s := scalar{path: col.Name, kind: col.Kind, col: c.column(col)}
		c.plan.context = append(c.plan.context, s)
	}
	root, err := c.object(reflect.TypeFor[T](), place{})
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", table, err)
	}
	c.plan.root = root
	return c.plan, nil
}

type compiler struct{ plan *Plan }

// place is where in a row a field stands.
type place struct {
	path     []string // names down to here
	prefix   string   // of the column names
	depth    int      // arrays around it
	nullable bool     // an object around it may be null
	inMap    bool
}

func (p place) below(name, separator string) place {
	p.path = append(slices.Clone(p.path), name)
	p.prefix += name + separator
	return p
}

func (c *compiler) column(col sinks.Column) int {
	c.plan.table.Columns = append(c.plan.table.Columns, col)
	return len(c.plan.table.Columns) - 1
}

func (c *compiler) check() error {
	seen := map[string]bool{}
	for _, col := range c.plan.table.Columns {
		if seen[col.Name] {
			return fmt.Errorf("two columns are named %s", col.Name)
		}
		seen[col.Name] = true
	}
	return nil
}

func (c *compiler) object(t reflect.Type, at place) (*object, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	o := &object{index: map[string]int{}}
	if len(at.path) > 0 {
		o.path = strings.Join(at.path, ".") + "."
	}
	if err := c.fields(o, t, at); err != nil {
		return nil, err
	}
	if len(o.fields) > maxFields {
		return nil, fmt.Errorf("%s has %d fields, %d are possible", t, len(o.fields), maxFields)
	}
	for i, f := range o.fields {
		o.index[f.name] = i
		switch {
		case f.op == opSkip || f.op == opDeleted:
		case f.nullable:
			o.optional |= 1 << i
		default:
			o.required |= 1 << i
		}
	}
	return o, nil
}

// fields adds the fields of a struct, embedded structs in their place.
func (c *compiler) fields(o *object, t reflect.Type, at place) error {
	for sf := range fieldsOf(t) {
		tag, tagged := sf.Tag.Lookup("json")
		if sf.Anonymous && !tagged {
			if err := c.fields(o, sf.Type, at); err != nil {
				return err
			}
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		if name == "" || name == "-" {
			return fmt.Errorf("%s.%s has no name in JSON", t, sf.Name)
		}
		f, err := c.field(sf, name, at)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, sf.Name, err)
		}
		o.fields = append(o.fields, f)
	}
	return nil
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func (c *compiler) field(sf reflect.StructField, name string, at place) (field, error) {
	f := field{name: name, quoted: strconv.Quote(name), level: at.depth}
	column := at.prefix + name
	switch {
	case sf.Tag.Get("row") == "id" && at.depth == 0: // in an array it identifies the element
		return f, c.identify(&f, sf, name, at)
	case name == "deleted" && len(at.path) == 0:
		f.op, c.plan.deletable = opDeleted, true
		return f, nil
	case sf.Tag.Get("column") == "-" || column == "business_id":
		f.op = opSkip
		return f, nil
	}
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		f.nullable, t = sf.Tag.Get("column") != "required", t.Elem()
	}
	var enum []string
	if e := sf.Tag.Get("enum"); e != "" {
		enum = strings.Split(e, ",")
	}
	before := len(c.plan.table.Columns)
	err := c.shape(&f, t, name, enum, at)
	for i := before; i < len(c.plan.table.Columns); i++ {
		f.columns = append(f.columns, i)
	}
	if column == "updated_at" && f.op == opScalar && f.scalar.kind == sinks.Instant {
		c.plan.updated = f.scalar.col
	}
	return f, err
}

// identify plans the field that identifies the row.
func (c *compiler) identify(f *field, sf reflect.StructField, name string, at place) error {
	if c.plan.idPath != nil || at.nullable || at.inMap || sf.Type.Kind() != reflect.String {
		return fmt.Errorf("cannot identify the row")
	}
	path := append(slices.Clone(at.path), name)
	c.plan.idPath = path
	f.op, f.id = opScalar, true
	f.scalar = scalar{path: strings.Join(path, "."), kind: sinks.Text, col: -1}
	if column := at.prefix + name; column != "id" {
		f.scalar.col = c.column(sinks.Column{Name: column, Kind: sinks.Text})
		f.columns = []int{f.scalar.col}
	}
	return nil
}

// shape plans a field by its type, pointer taken off.
func (c *compiler) shape(f *field, t reflect.Type, name string, enum []string, at place) (err error) {
	path := strings.Join(append(slices.Clone(at.path), name), ".")
	nullable := f.nullable || at.nullable
	if kind, number, ok := scalarKind(t); ok {
		f.op = opScalar
		col := c.column(sinks.Column{Name: at.prefix + name, Kind: kind, Nullable: nullable, Depth: at.depth, Map: at.inMap})
		f.scalar = scalar{path: path, kind: kind, number: number, col: col, enum: enum}
		return nil
	}
	if at.inMap {
		return fmt.Errorf("%s cannot be inside a map", t)
	}
	switch t.Kind() {
	case reflect.Struct:
		f.op = opStruct
		at = at.below(name, "_")
		at.nullable = nullable
		f.sub, err = c.object(t, at)
		return err
	case reflect.Slice:
		return c.slice(f, t.Elem(), name, enum, at)
	case reflect.Map:
		return c.mapOf(f, t, name, enum, at)
	default:
		return fmt.Errorf("%s has no kind", t)
	}
}

func (c *compiler) slice(f *field, t reflect.Type, name string, enum []string, at place) (err error) {
	if kind, number, ok := scalarKind(t); ok {
		f.op = opScalars
		col := c.column(sinks.Column{Name: at.prefix + name, Kind: kind, Depth: at.depth + 1})
		path := strings.Join(append(slices.Clone(at.path), name), ".")
		f.scalar = scalar{path: path, kind: kind, number: number, col: col, enum: enum}
		return nil
	}
	f.op = opStructs
	separator := "."
	if at.depth > 0 {
		separator = "_"
	}
	at = at.below(name, separator)
	at.depth++
	at.nullable = false
	f.sub, err = c.object(t, at)
	return err
}

func (c *compiler) mapOf(f *field, t reflect.Type, name string, enum []string, at place) (err error) {
	if t.Key().Kind() != reflect.String || at.depth > 0 {
		return fmt.Errorf("%s cannot be a map column", t)
	}
	f.keys = enum
	if kind, number, ok := scalarKind(t.Elem()); ok {
		f.op = opMap
		col := c.column(sinks.Column{Name: at.prefix + name, Kind: kind, Map: true})
		path := strings.Join(append(slices.Clone(at.path), name), ".")
		f.scalar = scalar{path: path, kind: kind, number: number, col: col}
		return nil
	}
	f.op = opMapOf
	at = at.below(name, "_")
	at.inMap, at.nullable = true, false
	f.sub, err = c.object(t.Elem(), at)
	return err
}

// scalarKind is the kind of a scalar type of api.md ("Conventions").
func scalarKind(t reflect.Type) (kind sinks.Kind, number, ok bool) {
	switch t {
	case reflect.TypeFor[types.Money]():
		return sinks.Money, false, true
	case reflect.TypeFor[types.Quantity]():
		return sinks.Quantity, false, true
	case reflect.TypeFor[types.Number]():
		return sinks.Quantity, true, true
	case reflect.TypeFor[types.Instant]():
		return sinks.Instant, false, true
	case reflect.TypeFor[types.Date]():
		return sinks.Day, false, true
	}
	switch t.Kind() {
	case reflect.String:
		return sinks.Text, false, true
	case reflect.Bool:
		return sinks.Bool, false, true
	case reflect.Int, reflect.Int64:
		return sinks.Int, true, true
	default:
		return 0, false, false
	}
}
