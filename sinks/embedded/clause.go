package embedded

import "strings"

// takeSettings cuts SETTINGS name = value, … off the end of a statement and returns
// the pairs, so that they are checked and given like those of the URL. Anything
// else that the clause may hold in ClickHouse (a flag without a value, a dotted
// name, an expression) stays in the statement, where it is refused.
func (s *statement) takeSettings() (map[string]string, error) {
	at := s.settingsAt()
	if at < 0 {
		return nil, nil
	}
	given, end, ok := s.pairs(at + 1)
	formatted := s.at(end).is("FORMAT") && s.at(end+1).name() != "" && end+2 == len(s.tokens)
	if !ok || end < len(s.tokens) && !formatted {
		return nil, readonlyError("Cannot execute query in readonly mode: SETTINGS are taken as name = value here, the value a number or a plain text in single quotes")
	}
	for name := range given {
		if name == "readonly" || !maySet[name] {
			return nil, readonlyError("Cannot modify '%s' setting in readonly mode", name)
		}
	}
	text := s.sql[:s.at(at-1).to]
	if end < len(s.tokens) {
		text += "\n" + s.sql[s.tokens[end].from:]
	}
	*s = parseStatement(text)
	return given, nil
}

// settingsAt is where the last clause outside of parentheses begins, -1 for none.
func (s *statement) settingsAt() int {
	found, depth := -1, 0
	for i, t := range s.tokens {
		switch {
		case t.symbol("("), t.symbol("["), t.symbol("{"):
			depth++
		case t.symbol(")"), t.symbol("]"), t.symbol("}"):
			depth--
		case depth == 0 && i > 0 && t.is("SETTINGS") && !s.namesSettings(i):
			found = i
		}
	}
	return found
}

// pairs reads name = value, … from token i on, and says where it ends.
func (s *statement) pairs(i int) (given map[string]string, end int, ok bool) {
	given = map[string]string{}
	for {
		name := s.at(i)
		if name.kind != word || !s.at(i+1).symbol("=") {
			return nil, 0, false
		}
		value, after, ok := s.plainValue(i + 2)
		if !ok {
			return nil, 0, false
		}
		given[name.text] = value
		if !s.at(after).symbol(",") {
			return given, after, true
		}
		i = after + 1
	}
}

// plainValue reads a number, a word such as true, or a text without escapes.
func (s *statement) plainValue(i int) (value string, after int, ok bool) {
	t := s.at(i)
	if t.kind == literal {
		value = strings.TrimSuffix(strings.TrimPrefix(t.text, "'"), "'")
		return value, i + 1, len(t.text) == len(value)+2 && !strings.ContainsAny(value, `'\`)
	}
	if t.symbol("-") {
		value, i = "-", i+1
	}
	if s.at(i).kind != word {
		return "", 0, false
	}
	value += s.at(i).text
	if s.at(i+1).symbol(".") && s.at(i+2).kind == word && s.at(i+1).from == s.at(i).to && s.at(i+2).from == s.at(i+1).to {
		return value + "." + s.at(i+2).text, i + 3, true
	}
	return value, i + 1, true
}

// readOnly makes a request one of the read-only way in, with the settings at the
// statement's end over those of the URL, as ClickHouse has it. Who names no database
// is in the first of the engine's: nothing is to be found in its default, where
// names can be paths.
func (e *Engine) readOnly(q *request, s *statement) error {
	given, err := s.takeSettings()
	if err != nil {
		return err
	}
	for name, value := range given {
		if !e.names[name] {
			return refuse(codeUnknownSetting, "UNKNOWN_SETTING", "Unknown setting '%s'", name)
		}
		q.settings[name] = value
	}
	if home := e.databases[0]; q.database == "default" && !strings.HasSuffix(home, "*") {
		q.database = home
	}
	if strings.EqualFold(q.database, "system") || strings.HasPrefix(q.database, "_") {
		return readonlyError("Cannot execute query in readonly mode: %s is not taken as the database of a statement here: name tables as system.tables", q.database)
	}
	if format := first(s.format, q.format); !harmlessFormats[strings.ToLower(format)] {
		return readonlyError("Cannot execute query in readonly mode: the format %s is not taken here", format)
	}
	if zone, ok := q.settings["session_timezone"]; ok {
		if err := e.zones.admit(zone); err != nil {
			return err
		}
	}
	return q.restrict()
}
