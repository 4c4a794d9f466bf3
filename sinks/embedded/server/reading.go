package server

import (
	"context"
	"strings"
	"unicode"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/guard"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// readOnly makes a request one of the read-only way in, with the settings at the
// statement's end over those of the URL, as ClickHouse has it. Who names no database
// is in the first of the engine's: nothing is to be found in its default, where
// names can be paths.
func (s *Server) readOnly(q *request, t *sqltext.Statement) error {
	given, err := t.TakeSettings()
	if err != nil {
		return err
	}
	for name, value := range given {
		if name == "readonly" {
			return exception.Readonly("Cannot modify '%s' setting in readonly mode", name)
		}
		if err := s.guard.AdmitSetting(name); err != nil {
			return err
		}
		q.settings[name] = value
	}
	if home := s.engine.Databases()[0]; q.database == "default" && !strings.HasSuffix(home, "*") {
		q.database = home
	}
	if strings.EqualFold(q.database, "system") || strings.HasPrefix(q.database, "_") {
		return exception.Readonly("Cannot execute query in readonly mode: %s is not taken as the database of a statement here: name tables as system.tables", q.database)
	}
	if err := s.guard.AdmitFormat(first(t.Format, q.format)); err != nil {
		return err
	}
	for _, name := range []string{"enable_analyzer", "allow_experimental_analyzer"} {
		if isOn(q.settings[name]) {
			delete(q.settings, name) // what some clients ask for is how it is; the old one is not taken
		}
	}
	if zone, ok := q.settings["session_timezone"]; ok {
		if err := s.guard.AdmitZone(zone); err != nil {
			return err
		}
	}
	return q.restrict(s.guard)
}

// restrict makes a request one of the read-only way in.
func (q *request) restrict(g *guard.Guard) error {
	for name := range q.settings {
		if err := g.AdmitSetting(name); err != nil {
			return err
		}
		if strings.ContainsFunc(q.settings[name], unicode.IsControl) {
			return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The value of setting '%s' cannot be read", name)
		}
	}
	q.settings["readonly"] = "1"
	return nil
}

// inItsWords is the answer to a refused statement: the engine's own words where the statement is
// mistyped. They come after the refusal, with places and connections given back, and
// never instead of it. With full rights the engine has refused it, but may count places
// in a statement to which a format was added.
func (h *handler) inItsWords(ctx context.Context, q *request, refused error) error {
	if q == nil || h.rights == mirrored || !guard.Explains(refused) || h.rights == full && exception.As(refused).Code != exception.Syntax {
		return refused
	}
	if _, inserts := sqltext.ParseInsert(q.text); inserts {
		return refused
	}
	typed := q.typed
	if typed == nil {
		typed = new(sqltext.Parse(q.text))
	}
	answer := refused
	asking := &request{database: "default", settings: map[string]string{"readonly": "1"}}
	_ = h.use(ctx, asking, func(c *embedded.Conn) error { // with no place for it, the refusal has to do
		parses := func(sql string) (uint32, error) {
			parsed, err := c.Classify(sql)
			return parsed.Statements, err
		}
		if h.rights == reading {
			answer = guard.Explain(c.Ask, parses, typed, refused)
		} else if mistyped := guard.Mistyped(c.Ask, parses, typed, refused); mistyped != nil {
			answer = mistyped
		}
		return answer
	})
	return answer
}
