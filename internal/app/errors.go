package app

import (
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/phrase"
	"github.com/larder-sync/larder/syncer"
)

// SyncError says what went wrong in a pass.
type SyncError struct{ Report syncer.Report }

func (e *SyncError) Error() string {
	return strings.Join(errorLines(outcomesOf(e.Report.Sources)), linesBelow)
}

// linesBelow stands between the lines of an error: the second one begins below the text of
// the first.
const linesBelow = "\n        "

// errorLines are what went wrong in a pass, a line each.
func errorLines(all []outcome) (lines []string) {
	for _, o := range all {
		if *o.err != nil {
			lines = append(lines, sourceLine(o.source, *o.state, *o.err))
		}
		for _, st := range o.streams {
			if st.Err != nil {
				lines = append(lines, streamLine(o.source, st.Stream, st.Err))
			}
			if st.InQuarantine > 0 {
				lines = append(lines, "source "+o.source+": stream "+st.Stream+": "+phrase.Plural(st.InQuarantine, "row")+phrase.Verb(st.InQuarantine, " is", " are")+" in quarantine")
			}
		}
	}
	if quarantines(all) {
		lines = append(lines, adviceQuarantine)
	}
	return lines
}

// sourceLine is what went wrong with a source, and what to do.
func sourceLine(source, state string, err error) string {
	return "source " + source + ": " + underneath(err) + nextStep(state)
}

// streamLine is what went wrong with a stream of it.
func streamLine(source, stream string, err error) string {
	return "source " + source + ": stream " + stream + ": " + underneath(err)
}

// adviceQuarantine is what to do about rows in quarantine.
const adviceQuarantine = "  → What could not be understood is kept whole. Look at it with: larder sql \"SELECT stream, row_id, field, reason FROM quarantine\""

// quarantines reports whether rows are in quarantine.
func quarantines(all []outcome) bool {
	return slices.ContainsFunc(all, func(o outcome) bool {
		return slices.ContainsFunc(o.streams, func(st syncer.StreamOutcome) bool { return st.InQuarantine > 0 })
	})
}

// underneath is an error whose further lines stand below the first.
func underneath(err error) string { return strings.ReplaceAll(err.Error(), "\n", linesBelow) }

// nextStep is what to do about a source in trouble.
func nextStep(state string) string {
	switch state {
	case syncer.StateUnauthorized:
		return "\n          → Put a valid key where key_file or key_env says; the restaurant makes keys."
	case syncer.StateKeyDisabled:
		return "\n          → Ask the restaurant to enable the key, or to make another."
	case syncer.StateForbidden:
		return "\n          → Ask the restaurant to grant the key what it lacks."
	case syncer.StateWaiting:
		return "\n          → Nothing is wrong when that process is yours: it keeps the source up to date."
	case syncer.StateUnreachable:
		return "\n          → Check base_url (as the service gives it, /v1 included) and the network; larder check asks again."
	default:
		return ""
	}
}

// UnservedError means that a stream that was asked for by name is off everywhere.
type UnservedError struct {
	Stream, Reason string
	Scope          bool // for lack of a scope
}

func (e *UnservedError) Error() string { return "stream " + e.Stream + " is off: " + e.Reason }

// ExitCode is that of the API's refusal, or of the configuration.
func (e *UnservedError) ExitCode() int {
	if e.Scope {
		return exit.API
	}
	return exit.Usage
}

// ExitCode is the worst of what went wrong.
func (e *SyncError) ExitCode() int { return worstOf(outcomesOf(e.Report.Sources)) }

// worstOf is the exit code of a pass in which something went wrong.
func worstOf(all []outcome) int {
	var w worst
	for _, o := range all {
		w.source(*o.state, *o.err)
		for _, st := range o.streams {
			w.stream(*o.state, st.Err)
			w.problem = w.problem || st.InQuarantine > 0
		}
	}
	return w.code()
}

// worst is the exit code of a pass in which something went wrong: the warehouse's when it
// could not be reached, which says nothing about the rest; else 1 when anything was
// neither the configuration's nor the API's refusal.
type worst struct{ problem, usage, warehouse bool }

// source takes in what went wrong with a whole source.
func (w *worst) source(state string, err error) {
	if err == nil || refused(state) {
		return
	}
	w.take(exit.Code(err))
}

// stream takes in what went wrong with a stream of it, which is never the configuration.
func (w *worst) stream(state string, err error) {
	if err == nil || refused(state) {
		return
	}
	if code := exit.Code(err); code != exit.Usage {
		w.take(code)
	} else {
		w.problem = true
	}
}

func (w *worst) take(code int) {
	w.problem = w.problem || code == exit.Problem
	w.usage = w.usage || code == exit.Usage
	w.warehouse = w.warehouse || code == exit.Warehouse
}

func (w *worst) code() int {
	switch {
	case w.warehouse:
		return exit.Warehouse
	case w.problem:
		return exit.Problem
	case w.usage:
		return exit.Usage
	}
	return exit.API
}

func refused(state string) bool {
	return state == syncer.StateUnauthorized || state == syncer.StateKeyDisabled || state == syncer.StateForbidden
}

// AttentionError means that a status has something for a person to look at; it has
// been printed.
type AttentionError struct{ Concern syncer.Concern }

func (e *AttentionError) Error() string { return e.Concern.Text }

// Printed says that it has been printed.
func (e *AttentionError) Printed() {}
