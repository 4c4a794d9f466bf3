package syncer

import (
	"cmp"
	"context"
	"fmt"

	"github.com/larder-sync/larder/syncer/stream"
)

// Siblings implements stream.Owner.
func (s *source) Siblings() (all []*stream.Source) {
	business, stored := s.Business(), s.syncer.businesses()
	for _, other := range s.syncer.served() {
		theirs := cmp.Or(other.Business(), stored[other.Name]) // its /me may not have answered yet
		if other.Name != s.Name && business != "" && theirs == business {
			all = append(all, other.Source)
		}
	}
	return all
}

// businesses are the restaurants that the sources have mirrored, by source, as they were last
// read: so a source is known as a sibling before its /me has answered, in trouble too, and while
// another process serves it.
func (y *Syncer) businesses() map[string]string {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.mirrored
}

func (y *Syncer) readBusinesses(ctx context.Context) error {
	all, err := y.opts.Sink.Businesses(ctx)
	if err != nil {
		return fmt.Errorf("read which restaurants the sources have mirrored: %w", err)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.mirrored = all
	return nil
}
