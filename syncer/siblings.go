package syncer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/menus"
	"github.com/larder-sync/larder/syncer/reconcile"
	"github.com/larder-sync/larder/syncer/snapshot"
	"github.com/larder-sync/larder/syncer/stream"
)

// seesSomeLocations is true when a key may not see all locations, and the configuration
// names none.
func (s *source) seesSomeLocations(key stream.Identity) bool {
	return !key.All && len(s.OnlyLocations) == 0
}

// beside is another source of the restaurant when totals are to be asked for by location
// only, else empty.
func (s *source) beside(key stream.Identity) string {
	if !s.seesSomeLocations(key) {
		return ""
	}
	for _, other := range s.siblingsIn(key.Business) {
		return other.Name
	}
	return ""
}

// Siblings implements owner.
func (s *source) Siblings() (all []*stream.Source) {
	for _, other := range s.siblingsIn(s.Business()) {
		all = append(all, other.Source)
	}
	return all
}

// siblingTotals are the streams of totals of that name that the siblings have, by source.
func (s *source) siblingTotals(stream string) map[string]*reconcile.Proofs {
	all := map[string]*reconcile.Proofs{}
	for _, other := range s.siblingsIn(s.Business()) {
		for _, st := range other.days.All {
			if st.Def.Name == stream {
				all[other.Name] = st
			}
		}
	}
	return all
}

// siblingLists is true when another source of the same restaurant lists the id.
func (s *source) siblingLists(stream, id string) bool {
	return slices.ContainsFunc(s.siblingsIn(s.Business()), func(other *source) bool {
		return slices.ContainsFunc(other.replaced(), func(st *snapshot.Stream) bool {
			return st.Def.Name == stream && st.Contents.Has(id)
		})
	})
}

// siblingBrings is true when another source of the same restaurant has the menu of a
// location, or is bringing it.
func (s *source) siblingBrings(stream, location string) bool {
	return slices.ContainsFunc(s.siblingsIn(s.Business()), func(other *source) bool {
		return slices.ContainsFunc(other.menus, func(st *menus.Stream) bool {
			return st.Def.Name == stream && st.Has(location)
		})
	})
}

func (s *source) siblingsIn(business string) []*source {
	stored := s.syncer.storedBusinesses()
	return slices.DeleteFunc(slices.Clone(s.syncer.served()), func(other *source) bool {
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

// admit acts on what /me says about the streams. The siblings of a source that is new
// look at theirs again.
func (s *source) admit(ctx context.Context, me api.Me) (stream.Identity, error) {
	if !me.AllLocations {
		if err := s.syncer.readBusinesses(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("whether the restaurant has other sources may not be known", "err", err)
		}
	}
	key, first, err := s.admitMe(ctx, me)
	if first {
		s.NotifySiblings(ctx)
	}
	return key, err
}

// admitMe admits the streams by what /me says; it reports whether that is the first time.
func (s *source) admitMe(ctx context.Context, me api.Me) (key stream.Identity, first bool, err error) {
	if err := s.admits.Take(ctx); err != nil {
		return stream.Identity{}, false, err
	}
	defer s.admits.Release()
	key, first = s.identify(me), !s.looked
	s.admitAs(ctx, key)
	s.looked = true
	return key, first, nil
}

// admitAs admits the streams by a key. The caller holds admits.
func (s *source) admitAs(ctx context.Context, key stream.Identity) {
	s.IdentifyAs(key)
	for _, st := range s.days.All {
		st.NoteSiblings(key)
	}
	for _, st := range s.streams {
		s.admitStream(ctx, st, key)
	}
}

// NotifySiblings implements owner: it has the restaurant's other sources look again at what they ask for.
func (s *source) NotifySiblings(ctx context.Context) {
	for _, other := range s.siblingsIn(s.Business()) {
		other.readmit(ctx)
	}
}

// readmit admits the streams anew, beside the sources that there are now.
func (s *source) readmit(ctx context.Context) {
	if s.admits.Take(ctx) != nil {
		return // ctx has ended
	}
	defer s.admits.Release()
	if !s.looked {
		return // it will
	}
	key := s.Identity()
	key.Beside = s.beside(key)
	s.admitAs(ctx, key)
}
