package app

import (
	"strings"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// PassError says what a pass has found wrong, a line each, with the largest of its exit codes.
type PassError struct {
	lines []string
	code  int
}

func (e *PassError) Error() string { return strings.Join(e.lines, linesBelow) }

// ExitCode is the largest of what went wrong.
func (e *PassError) ExitCode() int { return e.code }

// linesBelow separates the lines of an error: the second one begins below the text of
// the first.
const linesBelow = "\n        "

// adviceQuarantine is what to do about rows in quarantine.
const adviceQuarantine = "  → What could not be understood is kept whole. Look at it with: larder sql \"SELECT stream, row_id, field, reason FROM quarantine\""

// add takes in a line of what went wrong.
func (e *PassError) add(code int, line string) {
	e.lines, e.code = append(e.lines, line), max(e.code, code)
}

// source takes in what went wrong with a source or, when it is named, a stream of it.
func (e *PassError) source(source, stream string, f *status.Failure) {
	if f == nil {
		return
	}
	line := "source " + source + ": "
	if stream != "" {
		line += "stream " + stream + ": "
	}
	line += strings.ReplaceAll(f.Text, "\n", linesBelow)
	if f.Hint != "" {
		line += "\n          → " + f.Hint
	}
	e.add(f.Code, line)
}

// passError is what went wrong in a pass, nil when nothing did. found are lines that come
// first, of what the pass looked for.
func passError[S status.Outcomer](sources []status.SourceOutcome[S], found ...string) error {
	e := &PassError{}
	for _, line := range found {
		e.add(exit.Problem, line)
	}
	quarantined := false
	for i := range sources {
		s := &sources[i]
		e.source(s.Source, "", s.Err)
		for j := range s.Streams {
			o := s.Streams[j].Outcome()
			e.source(s.Source, o.Stream, o.Err)
			if o.InQuarantine > 0 {
				quarantined = true
				e.add(exit.Problem, "source "+s.Source+": stream "+o.Stream+": "+text.Counted(o.InQuarantine, "row", "is", "are")+" in quarantine")
			}
		}
	}
	if quarantined {
		e.add(exit.Problem, adviceQuarantine)
	}
	return e.orNil()
}

func (e *PassError) orNil() error {
	if len(e.lines) == 0 {
		return nil
	}
	return e
}
