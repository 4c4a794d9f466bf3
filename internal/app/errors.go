package app

import (
	"errors"
	"strings"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// failures are the failures of a pass, a line each, with the largest of their exit codes.
type failures struct {
	lines []string
	code  int
}

// linesBelow separates the lines of an error: the second one begins below the text of
// the first.
const linesBelow = "\n        "

// add adds a line.
func (f *failures) add(code int, line string) {
	f.lines, f.code = append(f.lines, line), max(f.code, code)
}

// source adds the failure of a source or, when it is named, of a stream of it; failure may be nil.
func (f *failures) source(source, stream string, failure *status.Failure) {
	if failure == nil {
		return
	}
	line := "source " + source + ": "
	if stream != "" {
		line += "stream " + stream + ": "
	}
	line += strings.ReplaceAll(failure.Text, "\n", linesBelow)
	if failure.Hint != "" {
		line += "\n          → " + failure.Hint
	}
	f.add(failure.Code, line)
}

// passError is the error of a pass, nil when nothing failed. found are lines that come first: the
// differences that the pass looked for.
func passError[S status.Outcomer](sources []status.SourceOutcome[S], found ...string) error {
	all := &failures{}
	for _, line := range found {
		all.add(lifecycle.ExitProblem, line)
	}
	quarantined := false
	for i := range sources {
		s := &sources[i]
		all.source(s.Source, "", s.Err)
		for j := range s.Streams {
			o := s.Streams[j].Outcome()
			all.source(s.Source, o.Stream, o.Err)
			if o.InQuarantine > 0 {
				quarantined = true
				all.add(lifecycle.ExitProblem, "source "+s.Source+": stream "+o.Stream+": "+text.Counted(o.InQuarantine, "row", "is", "are")+" in quarantine")
			}
		}
	}
	if quarantined {
		all.add(lifecycle.ExitProblem, "  → "+status.AdviceQuarantine)
	}
	return all.err()
}

// err returns the failures as one error, nil for none.
func (f *failures) err() error {
	if len(f.lines) == 0 {
		return nil
	}
	return &lifecycle.ExitError{Err: errors.New(strings.Join(f.lines, linesBelow)), Code: f.code}
}
