package app

import (
	"context"
	"errors"

	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer"
)

// task is a pass that a command wants made.
type task struct {
	sel      syncer.Selection
	existing bool // it needs an existing warehouse

	there func(control.Client) error                                         // by the daemon on the embedded warehouse
	here  func(*lifecycle.Cleanups, *warehouse.Route, []syncer.Source) error // by this one
}

// run runs a task: beside a daemon on the same embedded warehouse, the daemon does
// the work.
func (a *App) run(ctx context.Context, e task) (err error) {
	if err := a.checkSelection(e.sel); err != nil {
		return err
	}
	sources, err := a.sources(nil)
	if err != nil {
		return err
	}
	if e.existing {
		if err := a.Existing(ctx); err != nil {
			return err
		}
	}
	if a.Served(ctx) {
		return e.there(a.Daemon())
	}
	l := &lifecycle.Cleanups{Log: a.Log}
	defer func() { err = errors.Join(err, l.Close()) }()
	w, err := a.Reach(ctx, l)
	if err != nil {
		return err
	}
	return e.here(l, w, sources)
}
