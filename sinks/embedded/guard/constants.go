package guard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// The engine computes a call of constants at once. It puts up to a megabyte of the result
// into the name of each call around it. WITH repeat('a', 1000000) AS x, named 1,100 times in
// 36 KB, took 1.1 GB, and the daemon's writes failed for it. So the calls around long
// constants are counted.

// mostConstants is how many they may be: a megabyte each.
const mostConstants = 64

// growing are the functions whose result may be much longer than their arguments together, in
// lower case.
var growing = listed(`
	repeat space leftPad rightPad leftPadUTF8 rightPadUTF8 lpad rpad range arrayResize arrayWithConstant replicate timeSlots toFixedString
	replace replaceAll replaceOne replaceRegexpAll replaceRegexpOne REGEXP_REPLACE format arrayStringConcat array_to_string
	CAST _CAST accurateCast arrayFold`)

// smallNumber is up to which a number makes nothing long.
const smallNumber = 1000

// mayCompute looks at the constants of a statement.
func mayCompute(nodes []node, sql string) error {
	words, _ := sqltext.Tokens(sql)
	if constants(nodes)*written(words)/float64(len(words)) <= mostConstants {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: long constants are used too often here: materialize(…) them, or use shorter ones")
}

// constants counts the calls around what makes long constants, with what aliases stand for.
func constants(nodes []node) float64 {
	m := &meanings{all: aliases(nodes), known: map[string]float64{}}
	fixed := fixedNames(nodes, m.all)
	m.count = func(m *meanings, s span) (size float64) {
		var path []bool // whether a node on the way down is a call
		for i := s.from; i < s.to; i++ {
			n := nodes[i]
			path = append(path[:min(n.depth-nodes[s.from].depth, len(path))], n.kind == "Function")
			times := 0.
			switch {
			case n.kind == "Identifier":
				times = m.of(n.name)
			case n.kind == "Function" && makesLong(nodes, i, fixed):
				times = 1
			}
			if times > 0 {
				size += times * float64(calls(path))
			}
		}
		return size
	}
	return m.count(m, span{0, len(nodes)})
}

func calls(path []bool) (count int) {
	for _, is := range path {
		if is {
			count++
		}
	}
	return max(count, 1)
}

// fixedNames are those that may stand for a constant: parameters of lambdas, and aliases of what
// holds no column.
func fixedNames(nodes []node, aliases map[string][]span) map[string]bool {
	fixed := parameters(nodes)
	for name := range aliases {
		fixed[name] = true
	}
	for range 10 { // aliases of aliases; what is left counts as fixed
		for name, spans := range aliases {
			if fixed[name] && !slices.ContainsFunc(spans, func(s span) bool { return !holdsColumn(nodes[s.from:s.to], fixed) }) {
				fixed[name] = false
			}
		}
	}
	return fixed
}

// holdsColumn is true when a column stands in an expression; those within a subquery are its own.
func holdsColumn(nodes []node, fixed map[string]bool) bool {
	within := -1
	for _, n := range nodes {
		switch {
		case within >= 0 && n.depth > within:
			continue
		case n.kind == "Subquery":
			within = n.depth
		default:
			within = -1
			if n.kind == "Identifier" && !fixed[n.name] {
				return true
			}
		}
	}
	return false
}

// parameters are the names of lambdas' parameters.
func parameters(nodes []node) map[string]bool {
	all := map[string]bool{}
	for i, n := range nodes {
		if n.kind != "Function" || n.name != "lambda" {
			continue
		}
		if args := arguments(nodes, i); len(args) == 2 {
			for _, arg := range arguments(nodes, args[0]) {
				all[nodes[arg].name] = true
			}
		}
	}
	return all
}

// makesLong is true when a call may make a long constant: of no column, and not of small
// numbers and short texts alone. Names that are fixed stand for no column.
func makesLong(nodes []node, i int, fixed map[string]bool) bool {
	if !growing[strings.ToLower(nodes[i].name)] {
		return false
	}
	to := i + 1
	for to < len(nodes) && nodes[to].depth > nodes[i].depth {
		to++
	}
	if holdsColumn(nodes[i+1:to], fixed) {
		return false
	}
	short, letters := true, 0
	for _, n := range nodes[i+1 : to] {
		switch n.kind {
		case "Literal":
			short = short && small(n.text)
			letters += len(n.text)
		case "ExpressionList":
		default:
			short = false
		}
	}
	return !short || letters > smallNumber
}

// small is true when a literal is a text or a small number.
func small(text string) bool {
	text, _, _ = strings.Cut(text, " (alias ")
	if strings.HasPrefix(text, "'") {
		return !strings.Contains(text, "FixedString")
	}
	_, digits, isNumber := strings.Cut(text, "_")
	n, err := strconv.ParseFloat(digits, 64)
	return !isNumber || err == nil && n <= smallNumber
}
