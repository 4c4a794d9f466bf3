package write

import (
	"context"
	"fmt"
	"sync"

	"github.com/larder-sync/larder/sinks"
)

// Committer hands commits to the sink, and knows the last one of each source.
type Committer struct {
	sink interface {
		Write(context.Context, *sinks.Commit) (*sinks.Receipt, error)
	}
	last sync.Map // by source: the receipt of the last commit that the sink has taken
}

// NewCommitter makes one for a sink.
func NewCommitter(sink sinks.Sink) *Committer { return &Committer{sink: sink} }

// Write hands a commit to the sink. It waits while the sink's queue is full. A source
// that this process does not hold any more writes nothing.
func (c *Committer) Write(ctx context.Context, commit *sinks.Commit) (*sinks.Receipt, error) {
	if commit.Fence != nil {
		if err := commit.Fence(); err != nil {
			return nil, fmt.Errorf("write %s: %w", commit.Stream, err)
		}
	}
	r, err := c.sink.Write(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", commit.Stream, err)
	}
	c.last.Store(commit.Source, r)
	return r, nil
}

// Store hands a commit to the sink and waits until it is durable.
func (c *Committer) Store(ctx context.Context, commit *sinks.Commit) error {
	r, err := c.Write(ctx, commit)
	if err != nil {
		return err
	}
	if err := r.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the warehouse: %w", err)
	}
	return nil
}

// Last is the receipt of a source's last commit.
func (c *Committer) Last(source string) (*sinks.Receipt, bool) {
	r, ok := c.last.Load(source)
	if !ok {
		return nil, false
	}
	return r.(*sinks.Receipt), true
}
