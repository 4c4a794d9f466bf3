package inbound

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// goneLook is how often it is looked whether a client is still there.
const goneLook = time.Second

// UntilGone is ctx until the client of its request has gone. net/http notices that by itself,
// but no more once the client has sent a byte beyond its request.
func UntilGone(ctx context.Context) (context.Context, context.CancelFunc) {
	raw := callerOf(ctx).raw
	ctx, cancel := context.WithCancel(ctx)
	if raw == nil {
		return ctx, cancel
	}
	go func() {
		ticker := time.NewTicker(goneLook)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if gone(raw) {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// gone reports whether the other end has closed the connection, for sending at least, as net/http
// understands it.
func gone(raw syscall.RawConn) (yes bool) {
	err := raw.Control(func(fd uintptr) {
		conn := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // a file descriptor is small
		n, err := unix.Poll(conn, 0)
		yes = err == nil && n > 0
	})
	return yes || err != nil
}
