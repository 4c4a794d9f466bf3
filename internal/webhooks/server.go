package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
)

// maxConnections is how many the listener holds, or an eighth of the open files.
const maxConnections = 512

// Listen binds the listener of a receiver; [inbound.Listener.Serve] answers on it.
func Listen(ctx context.Context, address string, r *Receiver, log *slog.Logger) (*inbound.Listener, error) {
	return inbound.Listen(ctx, "webhooks.listen", address, r, inbound.Limits{
		Connections: inbound.PerFiles(maxConnections, 8),
		Header:      1 << 14,
		Request:     10 * time.Second,
		Answer:      answerWithin + 6*time.Second,
		Idle:        time.Minute,
		Full: "HTTP/1.1 503 Service Unavailable\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nRetry-After: 60\r\n" +
			"Connection: close\r\nContent-Length: 0\r\n\r\n",
	}, log)
}
