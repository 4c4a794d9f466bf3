package embedded

import "strings"

// kind of a token of ClickHouse's SQL.
type kind int

const (
	end     kind = iota
	word         // an identifier, keyword or number, unquoted
	quoted       // an identifier in `…` or "…"
	literal      // a string in '…' or $tag$…$tag$
	symbol       // any other byte
)

// token is a piece of SQL, comments and white space left out.
type token struct {
	kind     kind
	from, to int
	text     string
}

func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }
func (t token) symbol(s string) bool   { return t.kind == symbol && t.text == s }

// name is the token as a name, without its quotes; "" for what is none.
func (t token) name() string {
	switch t.kind {
	case word:
		return t.text
	case quoted:
		return strings.Trim(t.text, "`\"")
	}
	return ""
}

// lexer splits SQL as the engine's own lexer does, where the two could be told
// apart: quotes with their escapes, comments that do not nest, heredocs.
type lexer struct {
	sql string
	pos int
	odd bool // something was seen that the two may read differently

	unclosed int // heredocs that were looked for in vain
}

func (l *lexer) next() token {
	l.skipBlank()
	from := l.pos
	if from >= len(l.sql) {
		return token{kind: end, from: from, to: from}
	}
	k := l.scan()
	return token{kind: k, from: from, to: l.pos, text: l.sql[from:l.pos]}
}

func (l *lexer) scan() kind {
	switch c := l.sql[l.pos]; {
	case c == '\'':
		l.skipQuoted(c)
		return literal
	case c == '`' || c == '"':
		l.skipQuoted(c)
		return quoted
	case c == '$':
		l.odd = true
		if l.skipHeredoc() {
			return literal
		}
	case isWordByte(c):
		for l.pos < len(l.sql) && isWordByte(l.sql[l.pos]) {
			l.pos++
		}
		return word
	case c >= 0x80 || c < ' ' || c == 0x7f || c == '#':
		l.odd = true
	}
	l.pos++
	return symbol
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (l *lexer) skipBlank() {
	for l.pos < len(l.sql) {
		rest := l.sql[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v\x00", rest[0]) >= 0:
			l.odd = l.odd || rest[0] == 0
			l.pos++
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
func (l *lexer) skipPast(stop string, n int) {
	at := strings.Index(l.sql[l.pos+n:], stop)
	if at < 0 {
		l.pos = len(l.sql)
		return
	}
	l.pos += n + at + len(stop)
}

func (l *lexer) skipQuoted(quote byte) {
	for l.pos++; l.pos < len(l.sql); l.pos++ {
		switch c := l.sql[l.pos]; {
		case c == '\\':
			l.pos++
		case c == quote && l.pos+1 < len(l.sql) && l.sql[l.pos+1] == quote:
			l.pos++
		case c == quote:
			l.pos++
			return
		}
	}
	l.pos = min(l.pos, len(l.sql))
}

func (l *lexer) skipHeredoc() bool {
	to := l.pos + 1
	for to < len(l.sql) && isWordByte(l.sql[to]) {
		to++
	}
	// Each look for an end may read all that follows: after some in vain it is not
	// worth another.
	if to >= len(l.sql) || l.sql[to] != '$' || l.unclosed > 32 {
		return false
	}
	tag := l.sql[l.pos : to+1]
	close := strings.Index(l.sql[to+1:], tag)
	if close < 0 {
		l.unclosed++
		return false
	}
	l.pos = to + 1 + close + len(tag)
	return true
}

// tokens splits the whole of a statement.
func tokens(sql string) (all []token, odd bool) {
	l := lexer{sql: sql}
	for t := l.next(); t.kind != end; t = l.next() {
		all = append(all, t)
	}
	return all, l.odd
}

func quoteIdentifier(name string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
}

func quoteString(s string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(s) + "'"
}
