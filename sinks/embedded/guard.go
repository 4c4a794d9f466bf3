package embedded

import "strings"

// A statement from the read-only way in passes three checks before it runs, since
// each has its blind spots, with readonly=1 and the engine's access control behind
// them: words, by the front's own lexer; class, by the engine's parser, which
// knows what a statement does; tree, by the engine's parser again, which shows what
// it has understood. Neither readonly=1 nor the constraints of settings hold
// within a subquery, so no SETTINGS may be left there.

// mayRead refuses what is no plain reading of the warehouse.
func (e *Engine) mayRead(c *conn, s *statement, a analysis) error {
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
	return e.mayMean(c, s.bare)
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
		case t.is("SELECT") && s.keyword == "show":
			return readonlyError("Cannot execute query in readonly mode: SHOW is taken without a subquery here")
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
	case deniedFunctions[strings.ToLower(name)], called && e.denied[strings.ToLower(name)] && !namesakes[strings.ToLower(name)]:
		return readonlyError("Cannot execute query in readonly mode: function %s is not taken here", name)
	}
	return nil
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

// mayMean looks at what the engine has understood.
func (e *Engine) mayMean(c *conn, sql string) error {
	nodes, err := c.syntaxTree(sql)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		name := strings.ToLower(n.name)
		switch {
		case n.kind == "Set" && n.parent != "Explain":
			return readonlyError("Cannot execute query in readonly mode: SETTINGS are taken at the end of the statement, as name = value, not within it")
		case n.parent == "Explain" && n.kind != "Set" && n.kind != "Identifier" && !strings.HasPrefix(n.kind, "Select"): // Identifier: the format
			return readonlyError("Cannot execute query in readonly mode: EXPLAIN is taken of SELECT alone here")
		case n.kind == "Function" && (deniedFunctions[name] || n.parent == "TableExpression" && !harmlessTableFunctions[name]):
			return readonlyError("Cannot execute query in readonly mode: function %s is not taken here", n.name)
		}
		if table, ok := strings.CutPrefix(n.name, "system."); ok && e.deniedTables[table] {
			return readonlyError("Cannot execute query in readonly mode: the table %s is not read here", n.name)
		}
		if strings.HasPrefix(n.name, "default.") && n.kind != "Literal" && !e.uses("default") {
			return readonlyError("Cannot execute query in readonly mode: the database default holds nothing: name tables of %s", e.databases[0])
		}
	}
	return nil
}
