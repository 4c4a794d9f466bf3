package guard

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// What takes a type or a zone is looked at only if it can be called.
func TestWhatTakesTypesAndZonesCanBeCalled(t *testing.T) {
	for _, takes := range []map[string]int{typed, zoned} {
		for name := range takes {
			if !mayCall[name] {
				t.Errorf("%s takes a type or a zone, and readers cannot call it", name)
			}
		}
	}
}

func TestTypesThatReadersMayName(t *testing.T) {
	for text, want := range map[string]string{
		"Nullable(Decimal(18, 2))": "", "Tuple(n UInt8, text String)": "", "Enum8('a b' = 1, 'JSON' = -2)": "", "DateTime64(6, 'Europe/Bucharest')": "",
		"Array(Tuple(JSON String))": "", "Map(String,UInt8)": "", "Map(LowCardinality(String),UInt8)": "LowCardinality", "Tuple(UInt8, String)": "",
		"JSON": "JSON", "Array(Dynamic)": "Dynamic", "Variant(UInt8, String)": "Variant", "Tuple(a Variant(UInt8))": "Variant", "AggregateFunction(sum, UInt8)": "AggregateFunction",
		"Tuple(a, b JSON)": "a", "Nested(a UInt8)": "Nested", "Point": "Point", "JSON(a UInt8)": "JSON", "Array( JSON )": "JSON", "Array(\tQBit(Float32, 3))": "QBit",
		"Tuple(a\nJSON)": "JSON", "Object('json')": "Object", "Enum8('a\\'', 'JSON')": "", "Tuple(a -- \nJSON)": "a",
	} {
		if got := otherType(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if len(plainTypes) < 40 || strings.ContainsAny(strings.Join(slices.Collect(maps.Keys(plainTypes)), ""), "ABC") {
		t.Error(plainTypes)
	}
}
