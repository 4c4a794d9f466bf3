package embedded

import "strings"

// statement is one SQL statement without data, and what the front must know of it.
type statement struct {
	sql     string // without a closing semicolon and what follows it
	bare    string // sql without FORMAT and SETTINGS at its end
	format  string // of its FORMAT clause; empty when it has none
	keyword string // its first word in lower case, behind parentheses
	tokens  []token
	odd     bool
}

func parseStatement(sql string) statement {
	all, odd := tokens(sql)
	for len(all) > 0 && all[len(all)-1].symbol(";") {
		all = all[:len(all)-1]
	}
	s := statement{tokens: all, odd: odd}
	if len(all) == 0 {
		return s
	}
	s.sql = sql[:all[len(all)-1].to]
	for _, t := range all {
		if !t.symbol("(") {
			s.keyword = strings.ToLower(t.text)
			break
		}
	}
	s.bare, s.format = s.tail()
	return s
}

// tail finds FORMAT name at the end: outside of parentheses, followed by nothing
// or by SETTINGS. The name may stand in quotes, the keyword not.
func (s *statement) tail() (bare, format string) {
	depth := 0
	for i, t := range s.tokens {
		switch {
		case t.symbol("(") || t.symbol("["):
			depth++
		case t.symbol(")") || t.symbol("]"):
			depth--
		case depth == 0 && i > 0 && t.is("FORMAT") && s.at(i+1).name() != "":
			if i+2 == len(s.tokens) || s.tokens[i+2].is("SETTINGS") {
				return s.sql[:s.tokens[i-1].to], s.tokens[i+1].name()
			}
		}
	}
	return s.sql, ""
}

// formatted is the statement with this format and no other: the engine takes no
// second FORMAT, so that one which the front had not seen would be an error.
func (s *statement) formatted(format string) string { return s.bare + "\nFORMAT " + format }

// selects says whether the statement can be streamed.
func (s *statement) selects() bool {
	switch s.keyword {
	case "select", "with", "from":
		return true
	}
	return false
}

// insertHead is the part of an INSERT in front of its data.
type insertHead struct {
	sql    string // without FORMAT or VALUES
	format string // Values when it has none
	data   int    // where the data begins in the text
}

// parseInsert reads the head of an INSERT that brings data with it. ok is false
// for any other statement, INSERT … SELECT included.
func parseInsert(text string) (head insertHead, ok bool) {
	l := lexer{sql: text}
	if !l.next().is("INSERT") {
		return head, false
	}
	for last := skipTarget(&l); ; {
		t := l.next()
		switch {
		case t.kind == end, t.symbol(";"):
			head.sql, head.format, head.data = text[:last.to], "Values", len(text)
			return head, true
		case t.is("VALUES"):
			head.sql, head.format, head.data = text[:last.to], "Values", t.to
			return head, true
		case t.is("FORMAT"):
			name := l.next()
			head.sql, head.format, head.data = text[:last.to], name.text, dataStart(text, name.to)
			return head, name.kind == word
		case t.is("SELECT"), t.is("WITH"), t.is("WATCH"), t.is("FROM"), t.symbol("(") && selectFollows(l):
			return head, false
		case t.symbol("("):
			last = skipGroup(&l)
		default:
			last = t
		}
	}
}

func selectFollows(l lexer) bool {
	t := l.next()
	return t.is("SELECT") || t.is("WITH") || t.symbol("(")
}

// skipTarget moves behind INTO [TABLE] [FUNCTION] name, so that a table may be
// called values, and returns the name, database included, as one token.
func skipTarget(l *lexer) token {
	t := l.next()
	for t.is("INTO") || t.is("TABLE") || t.is("FUNCTION") {
		t = l.next()
	}
	for {
		ahead := *l
		if !ahead.next().symbol(".") {
			return t
		}
		t.to = ahead.next().to
		*l = ahead
	}
}

// skipGroup moves behind the parenthesis that closes the one just read.
func skipGroup(l *lexer) token {
	for depth := 1; ; {
		t := l.next()
		switch {
		case t.kind == end:
			return t
		case t.symbol("("):
			depth++
		case t.symbol(")"):
			depth--
		}
		if depth == 0 {
			return t
		}
	}
}

// dataStart is where inline data begins behind a format's name: after a
// semicolon and blanks, and one line end.
func dataStart(text string, at int) int {
	if at < len(text) && text[at] == ';' {
		at++
	}
	for at < len(text) && strings.IndexByte(" \t\f", text[at]) >= 0 {
		at++
	}
	if at < len(text) && text[at] == '\r' {
		at++
	}
	if at < len(text) && text[at] == '\n' {
		at++
	}
	return at
}

// at returns a token, one of the end before the first and behind the last.
func (s *statement) at(i int) token {
	if i >= 0 && i < len(s.tokens) {
		return s.tokens[i]
	}
	return token{}
}
