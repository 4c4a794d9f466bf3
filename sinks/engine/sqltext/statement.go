package sqltext

import "strings"

// Statement is one SQL statement without data, and what the server must know of it.
type Statement struct {
	SQL     string // without a closing semicolon and what follows it
	Bare    string // sql without FORMAT and SETTINGS at its end
	Format  string // of its FORMAT clause; empty when it has none
	Keyword string // its first word in lower case, behind parentheses
	Tokens  []Token
}

// Parse reads a statement, without what may stand behind its semicolon.
func Parse(sql string) Statement {
	all := Tokens(sql)
	for len(all) > 0 && all[len(all)-1].Symbol(";") {
		all = all[:len(all)-1]
	}
	s := Statement{Tokens: all}
	if len(all) == 0 {
		return s
	}
	s.SQL = sql[:all[len(all)-1].To]
	for _, t := range all {
		if !t.Symbol("(") {
			s.Keyword = strings.ToLower(t.Text)
			break
		}
	}
	s.Bare, s.Format = s.tail()
	return s
}

// tail finds FORMAT name at the end: outside of parentheses, followed by nothing
// or by SETTINGS. The name may stand in quotes, the keyword not.
func (s *Statement) tail() (bare, format string) {
	depth := 0
	for i, t := range s.Tokens {
		switch {
		case t.Symbol("(") || t.Symbol("["):
			depth++
		case t.Symbol(")") || t.Symbol("]"):
			depth--
		case depth == 0 && i > 0 && t.Is("FORMAT") && s.At(i+1).Name() != "":
			if i+2 == len(s.Tokens) || s.Tokens[i+2].Is("SETTINGS") {
				return s.SQL[:s.Tokens[i-1].To], s.Tokens[i+1].Name()
			}
		}
	}
	return s.SQL, ""
}

// Selects is true when the statement can be streamed.
func (s *Statement) Selects() bool {
	switch s.Keyword {
	case "select", "with", "from":
		return true
	}
	return false
}

// InsertHead is the part of an INSERT in front of its data.
type InsertHead struct {
	SQL    string // without FORMAT or VALUES
	Format string // Values when it has none
	Data   int    // where the data begins in the text
}

// ParseInsert reads the head of an INSERT that brings data with it. ok is false
// for any other statement, INSERT … SELECT included.
func ParseInsert(text string) (head InsertHead, ok bool) {
	l := Lexer{SQL: text}
	if !l.Next().Is("INSERT") {
		return head, false
	}
	for last := skipTarget(&l); ; {
		t := l.Next()
		switch {
		case t.Kind == End, t.Symbol(";"):
			head.SQL, head.Format, head.Data = text[:last.To], "Values", len(text)
			return head, true
		case t.Is("VALUES"):
			head.SQL, head.Format, head.Data = text[:last.To], "Values", t.To
			return head, true
		case t.Is("FORMAT"):
			name := l.Next()
			head.SQL, head.Format, head.Data = text[:last.To], name.Text, dataStart(text, name.To)
			return head, name.Kind == Word
		case t.Is("SELECT"), t.Is("WITH"), t.Is("WATCH"), t.Is("FROM"), t.Symbol("(") && selectFollows(l):
			return head, false
		case t.Symbol("("):
			last = skipGroup(&l)
		default:
			last = t
		}
	}
}

func selectFollows(l Lexer) bool {
	t := l.Next()
	return t.Is("SELECT") || t.Is("WITH") || t.Symbol("(")
}

// skipTarget moves behind INTO [TABLE] [FUNCTION] name, so that a table may be
// called values, and returns the name, database included, as one token.
func skipTarget(l *Lexer) Token {
	t := l.Next()
	for t.Is("INTO") || t.Is("TABLE") || t.Is("FUNCTION") {
		t = l.Next()
	}
	for {
		ahead := *l
		if !ahead.Next().Symbol(".") {
			return t
		}
		t.To = ahead.Next().To
		*l = ahead
	}
}

// skipGroup moves behind the parenthesis that closes the one just read.
func skipGroup(l *Lexer) Token {
	for depth := 1; ; {
		t := l.Next()
		switch {
		case t.Kind == End:
			return t
		case t.Symbol("("):
			depth++
		case t.Symbol(")"):
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

// At returns a token, one of the end before the first and behind the last.
func (s *Statement) At(i int) Token {
	if i >= 0 && i < len(s.Tokens) {
		return s.Tokens[i]
	}
	return Token{}
}

// Has is true when a word stands in the statement, outside of quotes.
func (s *Statement) Has(keyword string) bool {
	for _, t := range s.Tokens {
		if t.Is(keyword) {
			return true
		}
	}
	return false
}

// InsertsInput is true when it is an INSERT that reads input().
func (s *Statement) InsertsInput() bool {
	if s.Keyword != "insert" {
		return false
	}
	for i, t := range s.Tokens[:max(len(s.Tokens)-1, 0)] {
		if t.Is("input") && s.Tokens[i+1].Symbol("(") {
			return true
		}
	}
	return false
}
