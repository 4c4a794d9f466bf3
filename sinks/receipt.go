package sinks

import (
	"context"
	"time"
)

// Receipt is waited on until a commit is durable.
type Receipt struct {
	done   chan struct{}
	err    error
	wanted func(patience time.Duration)
}

// NewReceipt returns an unresolved receipt. wanted is called when somebody begins to wait for it, with how
// long after the last flush the next one may be: what nobody waits for may gather. It may be nil.
func NewReceipt(wanted func(patience time.Duration)) *Receipt {
	return &Receipt{done: make(chan struct{}), wanted: wanted}
}

// Resolve settles the receipt; only the sink calls it, and once.
func (r *Receipt) Resolve(err error) {
	r.err = err
	close(r.done)
}

// Done is closed when the receipt is resolved. Who asks for it waits.
func (r *Receipt) Done() <-chan struct{} { return r.want(0) }

func (r *Receipt) want(patience time.Duration) <-chan struct{} {
	if r.wanted != nil {
		r.wanted(patience)
	}
	return r.done
}

// Wait returns nil when the commit is durable.
func (r *Receipt) Wait(ctx context.Context) error { return r.WaitPatiently(ctx, 0) }

// WaitPatiently is Wait for a commit that may be flushed that long after the last flush, where the flush
// interval is shorter.
func (r *Receipt) WaitPatiently(ctx context.Context, patience time.Duration) error {
	select {
	case <-r.want(patience):
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Gathers is how long commits that nobody waits for may gather, such as the pages of a backfill: an INSERT
// is the cheaper the more rows it has.
func Gathers(flushInterval time.Duration) time.Duration {
	return max(flushInterval, min(10*flushInterval, 10*time.Second))
}
