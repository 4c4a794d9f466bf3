package server

import (
	"strings"

	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// bindParams puts the values of param_x into {x:Type}. It is done here, not by
// the engine, which mixes up the parameters of connections running in parallel
// (docs/architecture/engine.md). Values arrive in the escaped form of ClickHouse's interface. A long
// one may stand in many places: no more than a statement may have is put together.
func bindParams(sql string, params map[string]string) (string, error) {
	if !strings.Contains(sql, "{") {
		return sql, nil
	}
	var out strings.Builder
	l := sqltext.Lexer{SQL: sql}
	done := 0
	for t := l.Next(); t.Kind != sqltext.End; t = l.Next() {
		if !t.Symbol("{") {
			continue
		}
		name, typ, after, ok := placeholder(sql, l)
		if !ok {
			continue
		}
		value, given := params[name]
		if !given {
			return "", exception.Refuse(exception.MissingParameter, "UNKNOWN_QUERY_PARAMETER", "Substitution `%s` is not set", name)
		}
		out.WriteString(sql[done:t.From])
		out.WriteString(bound(value, typ))
		l.Pos, done = after, after
		if out.Len() > longestStatement {
			return "", tooLong()
		}
	}
	out.WriteString(sql[done:])
	return out.String(), nil
}

// longestType is how many tokens the type of a parameter may have.
const longestType = 100

// placeholder reads x:Type} behind an opening brace. A map literal looks like
// {'a':1}, so its first token is no word. It looks no further than a type may be
// long: whoever sends thousands of open braces would have the rest read for each.
func placeholder(sql string, l sqltext.Lexer) (name, typ string, after int, ok bool) {
	first := l.Next()
	if first.Kind != sqltext.Word || !l.Next().Symbol(":") {
		return "", "", 0, false
	}
	from := l.Pos
	for range longestType {
		switch t := l.Next(); {
		case t.Symbol("}"):
			return first.Text, strings.TrimSpace(sql[from:t.From]), t.To, true
		case t.Kind == sqltext.End, t.Symbol("{"):
			return "", "", 0, false
		}
	}
	return "", "", 0, false
}

func bound(value, typ string) string {
	if typ == "Identifier" {
		return sqltext.QuoteIdentifier(unescapeTSV(value))
	}
	base := typ
	for _, wrapper := range []string{"LowCardinality(", "Nullable("} {
		if inner, ok := strings.CutPrefix(base, wrapper); ok {
			base = strings.TrimSuffix(inner, ")")
		}
	}
	if value == `\N` && strings.Contains(typ, "Nullable(") {
		return "_CAST(NULL, " + sqltext.QuoteString(typ) + ")"
	}
	if base == "String" || strings.HasPrefix(base, "FixedString") || strings.HasPrefix(base, "Enum") {
		value = unescapeTSV(value)
	}
	return "_CAST(" + sqltext.QuoteString(value) + ", " + sqltext.QuoteString(typ) + ")"
}

var tsvEscapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '0': 0, 'a': '\a', 'v': '\v', 'e': 0x1b}

// unescapeTSV reads the escapes of the TabSeparated format.
func unescapeTSV(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if c, ok := tsvEscapes[s[i]]; ok {
			out.WriteByte(c)
			continue
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
