package warehouse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/syncer/status"
)

// Page is that of the daemon which serves a configuration (web.listen).
type Page struct{ cfg *config.Config }

// Page is that of the configuration's daemon.
func (a *Opener) Page() Page { return Page{a.Config} }

// Status asks the daemon at web.listen, and believes it only when it serves a
// source of this configuration.
func (p Page) Status(ctx context.Context) (s status.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	res, err := p.Get(ctx, "/status.json")
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
	if p.cfg.Warehouse.DSN.Embedded() && !s.FolderLost {
		return s, errors.New("status page: of a daemon that has its folder") // and is reached in it
	}
	if !slices.ContainsFunc(s.Sources, p.configured) {
		return s, errors.New("status page: of another Larder")
	}
	return s, nil
}

// Get gets what is at web.listen.
func (p Page) Get(ctx context.Context, path string) (*http.Response, error) {
	host, port, err := net.SplitHostPort(p.cfg.Web.Listen)
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
	if p.cfg.Web.User != "" {
		password, err := p.cfg.Web.ReadPassword()
		if err != nil {
			return nil, err
		}
		r.SetBasicAuth(p.cfg.Web.User, password.Reveal())
	}
	// The daemon is on this machine: neither its page nor its password goes through a proxy.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(r)
}

func (p Page) configured(s status.SourceStatus) bool {
	return slices.ContainsFunc(p.cfg.Sources, func(c config.Source) bool { return c.Name == s.Name })
}
