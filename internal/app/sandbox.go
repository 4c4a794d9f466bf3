package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"syscall"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
)

// Sandbox serves the sandbox on an address until ctx ends. The keys that place orders have
// their events sent to webhookURL, if there is one. ready is called when it listens, with the
// keys of each restaurant together.
func Sandbox(ctx context.Context, listen string, o sandbox.Options, webhookURL string, ready func(baseURL string, keys []sandbox.Key)) error {
	if u, err := url.Parse(webhookURL); webhookURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return UsageError(errors.New("--webhook-url: an address begins with http:// or https:// and names a host"))
	}
	s, err := sandbox.New(o)
	if err != nil {
		return UsageError(err)
	}
	for i := range s.Len() {
		s.OrdersTestKey(i)
	}
	keys := s.Keys()
	for i := range keys {
		if !slices.Contains(keys[i].Scopes, api.ScopeOrders) {
			continue
		}
		keys[i].WebhookURL = webhookURL
		if err := s.UpdateKey(keys[i].Value, func(k *sandbox.Key) { k.WebhookURL = webhookURL }); err != nil {
			return err
		}
	}
	slices.SortStableFunc(keys, func(a, b sandbox.Key) int { return cmp.Compare(a.Business, b.Business) })
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return UsageError(fmt.Errorf("%s is taken by another process; stop that one, or name another address with --listen", listen))
	}
	if err != nil {
		return UsageError(err)
	}
	ready(sandboxURL(l), keys)
	return sandbox.Serve(ctx, l, s)
}

func sandboxURL(l net.Listener) string { return "http://" + l.Addr().String() + "/v1" }
