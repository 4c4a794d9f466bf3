package clickhouse

import (
	"fmt"
	"strings"

	"github.com/larder-sync/larder/sinks"
)

// wireType is the type of a column as the server declares it, taken apart.
type wireType struct {
	text     string // as declared
	kind     sinks.Kind
	depth    int
	mapped   bool
	nullable bool
	// low and lowKey: the values, the keys of a map, are LowCardinality.
	low, lowKey bool
}

// kinds are the scalar types of the storage tables (DESIGN §4).
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

// parseWireType understands the types that the schema uses, and no others.
func parseWireType(text string) (wireType, error) {
	t := wireType{text: text}
	rest := text
	if inner, ok := unwrap(rest, "Map("); ok {
		key, value, found := strings.Cut(inner, ", ")
		if !found {
			return t, fmt.Errorf("type %s is not known", text)
		}
		t.mapped, t.lowKey = true, key == "LowCardinality(String)"
		if !t.lowKey && key != "String" {
			return t, fmt.Errorf("type %s: keys other than text are not known", text)
		}
		rest = value
	}
	for {
		inner, ok := unwrap(rest, "Array(")
		if !ok {
			break
		}
		t.depth++
		rest = inner
	}
	if inner, ok := unwrap(rest, "LowCardinality("); ok {
		t.low, rest = true, inner
	}
	if inner, ok := unwrap(rest, "Nullable("); ok {
		t.nullable, rest = true, inner
	}
	kind, ok := kinds[rest]
	if !ok || t.low && kind != sinks.Text || t.mapped && t.depth > 0 {
		return t, fmt.Errorf("type %s is not known", text)
	}
	t.kind = kind
	return t, nil
}

func unwrap(text, prefix string) (string, bool) {
	if strings.HasPrefix(text, prefix) && strings.HasSuffix(text, ")") {
		return text[len(prefix) : len(text)-1], true
	}
	return "", false
}

// fits is true when values of a column can be stored as t.
func (t wireType) fits(c *sinks.Column) bool {
	return t.kind == c.Kind && t.depth == c.Depth && t.mapped == c.Map
}

// column is the neutral column that t stores.
func (t wireType) column(name string) sinks.Column {
	return sinks.Column{Name: name, Kind: t.kind, Nullable: t.nullable, Depth: t.depth, Map: t.mapped}
}
