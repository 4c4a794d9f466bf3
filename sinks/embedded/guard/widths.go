package guard

import (
	"math"
	"slices"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// A type is known by its name, and that of (x, x) holds the name of x's type twice. A
// subquery that takes (x, x) of the one within it doubles it again: 600 bytes of text
// make a name of gigabytes. The engine writes it in one go, in which it looks at neither
// the clock nor a limit of memory, and meanwhile refuses all others theirs, the daemon's
// inserts too. So what a statement can make of types is estimated: its length, times the
// arguments of each call that puts their types together.

// widestTypes is what a statement's types may come to. With 2^24.2 an error that quotes them
// takes 140 MB, with 2^26.2 more than 700, and ten readers may ask at once.
const widestTypes = 24 // bits

// joining are the functions whose type holds those of several arguments, in lower case.
// A test asks the engine whether these are all.
var joining = listed("tuple map tupleConcat arrayZip arrayZipUnaligned mapFromArrays MAP_FROM_ARRAYS")

// Joins is true when a function's type holds those of its arguments. Those of sumMap and
// its like are arrays of both keys and values, that of a state names all.
func Joins(name string) bool {
	name = strings.ToLower(name)
	lists := !strings.HasPrefix(name, "array") && !strings.HasPrefix(name, "map")
	return joining[name] || strings.Contains(name, "state") || lists && strings.Contains(name, "map")
}

// mayWiden looks at how wide the types of a statement can become.
func mayWiden(nodes []node, lambdas map[string][]int, sql string) error {
	w := widths{nodes: nodes, lambdas: lambdas, known: map[string]float64{}, lists: lists(nodes), columns: columns(nodes), texts: map[int]bool{}}
	if math.Log2(float64(len(sql)))+w.below(0, len(nodes)) <= widestTypes {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: tuples or maps made of others grow too wide here: make fewer of them in one statement")
}

// lambdasOf are the names that a statement gives to lambdas, WITH x -> x + 1 AS f, and
// where each is defined, in whatever scope.
func lambdasOf(nodes []node) map[string][]int {
	all := map[string][]int{}
	for i, n := range nodes {
		name, ok := strings.CutPrefix(n.text, "lambda (alias ")
		if !ok || n.kind != "Function" {
			continue
		}
		if name, ok = strings.CutSuffix(name, ") (children 1)"); ok {
			all[name] = append(all[name], i)
		}
	}
	return all
}

// widths estimates, in bits: factors are added.
type widths struct {
	nodes   []node
	lambdas map[string][]int
	known   map[string]float64 // of the bodies of each
	lists   map[int]bool
	columns float64
	texts   map[int]bool // calls of concat that make a text, or not
}

// below is by what the nodes of [from, to) can multiply a type.
func (w *widths) below(from, to int) (bits float64) {
	for i := from; i < to; i++ {
		n := w.nodes[i]
		if _, named := w.lambdas[n.name]; named && (n.kind == "Function" || n.kind == "Identifier") {
			bits += w.body(n.name)
		}
		if n.kind == "Function" {
			bits += w.joined(i)
		}
	}
	return bits
}

// joined is the factor by which one call multiplies the length of a type.
func (w *widths) joined(i int) float64 {
	args := arguments(w.nodes, i)
	switch {
	case Joins(w.nodes[i].name) && !w.lists[i]:
	case strings.EqualFold(w.nodes[i].name, "concat") && !w.text(i): // of tuples
	case len(args) > 1 && w.nodes[args[0]].kind == "Identifier" && joining[strings.ToLower(w.nodes[args[0]].name)]:
		args = args[1:] // arrayMap(tuple, a, b)
	default:
		return 0
	}
	for _, arg := range args {
		if !w.nodes[arg].single() {
			return w.columns
		}
	}
	return math.Log2(float64(max(len(args), 1)))
}

// text is true when a value is a text: a literal, or concat of one with others.
func (w *widths) text(i int) bool {
	n := w.nodes[i]
	if n.kind != "Function" || !strings.EqualFold(n.name, "concat") {
		return n.kind == "Literal" && strings.HasPrefix(n.text, "'") || n.kind == "Function" && strings.EqualFold(n.name, "toString")
	}
	is, known := w.texts[i]
	if !known {
		is = slices.ContainsFunc(arguments(w.nodes, i), w.text)
		w.texts[i] = is
	}
	return is
}

// single is true when an argument is one value.
func (n node) single() bool {
	return n.kind == "Literal" || n.kind == "Identifier" || n.kind == "Function" || n.kind == "Subquery"
}

// columns is how many columns * can stand for, at most: as many as the statement names or
// a table has, and each further * and table may double them.
func columns(nodes []node) float64 {
	bits := math.Log2(float64(max(len(nodes), 256)))
	for _, n := range nodes {
		if n.kind == "TablesInSelectQueryElement" || n.manyColumns() {
			bits++
		}
	}
	return bits
}

// lists are the tuples that list what IN looks for or the parameters of a lambda: their
// types go no further.
func lists(nodes []node) map[int]bool {
	all := map[int]bool{}
	for i, n := range nodes {
		name, at := strings.ToLower(n.name), 1
		if name == "lambda" {
			at = 0
		}
		if n.kind != "Function" || at == 1 && name != "in" && name != "notin" {
			continue
		}
		if args := arguments(nodes, i); len(args) == 2 && !strings.Contains(nodes[args[at]].text, "(alias ") {
			all[args[at]] = true
		}
	}
	return all
}

// body is the factor of calls of a lambda. For one that calls itself, which the engine
// refuses too, it is infinite.
func (w *widths) body(name string) float64 {
	if bits, ok := w.known[name]; ok {
		return bits
	}
	w.known[name] = math.Inf(1)
	bits := 0.
	for _, at := range w.lambdas[name] {
		to := at + 1
		for to < len(w.nodes) && w.nodes[to].depth > w.nodes[at].depth {
			to++
		}
		bits += w.below(at+1, to)
	}
	w.known[name] = bits
	return bits
}
