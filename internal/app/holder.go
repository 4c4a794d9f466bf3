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
	next := "stop it, or give this one another folder"
	if h.Command != CommandRun {
		next = "wait until it has ended, or end it with Ctrl-C; nothing that it has stored is lost"
	}
	return &WarehouseError{fmt.Errorf("the data folder %s is held by process %d, a %s: %s", a.cfg.Warehouse.DSN.Dir(), h.PID, h.Command, next)}
}
