// Package exit says with which code a command ends (DESIGN §2), and has the errors that
// decide it.
//
// What may live here: codes, and errors that any command may end with. What may not: what
// a single command finds; its errors bring their code along (ExitCode).
package exit

import (
	"context"
	"errors"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/syncer"
)

// Exit codes (DESIGN §2).
const (
	Done      = 0
	Problem   = 1 // it ran and found something wrong
	Usage     = 2 // usage or configuration
	API       = 3 // the API refused: key, scope
	Warehouse = 4 // the warehouse could not be reached
)

// Code is the exit code of an error. Where a command has found several, internal/app (worst)
// and internal/check (Run) say which of them counts.
func Code(err error) int {
	if err == nil {
		return Done
	}
	if e, ok := errors.AsType[coded](err); ok {
		return e.ExitCode()
	}
	switch {
	case errors.Is(err, context.Canceled): // whatever it was doing
		return Problem
	case Is[*usageError](err), Is[*config.Error](err), Is[*inbound.ListenError](err), Is[*syncer.MisfitError](err), api.IsNoEndpoint(err):
		return Usage
	case Is[*WarehouseError](err), errors.Is(err, connection.ErrUnreachable):
		return Warehouse
	case errors.Is(err, syncer.ErrNoScope), api.IsUnauthorized(err), api.IsKeyDisabled(err), api.IsScope(err), api.IsLocationForbidden(err):
		return API
	default:
		return Problem
	}
}

// coded is an error that knows its exit code.
type coded interface {
	error
	ExitCode() int
}

// Is is true when an error of that type is among those that err wraps.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Explain is what to print for an error; empty when the command has said all.
func Explain(err error) string {
	switch {
	case err == nil, Is[printed](err):
		return ""
	case Is[*InterruptedError](err):
		return err.Error()
	case errors.Is(err, context.Canceled):
		return "interrupted"
	default:
		return err.Error()
	}
}

// printed is an error of which everything has been printed already.
type printed interface {
	error
	Printed()
}

// InterruptedError means that a person has stopped waiting for a pass that a daemon
// makes, and what becomes of it.
type InterruptedError struct{ Next string }

func (e *InterruptedError) Error() string { return "interrupted; " + e.Next }

// Unwrap makes it known as what it is.
func (e *InterruptedError) Unwrap() error { return context.Canceled }

type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// UsageError marks an error as one of the command line or the configuration.
func UsageError(err error) error { return &usageError{err} }

// WarehouseError means that the warehouse could not be reached, or not be used.
type WarehouseError struct{ Err error }

func (e *WarehouseError) Error() string { return e.Err.Error() }

func (e *WarehouseError) Unwrap() error { return e.Err }

// RemoteError is an error of the daemon that did a command's work.
type RemoteError struct {
	Text string
	Code int
}

func (e *RemoteError) Error() string { return e.Text }

// ExitCode is the one that the daemon has found.
func (e *RemoteError) ExitCode() int { return e.Code }
