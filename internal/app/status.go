package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/web"
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
		if s, err := a.askPage(ctx); err == nil {
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
		s, err := w.askStatus(ctx)
		if err == nil || !errors.Is(err, errNotServed) {
			return s, err
		}
	}
	return a.storedStatus(ctx, l, w)
}

// askPage asks the daemon at web.listen, and believes it only when it serves a
// source of this configuration.
func (a *reach) askPage(ctx context.Context) (s syncer.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	res, err := a.getPage(ctx, "/status.json")
	if err != nil {
		return s, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end, or given up
	if res.StatusCode != http.StatusOK {
		return s, fmt.Errorf("status page: %s", res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(&s); err != nil {
		return s, err
	}
	if a.cfg.Warehouse.DSN.Embedded() && !a.sameFolder(res.Header.Get(web.LostHeader)) {
		return s, errors.New("status page: of another warehouse")
	}
	if !slices.ContainsFunc(s.Sources, func(x syncer.SourceStatus) bool { return a.configured(x.Name) }) {
		return s, errors.New("status page: of another Larder")
	}
	return s, nil
}

// getPage gets what is at web.listen.
func (a *reach) getPage(ctx context.Context, path string) (*http.Response, error) {
	host, port, err := net.SplitHostPort(a.cfg.Web.Listen)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if a.cfg.Web.User != "" {
		password, err := a.cfg.Web.ReadPassword()
		if err != nil {
			return nil, err
		}
		r.SetBasicAuth(a.cfg.Web.User, password.Reveal())
	}
	return http.DefaultClient.Do(r)
}

// Ready asks the daemon whether it is ready, as a probe of a container does; the error
// says why it is not.
func (a *App) Ready(ctx context.Context) error {
	if a.cfg.Web.Listen == "" {
		return UsageError(errors.New("web.listen is off, so the daemon cannot be asked whether it is ready"))
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := a.getPage(ctx, "/readyz")
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

func (a *reach) configured(name string) bool {
	for i := range a.cfg.Sources {
		if a.cfg.Sources[i].Name == name {
			return true
		}
	}
	return false
}
