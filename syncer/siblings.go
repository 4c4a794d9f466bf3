package syncer

import (
	"cmp"
	"context"
	"fmt"

	"github.com/larder-sync/larder/syncer/stream"
)

// Siblings implements stream.Owner.
func (s *source) Siblings() (all []*stream.Source) {
	business, stored := s.Business(), *s.syncer.mirrored.Load()
	for _, other := range s.syncer.served() {
		theirs := cmp.Or(other.Business(), stored[other.Name]) // its /me may not have answered yet
		if other.Name != s.Name && business != "" && theirs == business {
			all = append(all, other.Source)
		}
	}
	return all
}

// readBusinesses reads which restaurant each source has mirrored.
func (y *Syncer) readBusinesses(ctx context.Context) error {
	all, err := y.opts.Sink.Businesses(ctx)
	if err != nil {
		return fmt.Errorf("read which restaurants the sources have mirrored: %w", err)
	}
	y.mirrored.Store(&all)
	return nil
}
