package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer/status"
)

// Status returns the state of the daemon that serves this configuration; when
// there is none, what the warehouse knows about the last one.
func (a *App) Status(ctx context.Context) (s status.Status, err error) {
	if s, err = a.daemonStatus(ctx); err == nil {
		return s, nil
	}
	if err := a.existing(ctx); err != nil {
		return s, err
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
		return lifecycle.UsageError(errors.New("web.listen is off, so the daemon cannot be asked whether it is ready"))
	}
	code, answer, err := a.getPage(ctx, "/readyz")
	switch {
	case err != nil:
		return fmt.Errorf("ask the daemon at web.listen whether it is ready: %w", err)
	case code != http.StatusOK:
		return errors.New(strings.TrimSpace(string(answer[:min(len(answer), 16<<10)]))) // whatever listens there
	}
	return nil
}

// daemonStatus asks the daemon of this configuration for its status: the one on the embedded
// warehouse, or the one at web.listen.
func (a *App) daemonStatus(ctx context.Context) (s status.Status, err error) {
	if !a.Config.Warehouse.DSN.Embedded() {
		return a.pageStatus(ctx)
	}
	if s, err = askStatus(ctx, a.Config.Warehouse.DSN.Dir()); err != nil {
		if lost, replaced := a.lost(ctx); replaced {
			return lost, nil
		}
	}
	return s, err
}

// lost asks the page for a daemon of this configuration whose data folder was removed or replaced.
func (a *App) lost(ctx context.Context) (s status.Status, replaced bool) {
	dsn := a.Config.Warehouse.DSN
	if !dsn.Embedded() || a.Config.Web.Listen == "" || warehouse.Listens(ctx, dsn.Dir()) {
		return s, false
	}
	s, err := a.pageStatus(ctx)
	return s, err == nil && s.FolderLost
}

// folderReplaced is an error while a daemon runs whose data folder was removed or replaced. Who opened
// the folder at its path now would start a second engine, beside rows that nobody sees.
func (a *App) folderReplaced(ctx context.Context) error {
	if _, replaced := a.lost(ctx); !replaced {
		return nil
	}
	return lifecycle.WarehouseError(fmt.Errorf("a daemon is running for %s, and the folder that is there now is not the one that it has open: it was removed or replaced; "+
		"stop the daemon, put the folder back (or a backup of it), and start it again", a.Config.Warehouse.DSN.Dir()))
}

// existing refuses a data folder that is not there or holds nothing, and names the daemon that has
// lost it: a question must not create an empty warehouse.
func (a *App) existing(ctx context.Context) error {
	dsn := a.Config.Warehouse.DSN
	if !dsn.Embedded() {
		return nil
	}
	entries, err := os.ReadDir(dsn.Dir())
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return cmp.Or(a.folderReplaced(ctx), lifecycle.WarehouseError(fmt.Errorf("there is no data at %s yet: larder sync or larder run fills it (warehouse.dsn, or --config, may name another place)", dsn.Dir())))
	}
	return nil
}

// served reports whether a daemon is running on the embedded warehouse.
func (a *App) served(ctx context.Context) bool {
	if !a.Config.Warehouse.DSN.Embedded() {
		return false
	}
	_, err := askStatus(ctx, a.Config.Warehouse.DSN.Dir())
	return err == nil
}

// pageStatus asks the daemon at web.listen, and believes it only when it serves a source of this
// configuration.
func (a *App) pageStatus(ctx context.Context) (s status.Status, err error) {
	code, page, err := a.getPage(ctx, "/status.json?all=1")
	if err != nil {
		return s, err
	}
	if code != http.StatusOK {
		return s, fmt.Errorf("status page: %d %s", code, http.StatusText(code))
	}
	if err := json.Unmarshal(page, &s); err != nil {
		return s, err
	}
	if !slices.ContainsFunc(s.Sources, func(of status.SourceStatus) bool {
		return slices.ContainsFunc(a.Config.Sources, func(c config.Source) bool { return c.Name == of.Name })
	}) {
		return s, errors.New("status page: of another Larder")
	}
	return s, nil
}

// getPage gets what the daemon of the configuration serves at web.listen.
func (a *App) getPage(ctx context.Context, path string) (code int, page []byte, err error) {
	host, port, err := net.SplitHostPort(a.Config.Web.Listen)
	if err != nil {
		return 0, nil, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	if a.Config.Web.User != "" {
		password, err := a.Config.Web.ReadPassword()
		if err != nil {
			return 0, nil, err
		}
		r.SetBasicAuth(a.Config.Web.User, password.Reveal())
	}
	// The daemon is on this machine: neither its page nor its password goes through a proxy.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end, or given up
	page, err = io.ReadAll(io.LimitReader(res.Body, 1<<28))
	return res.StatusCode, page, err
}
