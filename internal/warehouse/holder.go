package warehouse

import (
	"context"
	"errors"
	"fmt"

	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/sinks/embedded"
)

// NotBesideAnother refuses a data folder that another process holds and answers for,
// before anything is complained of that this process has taken as well.
func (a *Opener) NotBesideAnother(ctx context.Context) error {
	if !a.Config.Warehouse.DSN.Embedded() {
		return nil
	}
	h, err := a.ThroughHolder().Holder().Who(ctx)
	if err != nil {
		return nil //nolint:nilerr // nobody answers, or nobody who is known: opening the folder tells
	}
	return a.heldError(h)
}

func (a *Opener) heldError(h control.Holder) error {
	dir := a.Config.Warehouse.DSN.Dir()
	if h.Command == control.CommandRun {
		return &exit.WarehouseError{Err: fmt.Errorf("%s already runs on the data folder %s: %s", h, dir, h.Next())}
	}
	return &exit.WarehouseError{Err: fmt.Errorf("the data folder %s is held by process %d, a %s: %s", dir, h.PID, h.Command, h.Next())}
}

// IfBusy says which process it was that did not take a task, and what to do.
func (a *Opener) IfBusy(ctx context.Context, w *Route, err error) error {
	if !errors.Is(err, control.ErrNotServed) {
		return err
	}
	h, unknown := w.Holder().Who(ctx)
	if unknown != nil || h.Command == control.CommandRun {
		return &exit.WarehouseError{Err: err}
	}
	return &exit.WarehouseError{Err: fmt.Errorf("the data folder %s is held by process %d, which is a %s and no daemon: "+
		"wait until it has ended (larder status shows how far it is), or end it with Ctrl-C or kill %d; nothing that it has stored is lost",
		a.Config.Warehouse.DSN.Dir(), h.PID, h.Command, h.PID)}
}

// HeldBy names the command of the process that keeps this one from opening the folder.
func (a *Opener) HeldBy(ctx context.Context, err error) error {
	h, unknown := a.ThroughHolder().Holder().Who(ctx)
	if held, ok := errors.AsType[*embedded.HeldError](err); !ok || unknown != nil || h.PID != held.PID {
		return err
	}
	return a.heldError(h)
}

// ServedByDaemon is true when a daemon holds the embedded warehouse, or a command that
// makes a pass.
func (a *Opener) ServedByDaemon(ctx context.Context) bool {
	_, err := a.ThroughHolder().Holder().Status(ctx)
	return err == nil
}
