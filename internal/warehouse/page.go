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

// pageStatus asks the daemon at web.listen, and believes it only when it serves a source of this
// configuration.
func (a *Opener) pageStatus(ctx context.Context) (s status.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	res, err := a.GetPage(ctx, "/status.json")
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
	if !slices.ContainsFunc(s.Sources, func(of status.SourceStatus) bool {
		return slices.ContainsFunc(a.Config.Sources, func(c config.Source) bool { return c.Name == of.Name })
	}) {
		return s, errors.New("status page: of another Larder")
	}
	return s, nil
}

// GetPage gets what the daemon of the configuration serves at web.listen.
func (a *Opener) GetPage(ctx context.Context, path string) (*http.Response, error) {
	host, port, err := net.SplitHostPort(a.Config.Web.Listen)
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
	if a.Config.Web.User != "" {
		password, err := a.Config.Web.ReadPassword()
		if err != nil {
			return nil, err
		}
		r.SetBasicAuth(a.Config.Web.User, password.Reveal())
	}
	// The daemon is on this machine: neither its page nor its password goes through a proxy.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(r)
}
