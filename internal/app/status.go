package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// Status returns the state of the daemon that serves this configuration; when
// there is none, what the warehouse knows about the last one.
func (a *App) Status(ctx context.Context) (s syncer.Status, err error) {
	if err := a.existing(ctx); err != nil {
		if replaced, ok := errors.AsType[*folderReplacedError](err); ok {
			return replaced.status, nil
		}
		return s, err
	}
	l := &lifecycle{log: a.log}
	defer func() { err = errors.Join(err, l.close()) }()
	if !a.cfg.Warehouse.DSN.Embedded() {
		if s, err := a.Page().Status(ctx); err == nil {
			return s, nil
		}
	}
	w, err := a.anyEngine(ctx, l)
	if replaced, ok := errors.AsType[*folderReplacedError](err); ok {
		return replaced.status, nil
	}
	if err != nil {
		return s, err
	}
	if w.held {
		s, err := w.Holder().Status(ctx)
		if err == nil || !errors.Is(err, errNotServed) {
			return s, err
		}
	}
	return a.storedStatus(ctx, l, w)
}

// Ready asks the daemon whether it is ready, as a probe of a container does; the error
// says why it is not.
func (a *App) Ready(ctx context.Context) error {
	if a.cfg.Web.Listen == "" {
		return UsageError(errors.New("web.listen is off, so the daemon cannot be asked whether it is ready"))
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := a.Page().Get(ctx, "/readyz")
	if err != nil {
		return fmt.Errorf("ask the daemon at web.listen whether it is ready: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read as far as it is of use
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<14))
	if err != nil {
		return fmt.Errorf("ask the daemon at web.listen whether it is ready: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(answer)))
	}
	return nil
}
