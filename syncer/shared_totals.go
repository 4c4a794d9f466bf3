package syncer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/write"
)

// A restaurant may have several sources in one process: a key for each branch of a
// chain, say. What the service reports of all locations together is then of those that
// the key asking sees, and sources that each see some would write the same rows in turn.
//
// So a source whose key does not see all locations is asked for totals by location only,
// while its restaurant has another source. Totals that do not tell locations from each
// other are not asked for at all. What it wrote of all locations together before is
// buried, once. A source that sees all locations writes it again. When no other source is
// left, it asks for everything again.

// locationsOnly is true when totals are asked for by location only.
func (k identity) locationsOnly() bool { return k.beside != "" }

// seesSomeLocations is true when a key may not see all locations, and the configuration
// names none.
func (s *source) seesSomeLocations(key identity) bool { return !key.all && len(s.cfg.Locations) == 0 }

// beside is another source of the restaurant when totals are to be asked for by location
// only, else empty.
func (s *source) beside(key identity) string {
	if !s.seesSomeLocations(key) {
		return ""
	}
	for _, other := range s.siblingsIn(key.business) {
		return other.cfg.Name
	}
	return ""
}

// siblings are the other sources of the same restaurant in this process.
func (s *source) siblings() []*source { return s.siblingsIn(s.business()) }

func (s *source) siblingsIn(business string) []*source {
	stored := s.syncer.storedBusinesses()
	return slices.DeleteFunc(slices.Clone(s.syncer.served()), func(other *source) bool {
		theirs := other.business()
		if theirs == "" { // its /me has not answered yet
			theirs = stored[other.cfg.Name]
		}
		return other.cfg.Name == s.cfg.Name || business == "" || theirs != business
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
	s.mu.Lock()
	s.key = key
	s.mu.Unlock()
	for _, st := range s.streams {
		st.admit(ctx, key)
	}
}

// notifySiblings has the restaurant's other sources look again at what they ask for.
func (s *source) notifySiblings(ctx context.Context) {
	for _, other := range s.siblings() {
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

// noteSiblings notes which siblings have left the totals of all locations together to this
// stream, and since when: until then their rows have stood over its own.
func (st *stream) noteSiblings(key identity) {
	if st.def.Kind != registry.TotalsKind || key.locationsOnly() {
		return
	}
	left := map[string]time.Time{}
	for _, other := range st.source.siblings() {
		if at := other.stream(st.def.Name).locationsOnlySince(); !at.IsZero() {
			left[other.cfg.Name] = at
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.leftBySiblings = left
}

// locationsOnlySince is since when what the stream wrote of all locations together is buried.
func (st *stream) locationsOnlySince() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.covered == nil {
		return time.Time{}
	}
	return st.covered.LocationsOnly
}

// notAskedFor is true when totals are asked for by location only, and the location is ""
// (all of them together). Who holds the stream's guard and finds false is done before what
// is there of it is buried.
func (st *stream) notAskedFor(location string) bool {
	return st.def.Kind == registry.TotalsKind && location == "" && st.source.identity().locationsOnly()
}

// totalsOfAll is true when the stream is one of totals that are asked for all locations
// together.
func (st *stream) totalsOfAll() bool { return st.def.Kind == registry.TotalsKind && st.coversAll() }

// hasTotalsToBury is true when totals are asked for by location only, and what the stream
// has of all locations together is not buried yet.
func (st *stream) hasTotalsToBury() bool {
	return st.totalsOfAll() && st.configured() && st.source.identity().locationsOnly() && st.locationsOnlySince().IsZero()
}

// locationsOnlyChanged is true when the stream is asked for otherwise than what is stored of it.
func (st *stream) locationsOnlyChanged() bool {
	if !st.totalsOfAll() {
		return false
	}
	if st.source.identity().locationsOnly() {
		return st.hasTotalsToBury()
	}
	if !st.locationsOnlySince().IsZero() {
		return true
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for name, since := range st.leftBySiblings {
		if st.covered == nil || !st.covered.LeftBySiblings[name].Equal(since) {
			return true
		}
	}
	return false
}

// applyLocationsOnly acts on that. The caller holds filler.
func (st *stream) applyLocationsOnly(ctx context.Context) error {
	switch {
	case !st.locationsOnlyChanged():
		return nil
	case st.hasTotalsToBury():
		return st.buryTotalsOfAll(ctx)
	}
	st.mu.Lock()
	left := maps.Clone(st.leftBySiblings)
	st.mu.Unlock()
	st.source.log.Info("the totals of all locations together are asked for again", "stream", st.def.Name)
	if err := st.exclusive(ctx, st.guard, st.forgetDaysOfAll); err != nil {
		return err
	}
	if err := st.refill(ctx); err != nil {
		return err
	}
	st.requestDeepRun()
	return st.saveCoverage(ctx, func(c *coverage) { c.LocationsOnly, c.LeftBySiblings = time.Time{}, left })
}

// buryTotalsOfAll buries what the source has written of all locations together, and asks for the
// totals of each location from the first day on. The caller holds filler.
func (st *stream) buryTotalsOfAll(ctx context.Context) error {
	if !st.hasTotalsToBury() {
		return nil
	}
	if err := st.firstCoverage(ctx); err != nil {
		return err
	}
	if err := st.exclusive(ctx, st.guard, st.buryRowsOfAll); err != nil {
		return fmt.Errorf("bury what %s has of all locations together: %w", st.def.Name, err)
	}
	if err := st.withdrawVerdictsOfAll(ctx); err != nil {
		return err
	}
	if !st.off() {
		if err := st.refill(ctx); err != nil {
			return err
		}
	}
	st.requestDeepRun()
	if err := st.saveCoverage(ctx, func(c *coverage) { c.LocationsOnly, c.LeftBySiblings = time.Now().UTC(), nil }); err != nil {
		return err
	}
	st.source.notifySiblings(ctx)
	return nil
}

// withdrawVerdictsOfAll takes back what was found of all locations together: it would stand for ever,
// since that is not asked for any more.
func (st *stream) withdrawVerdictsOfAll(ctx context.Context) error {
	today := calendar.DayOf(st.source.serviceNow())
	all, err := st.source.syncer.opts.Sink.Verdicts(ctx, st.source.business(), st.source.cfg.Name, string(firstDay), string(today))
	if err != nil {
		return fmt.Errorf("read the verdicts that stand: %w", err)
	}
	c := st.source.commit(st.def.Name)
	for _, v := range all {
		if v.Location == "" && v.Subject == st.subject() {
			c.Verdicts = append(c.Verdicts, sinks.Verdict{Day: v.Day, Subject: v.Subject, Verdict: sinks.VerdictWithdrawn, AskedAt: v.AskedAt})
		}
	}
	if len(c.Verdicts) == 0 {
		return nil
	}
	if err := st.source.syncer.commits.Store(ctx, c); err != nil {
		return err
	}
	return nil
}

// forgetDaysOfAll lets the days of all locations together be written again whatever was
// written of them. The caller holds guard: who asks later remembers anew.
func (st *stream) forgetDaysOfAll(context.Context) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	maps.DeleteFunc(st.totals.days, func(key string, _ uint64) bool { return st.isOfAllLocations(key) })
	return nil
}

// requestDeepRun has a deep run come soon, and forgets what was found of all locations together
// before.
func (st *stream) requestDeepRun() {
	st.mu.Lock()
	maps.DeleteFunc(st.proofs.days, func(key string, _ standing) bool { return !strings.Contains(key, "/") })
	st.proofs.owed = true
	st.mu.Unlock()
	st.source.proofChanged()
}

// isOfAllLocations is true when a row of the totals is of all locations together.
func (st *stream) isOfAllLocations(id string) bool {
	return !st.def.PerLocation || !strings.Contains(id, "/")
}

// buryRowsOfAll buries the rows of all locations together that the source wrote last. A row
// that a sibling writes meanwhile lives: only what is there now is beaten. The caller
// holds guard.
func (st *stream) buryRowsOfAll(ctx context.Context) error {
	q := sinks.LiveQuery{Table: st.def.Name, Business: st.source.business(), Source: st.source.cfg.Name, Limit: sweepChunk}
	buried := 0
	for {
		rows, err := st.source.syncer.opts.Sink.Live(ctx, q)
		if err != nil {
			return err
		}
		in := st.writer.Begin(st.writer.NextWalk(), 1)
		for _, r := range rows {
			if st.isOfAllLocations(r.ID) {
				in.Bury(r.ID, write.ReasonNoAccess, r.Version+1, st.source.serviceNow().UTC())
			}
		}
		last := len(rows) < q.Limit
		if last {
			st.releaseEntriesOfAll(in)
		}
		if !in.Empty() {
			if err := st.writer.Store(ctx, in); err != nil {
				return err
			}
		}
		if buried += len(in.Commit.Tombstones); last {
			st.source.log.Info("the restaurant has other sources: totals of all locations together are left to one that sees all",
				"stream", st.def.Name, "beside", st.source.identity().beside, "buried", buried)
			return st.forgetDaysOfAll(ctx)
		}
		q.After = rows[len(rows)-1].ID
	}
}

// releaseEntriesOfAll closes the quarantine entries of such rows: they do not come again.
func (st *stream) releaseEntriesOfAll(in *write.Intake) {
	for _, key := range st.writer.Quarantined() {
		if st.isOfAllLocations(key) {
			in.Release(key)
		}
	}
}
