package sinks

import "context"

// Receipt is waited on until a commit is durable.
type Receipt struct {
	done chan struct{}
	err  error
}

// NewReceipt returns an unresolved receipt.
func NewReceipt() *Receipt { return &Receipt{done: make(chan struct{})} }

// Resolve settles the receipt; only the sink calls it, and once.
func (r *Receipt) Resolve(err error) {
	r.err = err
	close(r.done)
}

// Done is closed when the receipt is resolved.
func (r *Receipt) Done() <-chan struct{} { return r.done }

// Wait returns nil when the commit is durable.
func (r *Receipt) Wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
