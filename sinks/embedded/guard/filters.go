package guard

import (
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// The engine looks for parts of a table that a filter makes needless. For that it names every
// part of the filter, and a name holds all that is within the part. WHERE least(least(least(id,
// t), t), t) = '' with a hundred calls and a text of 10 KB took 170 MB and seven seconds. With
// 480 calls it took gigabytes, for minutes after it was stopped, and the daemon's writes
// failed. What subqueries made of a column is written out in a name: 18 of SELECT x + x AS x
// took 900 MB. So the names of the parts of filters are estimated.

// longestFilters is what the names of all parts of a statement's filters may come to, in
// bytes, for each table that they are looked for in: it takes the engine some 15 MB
// where those are views.
const longestFilters = 5 << 19

// longConstant is how long the name is of a constant that a call computes, at most.
const longConstant = 1 << 20

// tableColumn is how long the name of a table's column is, with what a view makes of it.
const tableColumn = 40

// mayFilter looks at the filters of a statement.
func mayFilter(nodes []node, lambdas map[string][]int, sql string) error {
	if newFilters(nodes, lambdas, sql).source(0, nil).total <= longestFilters {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: its conditions grow too long here, with what they are made of in subqueries: use shorter texts, and fewer calls around them")
}

// lengths is how long the name of an expression is, and those of all its parts together.
type lengths struct {
	name, parts float64
	varies      bool // it is no constant, whose parts have no names
}

func (w lengths) longer(v lengths) lengths {
	return lengths{max(w.name, v.name), max(w.parts, v.parts), w.varies || v.varies}
}

// and are those of two expressions, beside one another.
func (w lengths) and(v lengths) lengths {
	return lengths{w.name + v.name, w.parts + v.parts, w.varies || v.varies}
}

// read is what a part of FROM, or a SELECT, gives to what is around it.
type read struct {
	columns map[string]lengths // by the end of their names; nil when those are not known
	longest lengths            // of all columns
	all     lengths            // all columns together
	tables  float64
	total   float64 // of the filters in it, for each of its tables
}

func (r read) and(s read) read {
	r.longest, r.all = r.longest.longer(s.longest), r.all.and(s.all)
	r.tables, r.total = r.tables+s.tables, r.total+s.total
	return r
}

// filters estimates those of a statement.
type filters struct {
	*plans
	lambdas map[string][]int
	given   map[string]bool // names of lambdas' parameters
	fixed   map[string]bool // names that may stand for constants
	renamed bool            // a CTE names its columns anew
	ctes    map[string]read
	bound   map[string]int // parameters of the lambdas that are looked at
	within  map[int]read   // of subqueries in expressions
}

func newFilters(nodes []node, lambdas map[string][]int, sql string) *filters {
	f := &filters{plans: newPlans(nodes, sql), lambdas: lambdas, given: parameters(nodes), ctes: map[string]read{}, within: map[int]read{}, bound: map[string]int{}}
	f.fixed = fixedNames(nodes, aliases(nodes))
	words, _ := sqltext.Tokens(sql)
	at := sqltext.Statement{Tokens: words}
	for i := range words {
		f.renamed = f.renamed || at.At(i+1).Symbol("(") && meansAt(&at, i) > 0
	}
	return f
}

// scope is where names are looked for: in a SELECT, and in those around it.
type scope struct {
	around  *scope
	aliases map[string][]int
	known   map[string]lengths
	from    []read
	bodies  map[string]lengths
	total   float64 // of the filters in subqueries of expressions
}

// source is what the part below a node gives.
func (f *filters) source(i int, around *scope) (all read) {
	n := f.nodes[i]
	switch n.kind {
	case "SelectQuery":
		return f.selects(i, around)
	case "TableIdentifier":
		if cte, ok := f.cte(n.name); ok {
			return cte
		}
		fallthrough
	case "Function":
		all = table()
	}
	parts := 0
	for _, child := range f.children[i] {
		kind := f.nodes[child].kind
		if kind == "WithElement" || n.kind == "TableExpression" && kind == "ExpressionList" {
			continue
		}
		below := f.source(child, around)
		if below.tables == 0 {
			continue
		}
		all, all.columns = all.and(below), below.columns
		parts++
	}
	if parts > 1 || n.kind == "TableExpression" && len(f.children[i]) > 1 {
		all.columns = nil // named as those of the first, or anew
	}
	return all
}

func table() read {
	one := lengths{tableColumn, tableColumn, true}
	return read{columns: map[string]lengths{}, longest: one, all: lengths{tableColumn * tableColumns, tableColumn * tableColumns, true}, tables: 1}
}

// cte is what the CTEs of a name give. One that names itself is a table there.
func (f *filters) cte(name string) (read, bool) {
	if known, ok := f.ctes[name]; ok {
		return known, true
	}
	elements, ok := f.named[name]
	if !ok {
		return read{}, false
	}
	f.ctes[name] = table()
	var all read
	for _, i := range elements {
		for _, child := range f.children[i] {
			one := f.source(child, nil)
			all, all.columns = all.and(one), one.columns
		}
	}
	if f.renamed || len(elements) > 1 {
		all.columns = nil
	}
	f.ctes[name] = all
	return all, true
}

// selects is what one SELECT gives.
func (f *filters) selects(i int, around *scope) read {
	s := &scope{around: around, aliases: map[string][]int{}, known: map[string]lengths{}, bodies: map[string]lengths{}}
	f.scan(i, s)
	clear(s.known) // where a subquery asked, not all was there
	clear(s.bodies)
	out := read{columns: map[string]lengths{}}
	for _, from := range s.from {
		out.tables, out.total = out.tables+from.tables, out.total+from.total
	}
	out.tables = max(out.tables, 1)
	conditions := 0.
	for _, child := range f.children[i] {
		switch f.nodes[child].kind {
		case "ExpressionList":
			for _, item := range f.children[child] {
				f.gives(&out, item, s)
			}
		case "TablesInSelectQuery":
			conditions += f.joined(child, s)
		default:
			conditions += f.expression(child, s).parts
		}
	}
	out.total += conditions*out.tables + s.total
	return out
}

// scan finds the aliases and the sources of a SELECT.
func (f *filters) scan(i int, s *scope) {
	for _, child := range f.children[i] {
		n := f.nodes[child]
		if n.kind == "TableExpression" {
			s.from = append(s.from, f.source(child, s))
			continue
		}
		if found := aliasOf.FindStringSubmatch(n.text); found != nil {
			s.aliases[found[1]] = append(s.aliases[found[1]], child)
		}
		if n.kind != "SelectWithUnionQuery" && n.kind != "WithElement" {
			f.scan(child, s)
		}
	}
}

// joined are the conditions of JOINs.
func (f *filters) joined(i int, s *scope) (parts float64) {
	for _, child := range f.children[i] {
		switch f.nodes[child].kind {
		case "TableExpression":
		case "TableJoin":
			for _, condition := range f.children[child] {
				parts += f.expression(condition, s).parts
			}
		default:
			parts += f.joined(child, s)
		}
	}
	return parts
}

// gives adds what one expression of a list gives.
func (f *filters) gives(out *read, i int, s *scope) {
	n := f.nodes[i]
	if n.kind == "WithElement" {
		return
	}
	if n.manyColumns() {
		f.givesAll(out, i, s)
		return
	}
	w := f.expression(i, s)
	if found := aliasOf.FindStringSubmatch(n.text); found != nil {
		out.set(found[1], w)
	} else if n.kind == "Identifier" {
		out.set(n.name, w)
		out.set(lastName(n.name), w)
	}
	out.longest, out.all = out.longest.longer(w), out.all.and(w)
}

func (r *read) set(name string, w lengths) {
	if r.columns != nil {
		r.columns[name] = r.columns[name].longer(w)
	}
}

// givesAll adds what * gives.
func (f *filters) givesAll(out *read, i int, s *scope) {
	changed := lengths{}
	for _, child := range f.children[i] {
		changed = changed.and(f.list(child, s))
	}
	for _, from := range s.from {
		if changed.name > 0 || from.columns == nil {
			out.columns = nil
		}
		for name, w := range from.columns {
			out.set(name, w)
		}
		out.longest, out.all = out.longest.longer(from.longest.and(changed)), out.all.and(from.all)
	}
	out.longest = out.longest.longer(changed)
}

// list is what all expressions below a node come to.
func (f *filters) list(i int, s *scope) (all lengths) {
	switch n := f.nodes[i]; n.kind {
	case "Identifier", "Literal", "Function", "Subquery", "SelectWithUnionQuery":
		return f.expression(i, s)
	}
	all.name = float64(len(f.nodes[i].text))
	for _, child := range f.children[i] {
		all = all.and(f.list(child, s))
	}
	return all
}

// expression is what one expression comes to.
func (f *filters) expression(i int, s *scope) lengths {
	if found := aliasOf.FindStringSubmatch(f.nodes[i].text); found != nil {
		if meant, ok := s.alias(f, found[1]); ok {
			return meant
		}
	}
	return f.meant(i, s)
}

// meant is what one expression comes to, whatever it is called.
func (f *filters) meant(i int, s *scope) (w lengths) {
	n := f.nodes[i]
	switch {
	case n.kind == "Identifier":
		w = s.name(f, n.name)
		w.varies = f.bound[n.name] == 0
		return w
	case n.kind == "Literal":
		return lengths{name: float64(len(n.text)), parts: float64(len(n.text))}
	case n.kind == "SelectWithUnionQuery":
		within, known := f.within[i]
		if !known {
			within = f.source(i, s)
			f.within[i] = within
			s.total += within.total
		}
		w = within.longest
		w.varies = true
		return w
	case n.kind == "Function" && n.name == "lambda" && aliasOf.MatchString(n.text):
		return w // where it is called
	case n.manyColumns():
		for _, from := range s.from {
			w = w.and(from.all)
		}
	}
	if n.name == "lambda" {
		defer f.bind(i)()
	}
	for _, child := range f.children[i] {
		w = w.and(f.expression(child, s))
	}
	if n.kind != "Function" {
		return w
	}
	if set := setOf(f.nodes, i); set > 0 { // it has a name of its own
		length := float64(len(f.nodes[set].text))
		w.name, w.parts = w.name-length, w.parts-length
	}
	w.name += float64(len(n.name) + 4)
	if makesLong(f.nodes, i, f.fixed) {
		w.name = max(w.name, longConstant)
	}
	w.parts += w.name
	if _, defined := f.lambdas[n.name]; defined {
		body := f.body(n.name, s)
		w = lengths{w.name * body.name, w.parts*body.name + w.name*body.parts, true}
	}
	if !w.varies {
		w.parts = w.name
	}
	return w
}

// bind makes the names of a lambda's parameters theirs, until unbind.
func (f *filters) bind(i int) (unbind func()) {
	args := arguments(f.nodes, i)
	if len(args) != 2 {
		return func() {}
	}
	all := arguments(f.nodes, args[0])
	for _, at := range all {
		f.bound[f.nodes[at].name]++
	}
	return func() {
		for _, at := range all {
			f.bound[f.nodes[at].name]--
		}
	}
}

// body is what a lambda with a name comes to.
func (f *filters) body(name string, s *scope) lengths {
	if known, ok := s.bodies[name]; ok {
		return known
	}
	s.bodies[name] = lengths{1, 1, true}
	var all lengths
	for _, at := range f.lambdas[name] {
		for _, child := range f.children[at] {
			all = all.longer(f.expression(child, s))
		}
	}
	s.bodies[name] = all
	return all
}

// name is what a name comes to: that of an alias, a column or both. With a parenthesis it may
// be one that the engine has made of an expression.
func (s *scope) name(f *filters, name string) lengths {
	w := lengths{name: float64(len(name)), parts: float64(len(name))}
	made := strings.Contains(name, "(")
	as := []string{name}
	if first, _, more := strings.Cut(name, "."); more && !made {
		as = append(as, first, lastName(name))
	}
	found := false
	for _, one := range as {
		for _, from := range s.from {
			if column, ok := from.columns[one]; ok {
				w, found = w.longer(column), true
			}
		}
		if meant, ok := s.alias(f, one); ok {
			w, found = w.longer(meant), true
		}
		for at := s.around; at != nil && !found; at = at.around {
			if meant, ok := at.alias(f, one); ok {
				w = w.longer(meant)
			}
		}
		if _, defined := f.lambdas[one]; defined {
			w = w.longer(f.body(one, s))
		}
	}
	if found && !made {
		return w
	}
	for at := s; at != nil; at = at.around {
		for _, from := range at.from {
			if made || from.columns == nil || !f.given[name] {
				w = w.longer(from.longest)
			}
		}
	}
	return w
}

// alias is what an alias of this SELECT comes to. Within its own meaning it is a column.
func (s *scope) alias(f *filters, name string) (w lengths, ok bool) {
	at, ok := s.aliases[name]
	if !ok {
		return w, false
	}
	if known, ok := s.known[name]; ok {
		return known, known.name > 0
	}
	s.known[name] = lengths{}
	for _, i := range at {
		w = w.longer(f.meant(i, s))
	}
	w.varies = true // elsewhere a name in it may be another's
	s.known[name] = w
	return w, true
}

// setOf is where the values stand that IN looks for, 0 for none.
func setOf(nodes []node, i int) int {
	switch strings.ToLower(nodes[i].name) {
	case "in", "notin", "globalin", "globalnotin":
	default:
		return 0
	}
	if args := arguments(nodes, i); len(args) == 2 && nodes[args[1]].kind == "Literal" {
		return args[1]
	}
	return 0
}

func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
