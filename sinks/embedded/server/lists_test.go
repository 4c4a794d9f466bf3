package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/guard"
)

// syntaxFunctions are what the tree says of syntax, and not in the engine's list.
var syntaxFunctions = []string{"lambda", "exists", "grouping"}

// Every name on the list is one of the engine's: a typing error would refuse a function
// without a word.
func TestTheListOfFunctionsIsTheEngines(t *testing.T) {
	known := map[string]bool{}
	for _, name := range listed(t, openWarehouse(t), "SELECT lower(name) FROM system.functions") {
		known[name[0]] = true
	}
	for _, name := range guard.Functions() {
		if !known[name] && !slices.Contains(syntaxFunctions, name) {
			t.Errorf("the engine has no function %s", name)
		}
	}
}

// Likewise the settings: the engine would refuse to be given one that it does not know.
func TestTheListOfSettingsIsTheEngines(t *testing.T) {
	engine := openWarehouse(t)
	for _, name := range guard.Settings() {
		if !engine.settings[name] {
			t.Errorf("the engine has no setting %s", name)
		}
	}
}

func TestReadersCallWhatIsOnTheList(t *testing.T) {
	engine := openWarehouse(t)
	for name, want := range map[string]bool{
		"sum": true, "SUM": true, "sumIf": true, "sumDistinctIf": true, "quantilesExactIf": true, "groupArrayArray": true, "sumMap": true, "argMaxMerge": true,
		"file": false, "FILE": false, "fileIf": false, "groupFormat": false, "groupFormatIf": false, "sumResample": false, "dictGetString": false,
		"If": true, "stateIf": false, "": false, "IfIf": true, "joinGetOrNull": false, "__actionName": false, "noSuch": false, "noSuchIf": false, "sum" + strings.Repeat("If", 20): true, "sum" + strings.Repeat("If", 100_000): false, "countDistinct": true,
	} {
		if got := engine.guard.TakesFunction(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
