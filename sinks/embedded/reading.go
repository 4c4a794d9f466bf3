package embedded

import (
	"strings"
	"unicode"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/guard"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// readOnly makes a request one of the read-only way in, with the settings at the
// statement's end over those of the URL, as ClickHouse has it. Who names no database
// is in the first of the engine's: nothing is to be found in its default, where
// names can be paths.
func (e *Engine) readOnly(q *request, s *sqltext.Statement) error {
	given, err := s.TakeSettings()
	if err != nil {
		return err
	}
	for name, value := range given {
		if name == "readonly" || !guard.MaySet(name) {
			return exception.Readonly("Cannot modify '%s' setting in readonly mode", name)
		}
		if !e.names[name] {
			return exception.Refuse(exception.UnknownSetting, "UNKNOWN_SETTING", "Unknown setting '%s'", name)
		}
		q.settings[name] = value
	}
	if home := e.databases[0]; q.database == "default" && !strings.HasSuffix(home, "*") {
		q.database = home
	}
	if strings.EqualFold(q.database, "system") || strings.HasPrefix(q.database, "_") {
		return exception.Readonly("Cannot execute query in readonly mode: %s is not taken as the database of a statement here: name tables as system.tables", q.database)
	}
	if format := first(s.Format, q.format); !guard.MayFormat(format) {
		return exception.Readonly("Cannot execute query in readonly mode: the format %s is not taken here", format)
	}
	for _, name := range []string{"enable_analyzer", "allow_experimental_analyzer"} {
		if isOn(q.settings[name]) {
			delete(q.settings, name) // what some clients ask for is how it is; the old one is not taken
		}
	}
	if zone, ok := q.settings["session_timezone"]; ok {
		if err := e.guard.AdmitZone(zone); err != nil {
			return err
		}
	}
	return q.restrict()
}

// restrict makes a request one of the read-only way in.
func (q *request) restrict() error {
	for name := range q.settings {
		if !guard.MaySet(name) {
			return exception.Readonly("Cannot modify '%s' setting in readonly mode", name)
		}
		if strings.ContainsFunc(q.settings[name], unicode.IsControl) {
			return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The value of setting '%s' cannot be read", name)
		}
	}
	q.settings["readonly"] = "1"
	return nil
}
