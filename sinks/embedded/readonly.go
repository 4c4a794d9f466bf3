package embedded

import "strings"

// rights are what a way in may do.
type rights int

const (
	full rights = iota
	reading
)

// What the read-only way in allows is decided four times over, since each check
// has its blind spots: by the engine's own parser (one statement, of the class
// that changes nothing), by the first word, by the names of functions, and by
// readonly=1 on the connection, which also stops table functions that reach
// outside and a change of a setting, but not one within a subquery.

var readingKeywords = map[string]bool{
	"select": true, "with": true, "show": true, "describe": true,
	"desc": true, "explain": true, "exists": true,
}

// deniedFunctions reach files or other machines although readonly=1 is set. A
// name of theirs is refused wherever it stands unquoted: APPLY(file) calls too.
var deniedFunctions = map[string]bool{
	"file": true, "hascolumnintable": true, "reversednsquery": true,
	"showcertificate": true, "catboostevaluate": true, "python": true,
}

// harmlessTableFunctions touch nothing but the warehouse; all others that the
// engine knows are refused when called.
var harmlessTableFunctions = map[string]bool{
	"numbers": true, "numbers_mt": true, "zeros": true, "zeros_mt": true, "primes": true,
	"generaterandom": true, "generateseries": true, "generate_series": true, "values": true,
	"sqlstandardvalues": true, "view": true, "viewifpermitted": true, "viewexplain": true,
	"merge": true, "null": true, "format": true, "mergetreeindex": true,
	"mergetreeprojection": true, "mergetreetextindex": true, "dictionary": true,
}

// readingSettings may be changed from outside: they shape an answer or make its
// limits stricter, and name no file.
func readingSetting(name string) bool {
	for _, prefix := range []string{"output_format_", "max_result_", "max_rows_to_", "max_bytes_to_", "join_", "date_time_", "use_query_"} {
		if strings.HasPrefix(name, prefix) && !strings.Contains(name, "schema") {
			return true
		}
	}
	switch name {
	case "max_execution_time", "timeout_overflow_mode", "result_overflow_mode", "read_overflow_mode",
		"max_threads", "max_block_size", "extremes", "final", "limit", "offset", "session_timezone",
		"readonly", "log_comment", "transform_null_in", "any_join_distinct_right_table_keys",
		"prefer_column_name_to_alias", "aggregate_functions_null_for_empty", "union_default_mode",
		"group_by_use_nulls", "data_type_default_nullable", "allow_experimental_analyzer", "enable_analyzer":
		return true
	}
	return false
}

func readonlyError(format string, args ...any) error {
	return refuse(codeReadonly, "READONLY", format, args...)
}

// restrict makes a request one of the read-only way in.
func (q *request) restrict() error {
	for name := range q.settings {
		if !readingSetting(name) {
			return readonlyError("Cannot modify '%s' setting in readonly mode", name)
		}
	}
	q.settings["readonly"] = "1"
	return nil
}

// mayRead refuses what is no plain reading of the warehouse.
func (e *Engine) mayRead(c *conn, s *statement) error {
	if !readingKeywords[s.keyword] {
		return readonlyError("Cannot execute query in readonly mode: only SELECT, WITH, SHOW, DESCRIBE, EXPLAIN and EXISTS are taken here")
	}
	if s.odd {
		return readonlyError("Cannot execute query in readonly mode: outside of quotes only ASCII without $ and # is taken here")
	}
	for i, t := range s.tokens {
		if err := e.mayName(t, s.at(i+1).symbol("(")); err != nil {
			return err
		}
		if t.is("SETTINGS") && s.at(i+2).symbol("=") {
			return readonlyError("Cannot execute query in readonly mode: SETTINGS are not taken in a statement here, a few are as URL parameters")
		}
	}
	a, err := c.classify(s.sql)
	if err != nil {
		return err
	}
	if a.statements > 0 && (a.statements > 1 || a.class != classReading) {
		return readonlyError("Cannot execute query in readonly mode")
	}
	return nil
}

// at returns a token, one of the end behind the last.
func (s *statement) at(i int) token {
	if i < len(s.tokens) {
		return s.tokens[i]
	}
	return token{}
}

func (e *Engine) mayName(t token, called bool) error {
	name := strings.ToLower(t.text)
	switch {
	case t.kind == word && (deniedFunctions[name] || called && e.denied[name]):
		return readonlyError("Cannot execute query in readonly mode: function %s is not taken here", t.text)
	case t.is("OUTFILE") || t.is("INFILE"):
		return readonlyError("Cannot execute query in readonly mode: files are not written or read here")
	case t.kind == quoted && (called || strings.Contains(t.text, `\`)):
		return readonlyError("Cannot execute query in readonly mode: a quoted name may have no escapes and is not called as a function here")
	case t.kind == quoted && deniedFunctions[strings.ToLower(strings.Trim(t.text, "`\""))]:
		return readonlyError("Cannot execute query in readonly mode: the name %s is not taken here", t.text)
	}
	return nil
}
