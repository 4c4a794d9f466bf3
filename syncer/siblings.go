package syncer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
)

// seesSomeLocations is true when a key may not see all locations, and the configuration
// names none.
func (s *source) seesSomeLocations(key identity) bool { return !key.all && len(s.onlyLocations) == 0 }

// beside is another source of the restaurant when totals are to be asked for by location
// only, else empty.
func (s *source) beside(key identity) string {
	if !s.seesSomeLocations(key) {
		return ""
	}
	for _, other := range s.siblingsIn(key.business) {
		return other.name
	}
	return ""
}

// siblings implements owner.
func (s *source) siblings() (all []*origin) {
	for _, other := range s.siblingsIn(s.business()) {
		all = append(all, other.origin)
	}
	return all
}

// siblingTotals are the streams of totals of that name that the siblings have, by source.
func (s *source) siblingTotals(stream string) map[string]*totals {
	all := map[string]*totals{}
	for _, other := range s.siblingsIn(s.business()) {
		for _, st := range other.days.all {
			if st.def.Name == stream {
				all[other.name] = st
			}
		}
	}
	return all
}

// siblingLists is true when another source of the same restaurant lists the id.
func (s *source) siblingLists(stream, id string) bool {
	return slices.ContainsFunc(s.siblingsIn(s.business()), func(other *source) bool {
		return slices.ContainsFunc(other.replaced(), func(st *whole) bool {
			return st.def.Name == stream && st.list.Has(id)
		})
	})
}

func (s *source) siblingsIn(business string) []*source {
	stored := s.syncer.storedBusinesses()
	return slices.DeleteFunc(slices.Clone(s.syncer.served()), func(other *source) bool {
		theirs := other.business()
		if theirs == "" { // its /me has not answered yet
			theirs = stored[other.name]
		}
		return other.name == s.name || business == "" || theirs != business
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
func (s *source) admit(ctx context.Context, me api.Me) (identity, error) {
	if !me.AllLocations {
		if err := s.syncer.readBusinesses(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("whether the restaurant has other sources may not be known", "err", err)
		}
	}
	key, first, err := s.admitMe(ctx, me)
	if first {
		s.notifySiblings(ctx)
	}
	return key, err
}

// admitMe admits the streams by what /me says; it tells whether that is the first time.
func (s *source) admitMe(ctx context.Context, me api.Me) (key identity, first bool, err error) {
	if err := s.admits.take(ctx); err != nil {
		return identity{}, false, err
	}
	defer s.admits.free()
	key, first = s.identify(me), !s.looked
	s.admitAs(ctx, key)
	s.looked = true
	return key, first, nil
}

// admitAs admits the streams by a key. The caller holds admits.
func (s *source) admitAs(ctx context.Context, key identity) {
	s.identifyAs(key)
	for _, st := range s.days.all {
		st.noteSiblings(key)
	}
	for _, st := range s.streams {
		s.admitStream(ctx, st, key)
	}
}

// notifySiblings implements owner: it has the restaurant's other sources look again at what they ask for.
func (s *source) notifySiblings(ctx context.Context) {
	for _, other := range s.siblingsIn(s.business()) {
		other.readmit(ctx)
	}
}

// readmit admits the streams anew, beside the sources that there are now.
func (s *source) readmit(ctx context.Context) {
	if s.admits.take(ctx) != nil {
		return // ctx has ended
	}
	defer s.admits.free()
	if !s.looked {
		return // it will
	}
	key := s.identity()
	key.beside = s.beside(key)
	s.admitAs(ctx, key)
}
