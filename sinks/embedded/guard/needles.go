package guard

import (
	"slices"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// Some functions compare each of their values with each of another. The engine looks for
// concat(repeat('a', 500000), 'b') in a megabyte of a for minutes, in which nothing stops it.
// hasAll(range(1000000), …) takes as long, and so does arrayIntersect for some rows. With a
// constant text it has a quicker way, and with few values there is less to do. So one of the
// two is a short text or list that stands in the statement, or both are made of a table's
// columns, in a statement of one SELECT.

// needled are those functions, in lower case.
var needled = listed(`
	position positionCaseInsensitive positionUTF8 positionCaseInsensitiveUTF8 instr locate countSubstrings countSubstringsCaseInsensitive
	replace replaceAll replaceOne hasAll hasAny hasSubstr arrayIntersect
	hasSubsequence hasSubsequenceUTF8 hasSubsequenceCaseInsensitive hasSubsequenceCaseInsensitiveUTF8`)

// composing are functions that take a time with the square of a run of combining marks, in lower
// case: half a megabyte of them took minutes.
var composing = listed(`
	normalizeUTF8NFC normalizeUTF8NFD normalizeUTF8NFKC normalizeUTF8NFKD normalizeUTF8NFKCCasefold removeDiacriticsUTF8 removeAccentsUTF8`)

// scanning are functions that go through the list or map of each row, in lower case. One of a
// million that is the same for all rows took hours; one that each row has for itself takes
// memory, which has a limit.
var scanning = listed(`
	has indexOf indexOfAssumeSorted countEqual arrayElement arrayElementOrNull
	mapContains mapContainsKey mapContainsValue mapContainsKeyLike mapContainsValueLike mapExtractKeyLike mapExtractValueLike`)

// longestNeedle is how long such a text may be, in the tree's letters.
const longestNeedle = 10_000

// mayFind looks at what is looked for.
func mayFind(nodes []node) error {
	w := seen{nodes: nodes, aliases: aliases(nodes), given: parameters(nodes)}
	for _, n := range nodes {
		if n.kind == "SelectQuery" {
			w.selects++
		}
	}
	for i, n := range nodes {
		if err := w.mayRepeatedly(i); err != nil {
			return err
		}
		if err := w.mayCompose(i); err != nil {
			return err
		}
		if err := w.mayScan(i); err != nil {
			return err
		}
		if !needled[strings.ToLower(n.name)] || n.kind != "Function" {
			continue
		}
		args := arguments(nodes, i)
		if len(args) < 2 {
			continue // the engine refuses it
		}
		if w.short(args[0]) || w.short(args[1]) || w.stored(args[0], 0) && w.stored(args[1], 0) {
			continue
		}
		return exception.Readonly("Cannot execute query in readonly mode: what %s looks for is taken as a short text or list here, or as a column of the same table in a statement of one SELECT, not computed", n.name)
	}
	return nil
}

// mayCompose looks at the text of one call.
func (w *seen) mayCompose(i int) error {
	n := w.nodes[i]
	args := arguments(w.nodes, i)
	if n.kind != "Function" || !composing[strings.ToLower(n.name)] || len(args) == 0 || w.short(args[0]) || w.stored(args[0], 0) {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: the text of %s is taken as it stands in the statement here, or as a column of a table in a statement of one SELECT, not computed", n.name)
}

// mayScan looks at the list or map of one call.
func (w *seen) mayScan(i int) error {
	n := w.nodes[i]
	args := arguments(w.nodes, i)
	if n.kind != "Function" || !scanning[strings.ToLower(n.name)] || len(args) < 2 || w.short(args[0]) || w.stored(args[0], 0) {
		return nil
	}
	if _, written := w.size(args[0], 0); written || !w.makesLists() {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: %s is taken of a written list here, or of one that is made of a row's columns: use IN, or JOIN", n.name)
}

// makesLists is true when a statement computes long constants, be it by a subquery that stands
// for a value.
func (w *seen) makesLists() bool {
	if w.lists == nil {
		fixed := fixedNames(w.nodes, w.aliases)
		within, makes := -1, false // the subquery that stands for a value
		for i, n := range w.nodes {
			if n.depth <= within {
				within = -1
			}
			if n.kind == "Subquery" && n.parent != "TableExpression" && within < 0 {
				within = n.depth
			}
			makes = makes || n.kind == "Function" && (makesLong(w.nodes, i, fixed) || within >= 0 && collects(n.name))
		}
		w.lists = &makes
	}
	return *w.lists
}

// collects is true when a function may make a list or a map of many rows.
func collects(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"group", "arr", "map", "topk", "quantiles", "range", "split", "tokens", "ngrams"}, func(part string) bool { return strings.Contains(name, part) })
}

// seen tells what stands in a statement from what it computes.
type seen struct {
	nodes   []node
	aliases map[string][]span
	given   map[string]bool // parameters of lambdas
	selects int
	lists   *bool // what makesLists says, once it was asked
}

func (w *seen) short(i int) bool {
	size, is := w.size(i, 0)
	return is && size <= longestNeedle
}

// listsValues are the calls that a written list consists of, with joinsTexts.
var listsValues = listed("array tuple negate")

// size is how long a written text or list is.
func (w *seen) size(i, depth int) (size int, is bool) {
	n := w.nodes[i]
	lower := strings.ToLower(n.name)
	switch {
	case depth > 10:
		return 0, false
	case n.kind == "Literal":
		return len(n.text), true
	case n.kind == "Identifier" && w.selects == 1 && !w.given[n.name] && len(w.aliases[n.name]) == 1:
		return w.size(w.aliases[n.name][0].from, depth+1)
	case n.kind != "Function" || !joinsTexts[lower] && !listsValues[lower]:
		return 0, false
	}
	for _, arg := range arguments(w.nodes, i) {
		part, is := w.size(arg, depth+1)
		if !is {
			return 0, false
		}
		size += part
	}
	return size, true
}

// column is true when a value is that of a table's column. With a second SELECT it could be what
// that one makes, whatever it is called.
func (w *seen) column(i int) bool {
	n := w.nodes[i]
	return n.kind == "Identifier" && w.selects == 1 && !strings.Contains(n.name, "(") &&
		!slices.ContainsFunc(strings.Split(n.name, "."), func(part string) bool { return w.given[part] || w.aliases[part] != nil })
}
