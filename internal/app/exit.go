package app

import (
	"context"
	"errors"
	"strings"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
)

// Exit codes (DESIGN §2).
const (
	ExitDone      = 0
	ExitProblem   = 1 // it ran and found something wrong
	ExitUsage     = 2 // usage or configuration
	ExitAPI       = 3 // the API refused: key, scope
	ExitWarehouse = 4 // the warehouse could not be reached
)

// ExitCode is the one place that maps errors to exit codes.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if e, ok := errors.AsType[*remoteError](err); ok {
		return e.code
	}
	if e, ok := errors.AsType[*SyncError](err); ok {
		return e.code()
	}
	if e, ok := errors.AsType[*VerifyError](err); ok {
		return e.code()
	}
	if e, ok := errors.AsType[*ReconcileError](err); ok {
		return e.code()
	}
	if e, ok := errors.AsType[*CheckError](err); ok {
		return e.code
	}
	switch {
	case errors.Is(err, context.Canceled): // whatever it was doing
		return ExitProblem
	case is[*usageError](err), is[*config.Error](err), is[*inbound.ListenError](err), is[*syncer.MisfitError](err), api.IsNoEndpoint(err):
		return ExitUsage
	case is[*WarehouseError](err), errors.Is(err, clickhouse.ErrUnreachable):
		return ExitWarehouse
	case is[*ScopeError](err), errors.Is(err, syncer.ErrNoScope):
		return ExitAPI
	case is[*UnservedError](err):
		return unservedCode(err)
	case api.IsUnauthorized(err), api.IsKeyDisabled(err), api.IsScope(err), api.IsLocationForbidden(err):
		return ExitAPI
	default:
		return ExitProblem
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Explain is what to print for an error; empty when the command has said all.
func Explain(err error) string {
	switch {
	case err == nil, is[*CheckError](err), is[*AttentionError](err):
		return ""
	case is[*InterruptedError](err):
		return err.Error()
	case errors.Is(err, context.Canceled):
		return "interrupted"
	default:
		return err.Error()
	}
}

// InterruptedError tells that a person has stopped waiting for a pass that a daemon
// makes, and what becomes of it.
type InterruptedError struct{ Next string }

func (e *InterruptedError) Error() string { return "interrupted; " + e.Next }

// Unwrap makes it known as what it is.
func (e *InterruptedError) Unwrap() error { return context.Canceled }

type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// UsageError marks an error as one of the command line or the configuration.
func UsageError(err error) error { return &usageError{err} }

// WarehouseError tells that the warehouse could not be reached, or not be used.
type WarehouseError struct{ Err error }

func (e *WarehouseError) Error() string { return e.Err.Error() }

func (e *WarehouseError) Unwrap() error { return e.Err }

// SyncError tells what went wrong in a pass.
type SyncError struct{ Report syncer.Report }

func (e *SyncError) Error() string {
	var lines []string
	for _, s := range e.Report.Sources {
		if s.Err != nil {
			lines = append(lines, sourceLine(s.Source, s.State, s.Err))
		}
		for _, st := range s.Streams {
			if st.Err != nil {
				lines = append(lines, streamLine(s.Source, st.Stream, st.Err))
			}
		}
	}
	return strings.Join(lines, "\n        ")
}

// sourceLine tells what went wrong with a source, and what to do.
func sourceLine(source, state string, err error) string {
	return "source " + source + ": " + underneath(err) + nextStep(state)
}

// streamLine tells what went wrong with a stream of it.
func streamLine(source, stream string, err error) string {
	return "source " + source + ": stream " + stream + ": " + underneath(err)
}

// underneath is an error whose further lines stand below the first.
func underneath(err error) string { return strings.ReplaceAll(err.Error(), "\n", "\n        ") }

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

// UnservedError tells that a stream that was asked for by name is off everywhere.
type UnservedError struct {
	Stream, Reason string
	Scope          bool // for lack of a scope
}

func (e *UnservedError) Error() string { return "stream " + e.Stream + " is off: " + e.Reason }

func unservedCode(err error) int {
	if e, _ := errors.AsType[*UnservedError](err); e.Scope {
		return ExitAPI
	}
	return ExitUsage
}

func (e *SyncError) code() int {
	var w worst
	for _, s := range e.Report.Sources {
		w.source(s.State, s.Err)
		for _, st := range s.Streams {
			w.stream(s.State, st.Err)
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
	w.take(ExitCode(err))
}

// stream takes in what went wrong with a stream of it, which is never the configuration.
func (w *worst) stream(state string, err error) {
	if err == nil || refused(state) {
		return
	}
	if code := ExitCode(err); code != ExitUsage {
		w.take(code)
	} else {
		w.problem = true
	}
}

func (w *worst) take(code int) {
	w.problem = w.problem || code == ExitProblem
	w.usage = w.usage || code == ExitUsage
	w.warehouse = w.warehouse || code == ExitWarehouse
}

func (w *worst) code() int {
	switch {
	case w.warehouse:
		return ExitWarehouse
	case w.problem:
		return ExitProblem
	case w.usage:
		return ExitUsage
	}
	return ExitAPI
}

func refused(state string) bool {
	return state == syncer.StateUnauthorized || state == syncer.StateKeyDisabled || state == syncer.StateForbidden
}

// CheckError tells that a check failed; its lines have been printed.
type CheckError struct{ code int }

func (e *CheckError) Error() string { return "a check failed" }

// AttentionError tells that a status has something for a person to look at; it has
// been printed.
type AttentionError struct{ Concern syncer.Concern }

func (e *AttentionError) Error() string { return e.Concern.Text }

// remoteError is an error of the daemon that did a command's work.
type remoteError struct {
	text string
	code int
}

func (e *remoteError) Error() string { return e.text }
