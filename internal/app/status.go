package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/syncer/status"
)

// Status returns the state of the daemon that serves this configuration; when
// there is none, what the warehouse knows about the last one.
func (a *App) Status(ctx context.Context) (s status.Status, err error) {
	if err := a.Existing(); err != nil {
		return s, err
	}
	if s, err = a.DaemonStatus(ctx); err == nil {
		return s, nil
	}
	err = a.withWarehouse(ctx, func(o opened) (err error) {
		s, err = a.storedStatus(ctx, o)
		return err
	})
	return s, err
}

// Ready asks the daemon whether it is ready, as a probe of a container does; the error
// says why it is not.
func (a *App) Ready(ctx context.Context) error {
	if a.Config.Web.Listen == "" {
		return exit.UsageError(errors.New("web.listen is off, so the daemon cannot be asked whether it is ready"))
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := a.GetPage(ctx, "/readyz")
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
