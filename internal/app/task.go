package app

import (
	"context"
	"errors"

	"github.com/larder-sync/larder/syncer"
)

// task is a pass that a command wants made.
type task struct {
	sel      syncer.Selection
	existing bool // it needs an existing warehouse

	there func(*route) error                              // by the process that holds the embedded warehouse
	here  func(*lifecycle, *route, []syncer.Source) error // by this one
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
		if err := a.existing(ctx); err != nil {
			return err
		}
	}
	l := &lifecycle{log: a.log}
	defer func() { err = errors.Join(err, l.close()) }()
	w, err := a.ownOrDaemon(ctx, l)
	switch {
	case err != nil:
		return err
	case w.held:
		return a.ifBusy(ctx, w, e.there(w))
	default:
		return e.here(l, w, sources)
	}
}
