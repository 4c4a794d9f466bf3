package lifecycle

import (
	"context"
	"errors"
)

// Exit codes (docs/rules.md E1). Of several the largest counts.
const (
	ExitDone      = 0
	ExitProblem   = 1 // it ran and found something wrong
	ExitUsage     = 2 // usage or configuration
	ExitAPI       = 3 // the API refused: key, scope
	ExitWarehouse = 4 // the warehouse could not be reached
)

// coded is an error that knows its exit code.
type coded interface {
	error
	ExitCode() int
}

// ExitCode is the exit code of an error: what the outermost error that has one says, the largest of
// joined ones.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled): // whatever it was doing
		return ExitProblem
	}
	return max(ExitProblem, codeOf(err))
}

func codeOf(err error) (code int) {
	switch e := err.(type) { //nolint:errorlint // it is the tree that is walked
	case coded:
		return e.ExitCode()
	case interface{ Unwrap() error }:
		return codeOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			code = max(code, codeOf(one))
		}
	}
	return code
}

// Explain is what to print for an error; empty when the command has said all.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*ExitError](err); ok && e.Printed {
		return ""
	}
	if _, ok := errors.AsType[*InterruptedError](err); !ok && errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return err.Error()
}

// InterruptedError means that a person has stopped waiting for a pass that a daemon
// makes, and what becomes of it.
type InterruptedError struct{ Next string }

func (e *InterruptedError) Error() string { return "interrupted; " + e.Next }

// Unwrap makes it known as what it is.
func (e *InterruptedError) Unwrap() error { return context.Canceled }

// ExitError is an error with its exit code.
type ExitError struct {
	Err     error
	Code    int
	Printed bool // all that there is to say
}

func (e *ExitError) Error() string { return e.Err.Error() }

func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode implements the interface of errors that know theirs.
func (e *ExitError) ExitCode() int { return e.Code }

// UsageError marks an error as one of the command line or the configuration.
func UsageError(err error) error { return &ExitError{Err: err, Code: ExitUsage} }

// WarehouseError marks an error as one of a warehouse that could not be reached, or not be used.
func WarehouseError(err error) error { return &ExitError{Err: err, Code: ExitWarehouse} }
