package app

import (
	"errors"
	"strings"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// wrong is what a pass has found wrong, a line each, with the largest of its exit codes.
type wrong struct {
	lines []string
	code  int
}

// linesBelow separates the lines of an error: the second one begins below the text of
// the first.
const linesBelow = "\n        "

// add takes in a line of what went wrong.
func (w *wrong) add(code int, line string) {
	w.lines, w.code = append(w.lines, line), max(w.code, code)
}

// source takes in what went wrong with a source or, when it is named, a stream of it.
func (w *wrong) source(source, stream string, f *status.Failure) {
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
	w.add(f.Code, line)
}

// passError is what went wrong in a pass, nil when nothing did. found are lines that come
// first, of what the pass looked for.
func passError[S status.Outcomer](sources []status.SourceOutcome[S], found ...string) error {
	w := &wrong{}
	for _, line := range found {
		w.add(exit.Problem, line)
	}
	quarantined := false
	for i := range sources {
		s := &sources[i]
		w.source(s.Source, "", s.Err)
		for j := range s.Streams {
			o := s.Streams[j].Outcome()
			w.source(s.Source, o.Stream, o.Err)
			if o.InQuarantine > 0 {
				quarantined = true
				w.add(exit.Problem, "source "+s.Source+": stream "+o.Stream+": "+text.Counted(o.InQuarantine, "row", "is", "are")+" in quarantine")
			}
		}
	}
	if quarantined {
		w.add(exit.Problem, "  → "+status.AdviceQuarantine)
	}
	return w.err()
}

// err is what was found wrong as an error, nil for nothing.
func (w *wrong) err() error {
	if len(w.lines) == 0 {
		return nil
	}
	return &exit.Error{Err: errors.New(strings.Join(w.lines, linesBelow)), Code: w.code}
}
