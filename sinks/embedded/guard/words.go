package guard

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// A statement that is refused may have been mistyped, and then its author looks for a mistake
// in it, and not for what is taken here. So the engine is asked after the refusal. Its parser
// gets the statement as a text, which runs nothing of it. For a name that it may not know, it
// gets a statement of Larder's own in which nothing else stands. Its answer is only passed on:
// a refused statement stays refused.

// kind is what a name is the name of.
type kind struct {
	question    string // to the engine, about a name that it does not have
	scope       string // of the name in the engine's answer
	code        int
	label, text string // when the engine has no words for it
}

var (
	function      = kind{"DESCRIBE (SELECT `%s`())", "SELECT %s()", exception.UnknownFunction, "UNKNOWN_FUNCTION", "Function with name %q does not exist: system.functions has the names; case counts for many of them"}
	tableFunction = kind{"DESCRIBE TABLE `%s`()", "", exception.UnknownFunction, "UNKNOWN_FUNCTION", "Unknown table function %q: system.table_functions has the names"}
	dataType      = kind{"DESCRIBE (SELECT CAST(NULL, '%s'))", "SELECT CAST(NULL, '%s')", exception.UnknownType, "UNKNOWN_TYPE", "Unknown data type %q: system.data_type_families has the names"}
	format        = kind{"SELECT 1 FORMAT `%s`", "", exception.UnknownFormat, "UNKNOWN_FORMAT", "Unknown format %q: system.formats has the names"}
	setting       = kind{"SELECT 1 SETTINGS `%s` = 1", "", exception.UnknownSetting, "UNKNOWN_SETTING", "Unknown setting %q: system.settings has the names"}
)

// UnknownError is the error of a name that the engine does not have: nothing is kept from the
// reader.
type UnknownError struct {
	*exception.Exception
	kind kind
	name string
}

func (e *UnknownError) Unwrap() error { return e.Exception }

func unknown(k kind, name string) error {
	return &UnknownError{exception.Refuse(k.code, k.label, k.text, name), k, name}
}

// UnknownSetting is the error of a setting that the engine does not have.
func UnknownSetting(name string) error { return unknown(setting, name) }

// plainName is a name of which a question can be made: in quotes it stands for nothing else.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// words are what the engine says of the name; nil when it has nothing to say.
func (e *UnknownError) words(ask Ask) error {
	if !plainName.MatchString(e.name) {
		return nil
	}
	_, err := ask(fmt.Sprintf(e.kind.question, e.name), "Null")
	var thrown *exception.Exception
	if !errors.As(err, &thrown) || thrown.Code != e.kind.code {
		return nil
	}
	text := thrown.Message
	if e.kind.scope != "" { // the question's, which nobody has typed
		scope := "In scope " + fmt.Sprintf(e.kind.scope, e.name)
		text = strings.NewReplacer(": "+scope, "", " "+scope+".", "").Replace(text)
	}
	return &exception.Exception{Code: thrown.Code, Message: text}
}

// Explains is true when the engine may have more to say about a refused statement.
func Explains(refused error) bool {
	var mistyped *UnknownError
	var thrown *exception.Exception
	return errors.As(refused, &mistyped) || errors.As(refused, &thrown) && (thrown.Code == exception.CodeReadonly || thrown.Code == exception.Syntax)
}

// Parses asks the engine's parser how many statements a text holds, 0 for one that it
// cannot read.
type Parses func(sql string) (uint32, error)

// Mistyped is what the engine says of a statement that it cannot read as it was typed, and
// the refusal when it has nothing to say; nil when it can read it.
func Mistyped(ask Ask, parses Parses, typed *sqltext.Statement, refused error) error {
	if typed.SQL == "" || errors.Is(refused, errMany) {
		return nil
	}
	if exception.As(refused).Code == exception.Syntax { // parsing is slow, and was tried with the format
		return syntaxError(ask, typed.SQL, refused)
	}
	n, err := parses(typed.SQL)
	switch {
	case err != nil:
		return refused
	case n == 0:
		return syntaxError(ask, typed.SQL, refused)
	}
	return nil
}

// Explain is the answer to a refused statement: what the engine says of it,
// or the refusal.
func Explain(ask Ask, parses Parses, typed *sqltext.Statement, refused error) error {
	if answer := Mistyped(ask, parses, typed, refused); answer != nil {
		return answer
	}
	var mistyped *UnknownError
	switch {
	case errors.Is(refused, errMany):
		return refused
	case errors.As(refused, &mistyped):
		if answer := mistyped.words(ask); answer != nil {
			return answer
		}
		return refused
	case endsInComma(typed):
		last := typed.Tokens[len(typed.Tokens)-1]
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: failed at position %d (,): nothing follows this comma", last.From+1)
	case typed.SQL != "" && !readingKeywords[typed.Keyword]:
		return refuseStatement(typed.Keyword)
	}
	return refused
}

// endsInComma is true of SELECT 1, which the engine reads as if the comma were not there,
// and with a format behind it as two columns.
func endsInComma(s *sqltext.Statement) bool {
	return len(s.Tokens) > 0 && s.Tokens[len(s.Tokens)-1].Symbol(",")
}

var errMany = exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)")

// refuseStatement is the error for a statement that does not only read.
func refuseStatement(keyword string) error {
	switch keyword {
	case "set":
		return exception.Readonly("Cannot execute query in readonly mode: nothing can be set for later statements here: write SETTINGS name = value at the end of a statement, or ?name=value in the URL")
	case "use":
		return exception.Readonly("Cannot execute query in readonly mode: the default database is that of each request here: pass ?database=, or name tables as database.table")
	}
	return exception.Readonly("Cannot execute query in readonly mode: only SELECT, WITH, SHOW, DESCRIBE, EXPLAIN and EXISTS are taken here")
}

// longestQuestion is what the engine's parser reads; of a longer one it would complain of
// the length.
const longestQuestion = 256 << 10

// syntaxError is what the engine says of a statement that it cannot read, nil of another. It is
// asked about the statement as a text: behind EXPLAIN, the end of one that does not
// parse by itself could become a part of the EXPLAIN.
func syntaxError(ask Ask, sql string, tooLong error) error {
	question := "SELECT formatQuery(" + sqltext.QuoteString(sql) + ")"
	if len(question) > longestQuestion {
		return tooLong
	}
	_, err := ask(question, "Null")
	var thrown *exception.Exception
	if !errors.As(err, &thrown) {
		return nil
	}
	return &exception.Exception{Code: thrown.Code, Message: ownScope.ReplaceAllString(thrown.Message, ".")}
}

// ownScope is where the engine quotes the question instead of the statement.
var ownScope = regexp.MustCompile(`(?s):? In scope SELECT formatQuery\(.*\)\.`)
