package embedded

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// syntaxFunctions are what the tree says of syntax, and not in the engine's list.
var syntaxFunctions = []string{"lambda", "exists", "grouping"}

// Every name on the list is one of the engine's: a typing error would refuse a function
// without a word. What takes a type or a zone is looked at only if it can be called.
func TestTheListOfFunctionsIsTheEngines(t *testing.T) {
	engine := openWarehouse(t)
	for _, name := range slices.Sorted(maps.Keys(mayCall)) {
		if !engine.functions[name] && !slices.Contains(syntaxFunctions, name) {
			t.Errorf("the engine has no function %s", name)
		}
	}
	for _, takes := range []map[string]int{typed, zoned} {
		for name := range takes {
			if !mayCall[name] {
				t.Errorf("%s takes a type or a zone, and readers cannot call it", name)
			}
		}
	}
}

// Likewise the settings: the engine would refuse to be given one that it does not know.
func TestTheListOfSettingsIsTheEngines(t *testing.T) {
	engine := openWarehouse(t)
	for name := range maySet {
		if !engine.names[name] {
			t.Errorf("the engine has no setting %s", name)
		}
	}
}

func TestReadersCallWhatIsOnTheList(t *testing.T) {
	engine := openWarehouse(t)
	for name, want := range map[string]bool{
		"sum": true, "SUM": true, "sumIf": true, "sumDistinctIf": true, "quantilesExactIf": true, "groupArrayArray": true, "sumMap": true, "argMaxMerge": true,
		"file": false, "FILE": false, "fileIf": false, "groupFormat": false, "groupFormatIf": false, "sumResample": false, "dictGetString": false,
		"If": true, "stateIf": false, "": false, "IfIf": true, "joinGetOrNull": false, "__actionName": false, "noSuch": false, "noSuchIf": false, "countDistinct": true,
	} {
		if got := engine.takesFunction(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestTypesThatReadersMayName(t *testing.T) {
	for text, want := range map[string]string{
		"Nullable(Decimal(18, 2))": "", "Tuple(n UInt8, text String)": "", "Enum8('a b' = 1, 'JSON' = -2)": "", "DateTime64(6, 'Europe/Bucharest')": "",
		"Array(Tuple(JSON String))": "", "Map(LowCardinality(String),UInt8)": "", "Tuple(UInt8, String)": "",
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
