package embedded

import "strings"

// A statement from the read-only way in passes three checks before it runs, since
// each has its blind spots, with readonly=1 and the engine's access control behind
// them: words, by the front's own lexer; class, by the engine's parser, which
// knows what a statement does; tree, by the engine's parser again, which shows what
// it has understood. Neither readonly=1 nor the constraints of settings hold
// within a subquery, so no SETTINGS may be left there.

// mayRead refuses what is no plain reading of the warehouse, with an answer in this
// format.
func (e *Engine) mayRead(c *conn, s *statement, format string, a analysis) error {
	switch {
	case a.statements == 0:
		return c.syntaxError(s.sql)
	case a.statements > 1:
		return refuse(codeSyntax, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)")
	case a.class != classReading, !readingKeywords[s.keyword]:
		return readonlyError("Cannot execute query in readonly mode: only SELECT, WITH, SHOW, DESCRIBE, EXPLAIN and EXISTS are taken here")
	}
	if err := e.mayName(s); err != nil {
		return err
	}
	return e.mayMean(c, s.formatted(format))
}

// mayName looks at the words of a statement.
func (e *Engine) mayName(s *statement) error {
	if s.odd {
		return readonlyError("Cannot execute query in readonly mode: outside of quotes only ASCII without $, # and control characters is taken here")
	}
	for i, t := range s.tokens {
		if err := e.mayUse(t, s.at(i+1).symbol("(")); err != nil {
			return err
		}
		switch {
		case t.is("OUTFILE"), t.is("INFILE"):
			return readonlyError("Cannot execute query in readonly mode: files are not written or read here")
		case t.is("SETTINGS") && !s.namesSettings(i):
			return readonlyError("Cannot execute query in readonly mode: SETTINGS are taken at the end of the statement, as name = value, not within it")
		case s.keyword == "show" && (t.is("SELECT") || t.symbol("(") && !plainParenthesis(s.at(i-1))):
			return readonlyError("Cannot execute query in readonly mode: SHOW is taken without subqueries and functions here")
		case s.keyword == "show" && i == 1 && t.is("PROCESSLIST"):
			return readonlyError("Cannot execute query in readonly mode: what other readers ask is not told here")
		case s.keyword == "show" && t.is("ZONE"):
			return readonlyError("Cannot execute query in readonly mode: SHOW is taken without AT TIME ZONE here")
		case t.is("APPLY") && !e.mayApplyName(s, i):
			return readonlyError("Cannot execute query in readonly mode: APPLY is taken with the name of a function alone here")
		case t.name() == "system" && s.at(i+1).symbol(".") && e.deniedTables[s.at(i+2).name()]:
			return readonlyError("Cannot execute query in readonly mode: the table system.%s is not read here", s.at(i+2).name())
		case t.name() == "default" && s.at(i+1).symbol(".") && !e.uses("default"):
			return readonlyError("Cannot execute query in readonly mode: the database default holds nothing: name tables of %s", e.databases[0])
		}
	}
	return nil
}

// mayUse looks at one word; called says that a parenthesis follows it.
func (e *Engine) mayUse(t token, called bool) error {
	name := t.name()
	switch {
	case t.kind == quoted && (called || strings.ContainsFunc(t.text, func(r rune) bool { return r == '\\' || r < ' ' })):
		return readonlyError("Cannot execute query in readonly mode: a quoted name may have no escapes and no control characters, and is not called as a function here")
	case t.kind == quoted && namesType(name):
		return readonlyError("Cannot execute query in readonly mode: parts of a value are not named by their type here: use another name")
	case called && e.refusedName(name):
		return e.refuseFunction(name)
	}
	return nil
}

// refusedName says whether a name is that of a function, or of a table function, which may
// not be called. In front of a parenthesis stand other words as well, such as the name of
// a WITH (a, b), so that what the engine does not have is no matter of this look.
func (e *Engine) refusedName(name string) bool {
	if e.has(name) {
		return !e.takesFunction(name)
	}
	lower := strings.ToLower(name)
	return e.denied[lower] && !namesakes[lower]
}

// plainParenthesis says whether one behind this token calls nothing.
func plainParenthesis(before token) bool {
	return before.kind == symbol || before.is("IN") || before.is("AND") || before.is("OR") || before.is("NOT") || before.is("WHERE")
}

// mayApplyName says whether what follows APPLY at i is the name alone of a function that
// readers may call, and not of one that makes a type: what else stands there, and what it
// is called with, is not in the tree.
func (e *Engine) mayApplyName(s *statement, i int) bool {
	name, behind := s.at(i+1), s.at(i+2)
	plain := !behind.symbol("(") && (behind.kind != symbol || !strings.HasPrefix(behind.text, "-"))
	if name.symbol("(") {
		name, plain = s.at(i+2), s.at(i+3).symbol(")")
	}
	_, makes := typed[strings.ToLower(name.text)]
	return plain && name.kind == word && !makes && e.takesFunction(name.text)
}

// namesSettings says whether the word SETTINGS at i is a name: that of a table or
// column behind its qualifier, or what SHOW shows. A number can end in a point too,
// with the keyword behind it.
func (s *statement) namesSettings(i int) bool {
	if s.at(i - 1).symbol(".") {
		qualifier := s.at(i - 2)
		return qualifier.kind == quoted || qualifier.kind == word && (qualifier.text[0] < '0' || qualifier.text[0] > '9')
	}
	return s.keyword == "show" && (i == 1 || i == 2 && s.at(1).is("CHANGED"))
}

// mayMean looks at what the engine has understood of a statement with a format.
func (e *Engine) mayMean(c *conn, sql string) error {
	nodes, err := c.syntaxTree(sql)
	if err != nil {
		return err
	}
	if len(nodes) == 0 || !nodes[len(nodes)-1].formats(sql) {
		return readonlyError("Cannot execute query in readonly mode: FORMAT is taken once, at the end of the statement")
	}
	lambdas := lambdasOf(nodes)
	for i, n := range nodes[:len(nodes)-1] {
		if err := e.mayHold(n); err != nil {
			return err
		}
		if n.kind == "Function" && n.parent != "TableExpression" {
			if !e.takesFunction(n.name) && (e.has(n.name) || lambdas[n.name] == nil) {
				return e.refuseFunction(n.name)
			}
			if err := e.mayDepend(nodes, i); err != nil {
				return err
			}
			if err := e.mayApply(nodes, i); err != nil {
				return err
			}
		}
	}
	if err := mayWiden(nodes, lambdas, sql); err != nil {
		return err
	}
	return mayBeNamed(nodes, sql)
}

// mayApply looks at the first argument of a higher-order function, where the name of
// another stands for that one. What that would be called with is not in the tree, so
// that neither its types nor its zones can be looked at.
func (e *Engine) mayApply(nodes []node, i int) error {
	name := strings.ToLower(nodes[i].name)
	args := arguments(nodes, i)
	if len(args) < 2 || !strings.HasPrefix(name, "array") && !strings.HasPrefix(name, "map") {
		return nil
	}
	given := nodes[args[0]]
	lower := strings.ToLower(given.name)
	_, makes := typed[lower]
	_, shows := zoned[lower]
	if given.kind == "Identifier" && (makes || shows || e.refusedName(lower)) {
		return readonlyError("Cannot execute query in readonly mode: function %s is not given the function %s by its name here: write x -> %s(x)", nodes[i].name, given.name, given.name)
	}
	return nil
}

// mayHold looks at one node of a statement, its format aside.
func (e *Engine) mayHold(n node) error {
	switch {
	case n.kind == "Set" && n.parent != "Explain":
		return readonlyError("Cannot execute query in readonly mode: SETTINGS are taken at the end of the statement, as name = value, not within it")
	case n.parent == "Explain" && !n.fits():
		return readonlyError("Cannot execute query in readonly mode: EXPLAIN is taken of SELECT alone here")
	case !n.fits():
		return readonlyError("Cannot execute query in readonly mode: the statement holds what is not taken here (%s within %s)", n.kind, first(n.parent, "nothing"))
	case n.kind == "Function" && n.parent == "TableExpression" && !harmlessTableFunctions[strings.ToLower(n.name)]:
		return readonlyError("Cannot execute query in readonly mode: function %s is not taken here", n.name)
	}
	if table, ok := strings.CutPrefix(n.name, "system."); ok && e.deniedTables[table] {
		return readonlyError("Cannot execute query in readonly mode: the table %s is not read here", n.name)
	}
	if strings.HasPrefix(n.name, "default.") && n.kind != "Literal" && !e.uses("default") {
		return readonlyError("Cannot execute query in readonly mode: the database default holds nothing: name tables of %s", e.databases[0])
	}
	return nil
}
