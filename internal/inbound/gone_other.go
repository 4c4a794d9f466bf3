//go:build !linux

package inbound

import "context"

// UntilGone is ctx until the client of its request has gone, as far as net/http notices.
func UntilGone(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
