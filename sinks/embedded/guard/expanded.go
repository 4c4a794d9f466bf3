package guard

import (
	"regexp"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// The engine takes what a name stands for anew wherever the name is used: the columns of
// a WITH, what a window is ordered by, an expression with an alias. A hundred KB of it,
// used some thousand times, take gigabytes and a minute before a limit is looked at. So
// what a statement comes to, with names written out, is estimated.

// mostExpanded is how many nodes a statement may come to: 8 million took 2 GB.
const mostExpanded = 400_000

// mayExpand looks at how long a statement becomes.
func mayExpand(nodes []node, sql string) error {
	words, _ := sqltext.Tokens(sql)
	if expanded(nodes, words) <= mostExpanded {
		return nil
	}
	return expandsTooFar()
}

// expanded is how many nodes a statement comes to. The two estimates multiply, since each
// kind of name can stand within the other.
func expanded(nodes []node, words []sqltext.Token) float64 {
	return written(words) / float64(len(words)) * aliased(nodes)
}

// mayRepeat looks at how often WITH is written out as soon as the engine reads the
// statement: in each part of a UNION.
func mayRepeat(s *sqltext.Statement) error {
	parts, with := 1, false
	for _, t := range s.Tokens {
		with = with || t.Is("WITH")
		if t.Is("UNION") || t.Is("INTERSECT") || t.Is("EXCEPT") {
			parts++
		}
	}
	if !with || parts*len(s.Tokens) <= mostExpanded {
		return nil
	}
	return expandsTooFar()
}

func expandsTooFar() error {
	return exception.Readonly("Cannot execute query in readonly mode: WITH, WINDOW and aliases stand for too much here: use long ones fewer times")
}

// span is a part of a list.
type span struct{ from, to int }

// meanings are what names stand for.
type meanings struct {
	all   map[string][]span
	known map[string]float64
	count func(m *meanings, s span) float64
}

// of is the length of what a name stands for. A name within its own meaning is that of a
// column.
func (m *meanings) of(name string) float64 {
	if size, ok := m.known[name]; ok {
		return size
	}
	spans, ok := m.all[name]
	if !ok {
		return 0
	}
	m.known[name] = 0
	size := 0.
	for _, s := range spans {
		size += m.count(m, s)
	}
	m.known[name] = size
	return size
}

// written is how many words a statement has when those of name AS (…), in WITH or WINDOW,
// stand wherever the name does.
func written(words []sqltext.Token) float64 {
	at := sqltext.Statement{Tokens: words}
	m := &meanings{all: map[string][]span{}, known: map[string]float64{}}
	begins := map[int]bool{}
	for i, t := range words {
		if open := meansAt(&at, i); open > 0 && t.Name() != "" {
			begins[i] = true
			m.all[t.Name()] = append(m.all[t.Name()], span{open, closing(words, open)})
		}
	}
	m.count = func(m *meanings, s span) (size float64) {
		for i := s.from; i < s.to; i++ {
			size++
			if name := words[i].Name(); name != "" && !begins[i] && !at.At(i+1).Symbol(".") {
				size += m.of(name)
			}
		}
		return size
	}
	return m.count(m, span{0, len(words)})
}

// closing is where the parenthesis that opens at i ends.
func closing(words []sqltext.Token, i int) int {
	depth := 0
	for ; i < len(words); i++ {
		switch {
		case words[i].Symbol("("):
			depth++
		case words[i].Symbol(")"):
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return i
}

var aliasOf = regexp.MustCompile(`\(alias (.*?)\)(?: \(children \d+\))?$`)

// aliased is how many nodes a statement has when expressions stand wherever their alias
// does.
func aliased(nodes []node) float64 {
	m := &meanings{all: aliases(nodes), known: map[string]float64{}}
	m.count = func(m *meanings, s span) (size float64) {
		for _, n := range nodes[s.from:s.to] {
			size++
			if n.kind != "Identifier" {
				continue
			}
			name, _, _ := strings.Cut(n.name, ".")
			size += max(m.of(n.name), m.of(name))
		}
		return size
	}
	return m.count(m, span{0, len(nodes)})
}

// aliases are where the expressions stand that have one.
func aliases(nodes []node) map[string][]span {
	all := map[string][]span{}
	for i, n := range nodes {
		if n.parent == "TableExpression" {
			continue
		}
		if found := aliasOf.FindStringSubmatch(n.text); found != nil {
			to := i + 1
			for to < len(nodes) && nodes[to].depth > n.depth {
				to++
			}
			all[found[1]] = append(all[found[1]], span{i, to})
		}
	}
	return all
}
