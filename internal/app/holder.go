package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/larder-sync/larder/sinks/embedded"
)

// notBesideAnother refuses a data folder that another process holds and answers for,
// before anything is complained of that this process has taken as well.
func (a *reach) notBesideAnother(ctx context.Context) error {
	if !a.cfg.Warehouse.DSN.Embedded() {
		return nil
	}
	h, err := a.throughHolder().Holder().Who(ctx)
	if err != nil {
		return nil //nolint:nilerr // nobody answers, or nobody who is known: opening the folder tells
	}
	return a.heldError(h)
}

func (a *reach) heldError(h holder) error {
	dir := a.cfg.Warehouse.DSN.Dir()
	if h.Command == CommandRun {
		return &WarehouseError{fmt.Errorf("%s already runs on the data folder %s: %s", h, dir, h.Next())}
	}
	return &WarehouseError{fmt.Errorf("the data folder %s is held by process %d, a %s: %s", dir, h.PID, h.Command, h.Next())}
}

// ifBusy says which process it was that did not take a task, and what to do.
func (a *reach) ifBusy(ctx context.Context, w *route, err error) error {
	if !errors.Is(err, errNotServed) {
		return err
	}
	h, unknown := w.Holder().Who(ctx)
	if unknown != nil || h.Command == CommandRun {
		return &WarehouseError{err}
	}
	return &WarehouseError{fmt.Errorf("the data folder %s is held by process %d, which is a %s and no daemon: "+
		"wait until it has ended (larder status shows how far it is), or end it with Ctrl-C or kill %d; nothing that it has stored is lost",
		a.cfg.Warehouse.DSN.Dir(), h.PID, h.Command, h.PID)}
}

// heldBy names the command of the process that keeps this one from opening the folder.
func (a *reach) heldBy(ctx context.Context, err error) error {
	h, unknown := a.throughHolder().Holder().Who(ctx)
	if held, ok := errors.AsType[*embedded.HeldError](err); !ok || unknown != nil || h.PID != held.PID {
		return err
	}
	return a.heldError(h)
}

// servedByDaemon is true when a daemon holds the embedded warehouse, or a command that
// makes a pass.
func (a *reach) servedByDaemon(ctx context.Context) bool {
	_, err := a.throughHolder().Holder().Status(ctx)
	return err == nil
}
