package syncer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/replace"
	"github.com/larder-sync/larder/syncer/stream"
)

// Siblings implements stream.Owner.
func (s *source) Siblings() (all []*stream.Source) {
	for _, other := range s.siblings() {
		all = append(all, other.Source)
	}
	return all
}

// siblingHas reports whether another source of the same restaurant has a row of a stream that is
// replaced as a whole, or is bringing it.
func (s *source) siblingHas(stream, id string) bool {
	return slices.ContainsFunc(s.siblings(), func(other *source) bool {
		return slices.ContainsFunc(other.wholes, func(st *replace.Stream) bool { return st.Def.Name == stream && st.Has(id) })
	})
}

// siblings are the other sources of the same restaurant in this process.
func (s *source) siblings() []*source {
	business, stored := s.Business(), s.syncer.businesses.stored()
	return slices.DeleteFunc(s.syncer.served(), func(other *source) bool {
		theirs := other.Business()
		if theirs == "" { // its /me has not answered yet
			theirs = stored[other.Name]
		}
		return other.Name == s.Name || business == "" || theirs != business
	})
}

// businesses are the restaurants that the sources have mirrored, by source, as they were last
// read.
type businesses struct {
	mu     sync.RWMutex
	last   map[string]string // replaced as a whole
	readAt time.Time
}

func (b *businesses) stored() map[string]string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.last
}

// read reads them, unless that was done just now: so that a source is known as a sibling before
// its /me has answered, in trouble too, and while another process serves it.
func (b *businesses) read(ctx context.Context, sink sinks.Sink) error {
	b.mu.RLock()
	recent := !b.readAt.IsZero() && time.Since(b.readAt) < restoreAgain
	b.mu.RUnlock()
	if recent {
		return nil
	}
	all, err := sink.Businesses(ctx)
	if err != nil {
		return fmt.Errorf("read which restaurants the sources have mirrored: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.readAt = all, time.Now()
	return nil
}
