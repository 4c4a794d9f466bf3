package guard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// A statement of a reader passes three checks before it runs, since each of them misses
// something. They look at:
//
//   - its words, which Larder's own lexer reads.
//   - its class: the engine's parser knows what a statement does.
//   - its tree: the engine's parser shows what it has understood.
//
// Behind them stand readonly=1 and the engine's access control. Neither readonly=1 nor the
// constraints of settings hold within a subquery, so no SETTINGS may stand there.

// Guard is what this version of the engine has, and what readers may use of it.
type Guard struct {
	functions    map[string]bool // all that the engine has, in lower case
	settings     map[string]bool // likewise
	types        map[string]bool // the words of their names, in lower case
	formats      map[string]bool // in lower case
	denied       map[string]bool // table functions that readers may not call, in lower case
	deniedTables map[string]bool // those of the database system, likewise
	home         string          // the database that names are looked for in
	usesDefault  bool            // the database default is one of the warehouse's
	zones        *zones          // time zones that readers may name
}

// Known is what an engine says of itself.
type Known struct {
	Functions, TableFunctions, SystemTables, Zones []string
	Settings, Types, Formats                       []string
	Databases                                      []string // that statements may use
	ReaderZone                                     string   // of readers' sessions
	Memory                                         int64    // the engine's limit, in bytes
}

// New makes the guard of an engine.
func New(k Known) *Guard {
	g := &Guard{
		functions: map[string]bool{}, denied: map[string]bool{}, deniedTables: map[string]bool{},
		settings: map[string]bool{}, types: listed(strings.Join(k.Types, "\n")), formats: listed(strings.Join(k.Formats, "\n")),
		home: k.Databases[0], usesDefault: slices.Contains(k.Databases, "default"), zones: newZones(k.Zones, k.ReaderZone, k.Memory),
	}
	for _, name := range k.Functions {
		g.functions[strings.ToLower(name)] = true
	}
	for _, name := range k.Settings {
		g.settings[name] = true
	}
	for _, name := range k.TableFunctions {
		if lower := strings.ToLower(name); !harmlessTableFunctions[lower] {
			g.denied[lower] = true
		}
	}
	for _, name := range k.SystemTables {
		if !harmlessSystemTables[name] {
			g.deniedTables[name] = true
		}
	}
	return g
}

// AdmitZone is an error for a time zone that readers may not name.
func (g *Guard) AdmitZone(name string) error { return g.zones.admit(name) }

// AdmitFormat is an error for a format that an answer may not have.
func (g *Guard) AdmitFormat(name string) error {
	switch lower := strings.ToLower(name); {
	case harmlessFormats[lower]:
		return nil
	case !g.formats[lower]:
		return unknown(format, name)
	}
	return exception.Readonly("Cannot execute query in readonly mode: the format %s is not taken here", name)
}

// AdmitSetting is an error for a setting that readers may not change.
func (g *Guard) AdmitSetting(name string) error {
	switch {
	case maySet[name]:
		return nil
	case !g.settings[name]:
		return unknown(setting, name)
	}
	return exception.Readonly("Cannot modify '%s' setting in readonly mode", name)
}

// Ask runs a statement on the connection that the reader's statement will run on.
type Ask func(sql, format string) ([]byte, error)

// Parsed is what the engine's parser says of a text.
type Parsed struct {
	Statements uint32 // how many there are; 0 when it does not parse
	Reads      bool   // it changes nothing
}

// MayRead refuses what is no plain reading of the warehouse, with an answer in this
// format.
func (g *Guard) MayRead(ask Ask, s *sqltext.Statement, format string, a Parsed) error {
	switch {
	case a.Statements == 0:
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement cannot be read")
	case a.Statements > 1:
		return errMany
	case !readingKeywords[s.Keyword]:
		return refuseStatement(s.Keyword)
	}
	if err := g.MayName(s); err != nil { // first: it knows why a SELECT does not only read
		return err
	}
	if !a.Reads {
		return refuseStatement(s.Keyword)
	}
	sql := s.Formatted(format)
	nodes, err := syntaxTree(ask, sql)
	if err == nil {
		err = g.checkTree(nodes, sql)
	}
	if err != nil {
		return err
	}
	return mayAnswer(ask, s, nodes)
}

// MayName looks at the words of a statement.
func (g *Guard) MayName(s *sqltext.Statement) error {
	if s.Odd {
		return exception.Readonly("Cannot execute query in readonly mode: outside of quotes only ASCII without $, # and control characters is taken here")
	}
	for i, t := range s.Tokens {
		if err := g.mayUse(t, s.At(i+1).Symbol("(")); err != nil {
			return err
		}
		switch {
		case t.Is("OUTFILE"), t.Is("INFILE"):
			return exception.Readonly("Cannot execute query in readonly mode: files are not written or read here")
		case t.Is("SETTINGS") && !s.NamesSettings(i):
			return exception.Readonly("Cannot execute query in readonly mode: SETTINGS are taken at the end of the statement, as name = value, not within it")
		case s.Keyword == "show" && (t.Is("SELECT") || t.Symbol("(") && !plainParenthesis(s.At(i-1))):
			return exception.Readonly("Cannot execute query in readonly mode: SHOW is taken without subqueries and functions here")
		case s.Keyword == "show" && i == 1 && t.Is("PROCESSLIST"):
			return exception.Readonly("Cannot execute query in readonly mode: what other readers ask is not told here")
		case s.Keyword == "show" && t.Is("ZONE"):
			return exception.Readonly("Cannot execute query in readonly mode: SHOW is taken without AT TIME ZONE here")
		case t.Is("APPLY") && !g.mayApplyName(s, i):
			name := s.At(i + 1)
			if name.Symbol("(") {
				name = s.At(i + 2)
			}
			if plainName.MatchString(name.Text) && !g.has(name.Text) {
				return unknown(function, name.Text)
			}
			return exception.Readonly("Cannot execute query in readonly mode: APPLY is taken with the name of a function alone here")
		case t.Name() == "system" && s.At(i+1).Symbol(".") && g.deniedTables[s.At(i+2).Name()]:
			return exception.Readonly("Cannot execute query in readonly mode: the table system.%s is not read here", s.At(i+2).Name())
		case t.Name() == "default" && s.At(i+1).Symbol(".") && !g.usesDefault:
			return exception.Readonly("Cannot execute query in readonly mode: the database default holds nothing: name tables of %s", g.home)
		}
	}
	return mayRepeat(s)
}

// mayUse looks at one word; called says that a parenthesis follows it.
func (g *Guard) mayUse(t sqltext.Token, called bool) error {
	name := t.Name()
	switch {
	case t.Kind == sqltext.Quoted && (called || strings.ContainsFunc(t.Text, func(r rune) bool { return r == '\\' || r < ' ' })):
		return exception.Readonly("Cannot execute query in readonly mode: a quoted name may have no escapes and no control characters, and is not called as a function here")
	case t.Kind == sqltext.Quoted && namesType(name):
		return exception.Readonly("Cannot execute query in readonly mode: parts of a value are not named by their type here: use another name")
	case called && g.refusedName(name):
		return g.refuseFunction(name)
	}
	return nil
}

// refusedName is true when a name is that of a function, or of a table function, which may
// not be called. In front of a parenthesis stand other words as well, such as the name of
// a WITH (a, b), so that what the engine does not have is no matter of this look.
func (g *Guard) refusedName(name string) bool {
	if g.has(name) {
		return !g.TakesFunction(name)
	}
	lower := strings.ToLower(name)
	return g.denied[lower] && !namesakes[lower]
}

// plainParenthesis is true when a parenthesis behind this token calls nothing.
func plainParenthesis(before sqltext.Token) bool {
	return before.Kind == sqltext.Symbol || before.Is("IN") || before.Is("AND") || before.Is("OR") || before.Is("NOT") || before.Is("WHERE")
}

// mayApplyName is true when only the name of a function follows APPLY at i: one that readers
// may call, and none that makes a type. Anything else that stands there is not in the tree,
// nor is what the function is called with.
func (g *Guard) mayApplyName(s *sqltext.Statement, i int) bool {
	name, behind := s.At(i+1), s.At(i+2)
	plain := !behind.Symbol("(") && (behind.Kind != sqltext.Symbol || !strings.HasPrefix(behind.Text, "-"))
	if name.Symbol("(") {
		name, plain = s.At(i+2), s.At(i+3).Symbol(")")
	}
	_, makes := typed[strings.ToLower(name.Text)]
	return plain && name.Kind == sqltext.Word && !makes && g.TakesFunction(name.Text)
}

// CheckTree looks at what the engine has understood of a statement with a format.
func (g *Guard) CheckTree(ask Ask, sql string) error {
	nodes, err := syntaxTree(ask, sql)
	if err != nil {
		return err
	}
	return g.checkTree(nodes, sql)
}

func (g *Guard) checkTree(nodes []node, sql string) error {
	if len(nodes) == 0 || !nodes[len(nodes)-1].formats(sql) {
		return exception.Readonly("Cannot execute query in readonly mode: FORMAT is taken once, at the end of the statement")
	}
	lambdas := lambdasOf(nodes)
	for i, n := range nodes[:len(nodes)-1] {
		if err := g.mayHold(n); err != nil {
			return err
		}
		if n.kind == "Function" && n.parent != "TableExpression" {
			if !g.TakesFunction(n.name) && (g.has(n.name) || lambdas[n.name] == nil) {
				return g.refuseFunction(n.name)
			}
			if err := g.mayDepend(nodes, i); err != nil {
				return err
			}
			if err := g.mayApply(nodes, i); err != nil {
				return err
			}
		}
	}
	if err := mayWiden(nodes, lambdas, sql); err != nil {
		return err
	}
	if err := mayGroup(nodes); err != nil {
		return err
	}
	if err := mayExpand(nodes, sql); err != nil {
		return err
	}
	if err := mayMatch(nodes, sql); err != nil {
		return err
	}
	if err := mayFind(nodes); err != nil {
		return err
	}
	if err := mayCompute(nodes, sql); err != nil {
		return err
	}
	if err := mayPlan(nodes, sql); err != nil {
		return err
	}
	if err := mayFilter(nodes, lambdas, sql); err != nil {
		return err
	}
	return mayBeNamed(nodes, sql)
}

// mayApply looks at the first argument of a higher-order function, where the name of
// another stands for that one. What that would be called with is not in the tree, so
// that neither its types nor its zones nor its patterns can be looked at, nor what it looks for.
func (g *Guard) mayApply(nodes []node, i int) error {
	name := strings.ToLower(nodes[i].name)
	args := arguments(nodes, i)
	if len(args) < 2 || !strings.HasPrefix(name, "array") && !strings.HasPrefix(name, "map") {
		return nil
	}
	given := nodes[args[0]]
	lower := strings.ToLower(given.name)
	_, makes := typed[lower]
	_, shows := zoned[lower]
	_, matches := patterned[lower]
	finds := needled[lower]
	if given.kind == "Identifier" && (makes || shows || matches || finds || g.refusedName(lower)) {
		return exception.Readonly("Cannot execute query in readonly mode: function %s is not given the function %s by its name here: write x -> %s(x)", nodes[i].name, given.name, given.name)
	}
	return nil
}

// mayHold looks at one node of a statement, its format aside.
func (g *Guard) mayHold(n node) error {
	switch {
	case n.kind == "Set" && n.parent != "Explain":
		return exception.Readonly("Cannot execute query in readonly mode: SETTINGS are taken at the end of the statement, as name = value, not within it")
	case n.parent == "Explain" && !n.fits():
		return exception.Readonly("Cannot execute query in readonly mode: EXPLAIN is taken of SELECT alone here")
	case !n.fits():
		return exception.Readonly("Cannot execute query in readonly mode: the statement holds what is not taken here (%s within %s)", n.kind, cmp.Or(n.parent, "nothing"))
	case n.kind == "Function" && n.parent == "TableExpression" && !harmlessTableFunctions[strings.ToLower(n.name)]:
		if !g.denied[strings.ToLower(n.name)] {
			return unknown(tableFunction, n.name)
		}
		return exception.Readonly("Cannot execute query in readonly mode: table function %s is not taken here", n.name)
	}
	if table, ok := strings.CutPrefix(n.name, "system."); ok && g.deniedTables[table] {
		return exception.Readonly("Cannot execute query in readonly mode: the table %s is not read here", n.name)
	}
	if strings.HasPrefix(n.name, "default.") && n.kind != "Literal" && !g.usesDefault {
		return exception.Readonly("Cannot execute query in readonly mode: the database default holds nothing: name tables of %s", g.home)
	}
	return nil
}
