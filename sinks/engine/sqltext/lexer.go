package sqltext

import "strings"

// Kind of a token of ClickHouse's SQL.
type Kind int

// The kinds.
const (
	End     Kind = iota
	Word         // an identifier, keyword or number, unquoted
	Quoted       // an identifier in `…` or "…"
	literal      // a string in '…' or $tag$…$tag$
	Symbol       // any other byte
)

// Token is a piece of SQL, comments and white space left out.
type Token struct {
	Kind     Kind
	From, To int
	Text     string
}

// Is is true for a keyword, in any case.
func (t Token) Is(keyword string) bool { return t.Kind == Word && strings.EqualFold(t.Text, keyword) }

// Symbol is true for one byte that is no part of a word.
func (t Token) Symbol(s string) bool { return t.Kind == Symbol && t.Text == s }

// Name is the token as a name, without its quotes; "" for what is none.
func (t Token) Name() string {
	switch t.Kind {
	case Word:
		return t.Text
	case Quoted:
		return strings.Trim(t.Text, "`\"")
	}
	return ""
}

// Lexer splits SQL as the engine's own lexer does, where the two could be told
// apart: quotes with their escapes, comments that do not nest, heredocs.
type Lexer struct {
	SQL      string
	Pos      int
	unclosed int // heredocs that were looked for in vain
}

// Next is the token behind the last one; one of the kind End for ever, at the end.
func (l *Lexer) Next() Token {
	l.skipBlank()
	from := l.Pos
	if from >= len(l.SQL) {
		return Token{Kind: End, From: from, To: from}
	}
	k := l.scan()
	return Token{Kind: k, From: from, To: l.Pos, Text: l.SQL[from:l.Pos]}
}

func (l *Lexer) scan() Kind {
	switch c := l.SQL[l.Pos]; {
	case c == '\'':
		l.skipQuoted(c)
		return literal
	case c == '`' || c == '"':
		l.skipQuoted(c)
		return Quoted
	case c == '$':
		if l.skipHeredoc() {
			return literal
		}
	case isWordByte(c):
		for l.Pos < len(l.SQL) && isWordByte(l.SQL[l.Pos]) {
			l.Pos++
		}
		return Word
	}
	l.Pos++
	return Symbol
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (l *Lexer) skipBlank() {
	for l.Pos < len(l.SQL) {
		rest := l.SQL[l.Pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v\x00", rest[0]) >= 0:
			l.Pos++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			l.skipPast("\n", 2)
		case strings.HasPrefix(rest, "/*"):
			l.skipPast("*/", 2)
		default:
			return
		}
	}
}

// skipPast moves behind the next stop, looking from after the first n bytes.
func (l *Lexer) skipPast(stop string, n int) {
	at := strings.Index(l.SQL[l.Pos+n:], stop)
	if at < 0 {
		l.Pos = len(l.SQL)
		return
	}
	l.Pos += n + at + len(stop)
}

func (l *Lexer) skipQuoted(quote byte) {
	for l.Pos++; l.Pos < len(l.SQL); l.Pos++ {
		switch c := l.SQL[l.Pos]; {
		case c == '\\':
			l.Pos++
		case c == quote && l.Pos+1 < len(l.SQL) && l.SQL[l.Pos+1] == quote:
			l.Pos++
		case c == quote:
			l.Pos++
			return
		}
	}
	l.Pos = min(l.Pos, len(l.SQL))
}

func (l *Lexer) skipHeredoc() bool {
	to := l.Pos + 1
	for to < len(l.SQL) && isWordByte(l.SQL[to]) {
		to++
	}
	// Each look for an end may read all that follows: after some in vain it is not
	// worth another.
	if to >= len(l.SQL) || l.SQL[to] != '$' || l.unclosed > 32 {
		return false
	}
	tag := l.SQL[l.Pos : to+1]
	close := strings.Index(l.SQL[to+1:], tag)
	if close < 0 {
		l.unclosed++
		return false
	}
	l.Pos = to + 1 + close + len(tag)
	return true
}

// Tokens splits the whole of a statement.
func Tokens(sql string) (all []Token) {
	l := Lexer{SQL: sql}
	for t := l.Next(); t.Kind != End; t = l.Next() {
		all = append(all, t)
	}
	return all
}

// QuoteIdentifier is a name as it stands in SQL.
func QuoteIdentifier(name string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
}

// QuoteString is a text as it stands in SQL.
func QuoteString(s string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(s) + "'"
}
