package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/larder-sync/larder/internal/sandbox"
)

// Sandbox serves the sandbox on an address until ctx ends. ready is called when
// it listens.
func Sandbox(ctx context.Context, listen string, o sandbox.Options, ready func(baseURL string, keys []sandbox.Key)) error {
	s, err := sandbox.New(o)
	if err != nil {
		return UsageError(err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return UsageError(fmt.Errorf("%s is taken by another process; stop that one, or name another address with --listen", listen))
	}
	if err != nil {
		return UsageError(err)
	}
	ready(sandboxURL(l), s.Keys())
	return sandbox.Serve(ctx, l, s)
}

func sandboxURL(l net.Listener) string { return "http://" + l.Addr().String() + "/v1" }
