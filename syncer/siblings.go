package syncer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/menus"
	"github.com/larder-sync/larder/syncer/snapshot"
	"github.com/larder-sync/larder/syncer/stream"
)

// siblings are the other sources of a source's restaurant.
type siblings struct {
	source *stream.Source
	syncer *Syncer
}

// Siblings implements stream.Owner.
func (s *source) Siblings() (all []*stream.Source) {
	for _, other := range s.siblings.siblingsIn(s.Business()) {
		all = append(all, other.Source)
	}
	return all
}

// siblingLists is true when another source of the same restaurant lists the id.
func (b *siblings) siblingLists(stream, id string) bool {
	return slices.ContainsFunc(b.siblingsIn(b.source.Business()), func(other *source) bool {
		return slices.ContainsFunc(other.replaced(), func(st *snapshot.Stream) bool {
			return st.Def.Name == stream && st.Contents.Has(id)
		})
	})
}

// siblingBrings is true when another source of the same restaurant has the menu of a
// location, or is bringing it.
func (b *siblings) siblingBrings(stream, location string) bool {
	return slices.ContainsFunc(b.siblingsIn(b.source.Business()), func(other *source) bool {
		return slices.ContainsFunc(other.menus, func(st *menus.Stream) bool {
			return st.Def.Name == stream && st.Has(location)
		})
	})
}

func (b *siblings) siblingsIn(business string) []*source {
	stored := b.syncer.storedBusinesses()
	return slices.DeleteFunc(slices.Clone(b.syncer.served()), func(other *source) bool {
		theirs := other.Business()
		if theirs == "" { // its /me has not answered yet
			theirs = stored[other.Name]
		}
		return other.Name == b.source.Name || business == "" || theirs != business
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
