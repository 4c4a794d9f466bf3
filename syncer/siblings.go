package syncer

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	business, stored := s.Business(), s.syncer.storedBusinesses()
	return slices.DeleteFunc(s.syncer.served(), func(other *source) bool {
		theirs := other.Business()
		if theirs == "" { // its /me has not answered yet
			theirs = stored[other.Name]
		}
		return other.Name == s.Name || business == "" || theirs != business
	})
}

func (y *Syncer) storedBusinesses() map[string]string {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.businesses
}

// readBusinesses reads which restaurants the sources have mirrored, unless that was
// done just now: so that a source is known as a sibling before its /me has answered, in
// trouble too, and while another process serves it.
func (y *Syncer) readBusinesses(ctx context.Context) error {
	y.mu.RLock()
	recent := !y.businessesReadAt.IsZero() && time.Since(y.businessesReadAt) < restoreAgain
	y.mu.RUnlock()
	if recent {
		return nil
	}
	businesses, err := y.opts.Sink.Businesses(ctx)
	if err != nil {
		return fmt.Errorf("read which restaurants the sources have mirrored: %w", err)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.businesses, y.businessesReadAt = businesses, time.Now()
	return nil
}
