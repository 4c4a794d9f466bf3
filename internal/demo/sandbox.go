package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"syscall"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
)

// Sandbox serves the sandbox on an address until ctx ends. The main keys have the events of
// their orders sent to webhookURL, if there is one. ready is called when it listens, with the
// keys of each restaurant together.
func Sandbox(ctx context.Context, listen string, o sandbox.Options, webhookURL string, ready func(baseURL string, keys []sandbox.Key)) error {
	if u, err := url.Parse(webhookURL); webhookURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return lifecycle.UsageError(errors.New("--webhook-url: an address begins with http:// or https:// and names a host"))
	}
	s, err := sandbox.New(o)
	if err != nil {
		return lifecycle.UsageError(err)
	}
	for i := range s.Len() {
		s.OrdersTestKey(i)
	}
	if err := sendEvents(s, webhookURL); err != nil {
		return err
	}
	keys := s.Keys()
	slices.SortStableFunc(keys, func(a, b sandbox.Key) int { return cmp.Compare(a.Business, b.Business) })
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return lifecycle.UsageError(fmt.Errorf("%s is taken by another process; stop that one, or name another address with --listen", listen))
	}
	if err != nil {
		return lifecycle.UsageError(err)
	}
	ready(sandboxURL(l), keys)
	return sandbox.Serve(ctx, l, s)
}

// sendEvents has each restaurant's main key send its events to an address of its own: each is
// a source, with a secret of its own.
func sendEvents(s *sandbox.Sandbox, webhookURL string) error {
	if webhookURL == "" {
		return nil
	}
	for i := range s.Len() {
		to := webhookURL
		if i > 0 {
			to += fmt.Sprintf("-%d", i+1)
		}
		if err := s.UpdateKey(s.Key(i, sandbox.RoleMain).Value, func(k *sandbox.Key) { k.WebhookURL = to }); err != nil {
			return err
		}
	}
	return nil
}

func sandboxURL(l net.Listener) string { return "http://" + l.Addr().String() + "/v1" }
