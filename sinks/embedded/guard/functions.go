package guard

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

//go:embed reader-functions.txt
var readerFunctions string

// mayCall are the functions that readers may call, in lower case. What the engine
// has beside them reaches files, programs or other hosts, takes names of those in texts,
// does not end, takes memory that nobody counts, ends the process, or was not looked at.
var mayCall = listed(readerFunctions)

// listed are the words of a list, in lower case; # begins a remark.
func listed(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(line) {
			all[strings.ToLower(name)] = true
		}
	}
	return all
}

// Functions are the functions that readers may call, in lower case, without combinators.
func Functions() []string { return slices.Sorted(maps.Keys(mayCall)) }

// combinators are what may be added to the name of an aggregate function: sumIf,
// sumDistinctIf. Resample makes as many states as its parameters say, and readers may
// not use it.
var combinators = map[string]bool{
	"if": true, "array": true, "map": true, "ornull": true, "ordefault": true, "distinct": true, "state": true, "merge": true, "foreach": true,
	"argmin": true, "argmax": true, "tuple": true, "resample": false, "simplestate": false,
}

// longestFunction is how long the name of a function can be, combinators included. Each
// combinator is cut off the rest, which takes seconds for names of 100 KB.
const longestFunction = 200

// has is true when the engine has a function of this name, combinators included.
func (g *Guard) has(name string) bool {
	if len(name) > longestFunction {
		return true // so that it is refused
	}
	lower := strings.ToLower(name)
	if g.functions[lower] {
		return true
	}
	for suffix := range combinators {
		if base, ok := strings.CutSuffix(lower, suffix); ok && base != "" && g.has(base) {
			return true
		}
	}
	return false
}

// TakesFunction is true when readers may call a function of this name. One that the
// engine has by itself must be on the list by itself.
func (g *Guard) TakesFunction(name string) bool {
	if len(name) > longestFunction {
		return false
	}
	lower := strings.ToLower(name)
	if mayCall[lower] || g.functions[lower] {
		return mayCall[lower]
	}
	for suffix, may := range combinators {
		if base, ok := strings.CutSuffix(lower, suffix); ok && may && base != "" && g.TakesFunction(base) {
			return true
		}
	}
	return false
}

// refuseFunction is the error for a function that is not allowed.
func (g *Guard) refuseFunction(name string) error {
	if g.has(name) || g.denied[strings.ToLower(name)] {
		return exception.Readonly("Cannot execute query in readonly mode: function %s is not taken here", name)
	}
	return unknown(function, name)
}
