package engine

import (
	"context"
	"errors"
	"time"

	"github.com/larder-sync/larder/sinks/engine/damage"
)

// watchEvery is how often the engine looks for refused writes and damaged parts.
const watchEvery = 5 * time.Second

// guardWrites fails a statement during which the disk refused a write, or that was
// written into a folder that is not ours any more; see damage.Writes.
func (e *Engine) guardWrites(c *Conn, before uint64) error {
	if err := e.Admit(); err != nil {
		return err
	}
	return e.writes.CheckRefused(c, before)
}

// survey begins to look after the folder, with what was found at the start.
func (e *Engine) survey() error {
	f := damage.Folder{Path: e.path, Log: e.log, Owns: e.owns, Present: e.Health}
	e.writes, e.parts = damage.NewWrites(e.stopped, f), damage.NewParts(f)
	return errors.Join(e.writes.TrustDisk(e.anchor), e.parts.Start(e.anchor))
}

// watchDisk looks for refused writes and damaged parts until the engine closes.
func (e *Engine) watchDisk(context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if e.Health() != nil {
				return // there is nothing left to look at
			}
			if err := e.pool.Use(e.stopped, "default", nil, e.look); err != nil && e.stopped.Err() == nil {
				e.log.Error("embedded engine: look for writes that the disk refused", "path", e.path, "error", err)
			}
		case <-e.stopped.Done():
			return
		}
	}
}

func (e *Engine) look(c *Conn) error {
	if mended, err := e.writes.Mended(c); err != nil || !mended {
		return err
	}
	return e.parts.Look(c)
}

// SetAside takes damaged parts out of their tables when an error of reading tells of one.
// It is true when the statement may now be run again.
func (e *Engine) SetAside(ctx context.Context, err error) bool {
	return e.parts.SetAside(err, e.writes, func(f func(damage.Conn) error) error {
		err := e.pool.Use(ctx, "default", nil, func(c *Conn) error { return f(c) })
		if errors.Is(err, ErrClosed) {
			return nil // nobody waits for it any more
		}
		return err
	})
}
