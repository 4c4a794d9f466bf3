package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/larder-sync/larder/sinks/embedded"
)

// CommandRun is the command of a daemon; the others make one pass and end.
const CommandRun = "larder run"

// holder is the process that holds the data folder.
type holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // "larder sync"
}

// askHolder asks the process that holds the engine who it is.
func (w *route) askHolder(ctx context.Context) (h holder, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := w.ask(ctx, http.MethodGet, routeHolder, nil)
	if err != nil {
		return h, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	return h, json.NewDecoder(body).Decode(&h)
}

// whoHolds says which command holds the data folder.
func (w *route) whoHolds(ctx context.Context) string {
	h, err := w.askHolder(ctx)
	if err != nil {
		return "another process holds it"
	}
	return h.String() + " holds it"
}

// String names a holder: "a daemon (larder run, process 7)".
func (h holder) String() string {
	if h.Command == CommandRun {
		return fmt.Sprintf("a daemon (%s, process %d)", h.Command, h.PID)
	}
	return fmt.Sprintf("a %s (process %d)", h.Command, h.PID)
}

// next is what to do for a process of one's own in the holder's place.
func (h holder) next() string {
	if h.Command == CommandRun {
		return "larder status shows what it does; stop it first, or give this one another folder (warehouse.dsn)"
	}
	return "wait until it has ended, or end it with Ctrl-C; nothing that it has stored is lost"
}

// notBesideAnother refuses a data folder that another process holds and answers for,
// before anything is complained of that this process has taken as well.
func (a *reach) notBesideAnother(ctx context.Context) error {
	if !a.cfg.Warehouse.DSN.Embedded() {
		return nil
	}
	h, err := a.throughHolder().askHolder(ctx)
	if err != nil {
		return nil //nolint:nilerr // nobody answers, or nobody who is known: opening the folder tells
	}
	return a.heldError(h)
}

func (a *reach) heldError(h holder) error {
	dir := a.cfg.Warehouse.DSN.Dir()
	if h.Command == CommandRun {
		return &WarehouseError{fmt.Errorf("%s already runs on the data folder %s: %s", h, dir, h.next())}
	}
	return &WarehouseError{fmt.Errorf("the data folder %s is held by process %d, a %s: %s", dir, h.PID, h.Command, h.next())}
}

// ifBusy says which process it was that did not take a task, and what to do.
func (a *reach) ifBusy(ctx context.Context, w *route, err error) error {
	if !errors.Is(err, errNotServed) {
		return err
	}
	h, unknown := w.askHolder(ctx)
	if unknown != nil || h.Command == CommandRun {
		return &WarehouseError{err}
	}
	return &WarehouseError{fmt.Errorf("the data folder %s is held by process %d, which is a %s and no daemon: "+
		"wait until it has ended (larder status shows how far it is), or end it with Ctrl-C or kill %d; nothing that it has stored is lost",
		a.cfg.Warehouse.DSN.Dir(), h.PID, h.Command, h.PID)}
}

// heldBy names the command of the process that keeps this one from opening the folder.
func (a *reach) heldBy(ctx context.Context, err error) error {
	h, unknown := a.throughHolder().askHolder(ctx)
	if held, ok := errors.AsType[*embedded.HeldError](err); !ok || unknown != nil || h.PID != held.PID {
		return err
	}
	return a.heldError(h)
}
