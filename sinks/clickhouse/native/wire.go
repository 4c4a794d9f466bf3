package native

import (
	"fmt"
	"strings"

	"github.com/larder-sync/larder/sinks"
)

// Type is the type of a column as the server declares it, taken apart.
type Type struct {
	Text     string // as declared
	Kind     sinks.Kind
	Depth    int
	mapped   bool
	nullable bool
	// Low and LowKey: the values, the keys of a map, are LowCardinality.
	Low, LowKey bool
}

// kinds are the scalar types of the storage tables (docs/rules.md, Warehouse).
var kinds = map[string]sinks.Kind{
	"String":                            sinks.Text,
	"Bool":                              sinks.Bool,
	"UInt8":                             sinks.Bool,
	"Int64":                             sinks.Int,
	"UInt64":                            sinks.Int,
	"Decimal(18, 2)":                    sinks.Money,
	"Decimal(38, 10)":                   sinks.Quantity,
	"DateTime64(6, 'Europe/Bucharest')": sinks.Instant,
	"Date32":                            sinks.Day,
}

// ParseType understands the types that the schema uses, and no others.
func ParseType(text string) (Type, error) {
	t := Type{Text: text}
	rest := text
	if inner, ok := unwrap(rest, "Map("); ok {
		key, value, found := strings.Cut(inner, ", ")
		if !found {
			return t, fmt.Errorf("type %s is not known", text)
		}
		t.mapped, t.LowKey = true, key == "LowCardinality(String)"
		if !t.LowKey && key != "String" {
			return t, fmt.Errorf("type %s: keys other than text are not known", text)
		}
		rest = value
	}
	for {
		inner, ok := unwrap(rest, "Array(")
		if !ok {
			break
		}
		t.Depth++
		rest = inner
	}
	if inner, ok := unwrap(rest, "LowCardinality("); ok {
		t.Low, rest = true, inner
	}
	if inner, ok := unwrap(rest, "Nullable("); ok {
		t.nullable, rest = true, inner
	}
	kind, ok := kinds[rest]
	if !ok || t.Low && kind != sinks.Text || t.mapped && t.Depth > 0 {
		return t, fmt.Errorf("type %s is not known", text)
	}
	t.Kind = kind
	return t, nil
}

// unwrap takes a type out of another one, such as LowCardinality(String); it is false when
// there is none.
func unwrap(text, prefix string) (string, bool) {
	if strings.HasPrefix(text, prefix) && strings.HasSuffix(text, ")") {
		return text[len(prefix) : len(text)-1], true
	}
	return "", false
}

// fits is true when values of a column can be stored as t.
func (t Type) fits(c *sinks.Column) bool {
	return t.Kind == c.Kind && t.Depth == c.Depth && t.mapped == c.Map
}

// Column is the neutral column that t stores.
func (t Type) Column(name string) sinks.Column {
	return sinks.Column{Name: name, Kind: t.Kind, Nullable: t.nullable, Depth: t.Depth, Map: t.mapped}
}

// EmptyJSON is what a column holds that was not given. A tombstone that stands
// alone is recognised by it: no row of the API is empty in every column.
func (t Type) EmptyJSON() string {
	switch {
	case t.mapped:
		return "{}"
	case t.Depth > 0:
		return "[]"
	case t.nullable:
		return "null"
	}
	return [...]string{
		sinks.Text: `""`, sinks.Bool: "false", sinks.Int: "0", sinks.Money: `"0.00"`, sinks.Quantity: `"0.0000000000"`,
		sinks.Instant: `"1970-01-01T00:00:00.000000Z"`, sinks.Day: `"1970-01-01"`,
	}[t.Kind]
}
