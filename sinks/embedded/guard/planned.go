package guard

import (
	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// Each subquery that asks for * is planned with all columns of the one within it. Eighty
// around 500 columns, in 11 KB of text, took the engine 100 seconds and 500 MB, in which it
// looked at no limit; EXPLAIN of them went on for minutes after it was stopped. So the
// columns of all the SELECTs of a statement are estimated, with CTEs as often as they are
// named.

// mostPlanned is how many columns they may come to: 20,000 take four seconds or more.
const mostPlanned = 12_000

// selectColumns is what a SELECT comes to beside its columns: 1,400 of one took 25 MB, and
// twenty readers sent them at once.
const selectColumns = 20

// tableColumns is how many columns * of a table stands for, at most.
const tableColumns = 128

// mayPlan looks at how many columns the SELECTs of a statement have.
func mayPlan(nodes []node, sql string) error {
	p := newPlans(nodes, sql)
	if p.of(0).total <= mostPlanned {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: its SELECTs have too many columns here, one with another: name columns instead of *, or write fewer SELECTs")
}

// plan is what a part of a statement comes to: the columns that it gives to what is around
// it, and those of all SELECTs in it.
type plan struct{ width, total float64 }

// plans estimates the parts of a statement.
type plans struct {
	nodes    []node
	children [][]int
	named    map[string][]int // CTEs
	known    map[string]plan
}

func newPlans(nodes []node, sql string) *plans {
	p := &plans{nodes: nodes, children: make([][]int, len(nodes)), named: map[string][]int{}, known: map[string]plan{}}
	var path, ctes []int
	for i, n := range nodes {
		path = append(path[:min(n.depth, len(path))], i)
		if len(path) > 1 {
			above := path[len(path)-2]
			p.children[above] = append(p.children[above], i)
		}
		if n.kind == "WithElement" {
			ctes = append(ctes, i)
		}
	}
	p.name(ctes, sql)
	return p
}

// name finds the names of CTEs, which the tree does not tell: they stand in the text in the
// same order. Where that is not sure, each name may be that of any.
func (p *plans) name(ctes []int, sql string) {
	words, _ := sqltext.Tokens(sql)
	at := sqltext.Statement{Tokens: words}
	var names []string
	for i, t := range words {
		if open := meansAt(&at, i); open > 0 && t.Name() != "" && (at.At(open+1).Is("SELECT") || at.At(open+1).Is("WITH") || at.At(open+1).Symbol("(")) {
			names = append(names, t.Name())
		}
	}
	for i, name := range names {
		if len(names) == len(ctes) {
			p.named[name] = append(p.named[name], ctes[i])
		} else {
			p.named[name] = ctes
		}
	}
}

// of is what the part below a node comes to.
func (p *plans) of(i int) plan {
	if p.nodes[i].kind == "SelectQuery" {
		return p.selects(i)
	}
	var all plan
	for _, child := range p.children[i] {
		below := p.of(child)
		all = plan{max(all.width, below.width), all.total + below.total}
	}
	return all
}

// selects is what one SELECT comes to, with all that is within it.
func (p *plans) selects(i int) plan {
	s := selected{plans: p}
	for _, child := range p.children[i] {
		if p.nodes[child].kind == "ExpressionList" {
			s.columns += float64(len(p.children[child]))
		}
		s.take(child)
	}
	width := s.columns + s.stars*s.sources
	return plan{width, s.within + width + selectColumns}
}

// selected is what was found in one SELECT.
type selected struct {
	*plans
	columns, stars, sources, within float64
}

// take looks at a node of the SELECT and at those below it.
func (s *selected) take(i int) {
	n := s.nodes[i]
	switch {
	case n.kind == "WithElement": // counted where it is named
		return
	case n.kind == "SelectWithUnionQuery":
		s.within += s.of(i).total
		return
	case n.kind == "TableExpression":
		source := s.source(i)
		s.sources, s.within = s.sources+source.width, s.within+source.total
		return
	case n.kind == "Identifier": // x IN c
		s.within += s.meaning(n.name).total
	case n.manyColumns():
		s.stars++
	}
	for _, child := range s.children[i] {
		s.take(child)
	}
}

// source is what stands behind FROM or JOIN.
func (p *plans) source(i int) (all plan) {
	for _, child := range p.children[i] {
		one := p.of(child)
		if n := p.nodes[child]; n.kind == "TableIdentifier" {
			one = p.meaning(n.name)
			if one.width == 0 {
				one.width = tableColumns
			}
		}
		all = plan{all.width + max(one.width, 1), all.total + one.total}
	}
	return all
}

// meaning is what the CTEs of a name come to. One that names itself is a table there.
func (p *plans) meaning(name string) plan {
	if known, ok := p.known[name]; ok {
		return known
	}
	ctes, ok := p.named[name]
	if !ok {
		return plan{}
	}
	p.known[name] = plan{width: tableColumns}
	var all plan
	for _, i := range ctes {
		one := p.of(i)
		all = plan{max(all.width, one.width), max(all.total, one.total)}
	}
	p.known[name] = all
	return all
}

// meansAt is where the parenthesis opens of name AS (…), in WITH or WINDOW, when a word is
// such a name; 0 when it is none.
func meansAt(s *sqltext.Statement, i int) int {
	open := i + 1
	if s.At(open).Symbol("(") { // the names of its columns
		for open++; open < len(s.Tokens) && !s.At(open).Symbol(")") && !s.At(open).Symbol("("); open++ {
		}
		open++
	}
	if !s.At(open).Is("AS") {
		return 0
	}
	for open++; s.At(open).Is("MATERIALIZED") || s.At(open).Is("NOT"); open++ {
	}
	if !s.At(open).Symbol("(") {
		return 0
	}
	return open
}
