package sqltext

import (
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// TakeSettings cuts SETTINGS name = value, … off the end of a statement and returns
// the pairs, so that they are checked and given like those of the URL. Anything
// else that the clause may hold in ClickHouse (a flag without a value, a dotted
// name, an expression) stays in the statement, where it is refused.
func (s *Statement) TakeSettings() (map[string]string, error) {
	at := s.settingsAt()
	if at < 0 {
		return nil, nil
	}
	given, end, ok := s.pairs(at + 1)
	formatted := s.At(end).Is("FORMAT") && s.At(end+1).Name() != "" && end+2 == len(s.Tokens)
	if !ok || end < len(s.Tokens) && !formatted {
		return nil, exception.Readonly("Cannot execute query in readonly mode: SETTINGS are taken as name = value here, the value a number or a plain text in single quotes")
	}
	text := s.SQL[:s.At(at-1).To]
	if end < len(s.Tokens) {
		text += "\n" + s.SQL[s.Tokens[end].From:]
	}
	*s = Parse(text)
	return given, nil
}

// settingsAt is where the last clause outside of parentheses begins, -1 for none.
func (s *Statement) settingsAt() int {
	found, depth := -1, 0
	for i, t := range s.Tokens {
		switch {
		case t.Symbol("("), t.Symbol("["), t.Symbol("{"):
			depth++
		case t.Symbol(")"), t.Symbol("]"), t.Symbol("}"):
			depth--
		case depth == 0 && i > 0 && t.Is("SETTINGS") && !s.NamesSettings(i):
			found = i
		}
	}
	return found
}

// pairs reads name = value, … from token i on, and says where it ends.
func (s *Statement) pairs(i int) (given map[string]string, end int, ok bool) {
	given = map[string]string{}
	for {
		name := s.At(i)
		if name.Kind != Word || !s.At(i+1).Symbol("=") {
			return nil, 0, false
		}
		value, after, ok := s.plainValue(i + 2)
		if !ok {
			return nil, 0, false
		}
		given[name.Text] = value
		if !s.At(after).Symbol(",") {
			return given, after, true
		}
		i = after + 1
	}
}

// plainValue reads a number, a word such as true, or a text without escapes.
func (s *Statement) plainValue(i int) (value string, after int, ok bool) {
	t := s.At(i)
	if t.Kind == literal {
		value = strings.TrimSuffix(strings.TrimPrefix(t.Text, "'"), "'")
		return value, i + 1, len(t.Text) == len(value)+2 && !strings.ContainsAny(value, `'\`)
	}
	if t.Symbol("-") {
		value, i = "-", i+1
	}
	if s.At(i).Kind != Word {
		return "", 0, false
	}
	value += s.At(i).Text
	if s.At(i+1).Symbol(".") && s.At(i+2).Kind == Word && s.At(i+1).From == s.At(i).To && s.At(i+2).From == s.At(i+1).To {
		return value + "." + s.At(i+2).Text, i + 3, true
	}
	return value, i + 1, true
}

// NamesSettings is true when the word SETTINGS at i is a name: that of a table or
// column behind its qualifier, or what SHOW shows. A number can end in a point too,
// with the keyword behind it.
func (s *Statement) NamesSettings(i int) bool {
	if s.At(i - 1).Symbol(".") {
		qualifier := s.At(i - 2)
		return qualifier.Kind == Quoted || qualifier.Kind == Word && (qualifier.Text[0] < '0' || qualifier.Text[0] > '9')
	}
	return s.Keyword == "show" && (i == 1 || i == 2 && s.At(1).Is("CHANGED"))
}
