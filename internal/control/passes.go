package control

import (
	"context"
	"sync"
)

// passes are those under way for commands beside this process, by the ids that the commands
// gave them. A command that has stopped waiting for its pass asks what became of it. It gets
// the answer when the pass is over, and not while it may still begin something.
type passes struct {
	mu    sync.Mutex
	under map[string]chan struct{}
}

// begin notes a pass until the returned function is called. Nobody asks for one without an
// id.
func (p *passes) begin(id string) (end func()) {
	if id == "" {
		return func() {}
	}
	over := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.under == nil {
		p.under = map[string]chan struct{}{}
	}
	p.under[id] = over
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.under, id)
		close(over)
	}
}

// await waits until a pass is not under way, or ctx ends.
func (p *passes) await(ctx context.Context, id string) {
	p.mu.Lock()
	over := p.under[id]
	p.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}
