package api

import (
	"context"
	"sync/atomic"
)

// Asks counts the requests that are sent to the service in a context: every attempt of
// them, since that is what the service counts.
type Asks struct{ n atomic.Uint64 }

type asksKey struct{}

// Counting is a context in which requests are counted, and by nobody further out.
func Counting(ctx context.Context) (context.Context, *Asks) {
	a := &Asks{}
	return context.WithValue(ctx, asksKey{}, a), a
}

// Take is how many were sent since it was last asked.
func (a *Asks) Take() uint64 { return a.n.Swap(0) }

func countAsk(ctx context.Context) {
	if a, ok := ctx.Value(asksKey{}).(*Asks); ok {
		a.n.Add(1)
	}
}
