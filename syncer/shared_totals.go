package syncer

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
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

// noteSiblings notes which siblings have left the totals of all locations together to this
// stream, and since when: until then their rows have stood over its own.
func (st *totals) noteSiblings(key identity) {
	if key.locationsOnly() {
		return
	}
	left := map[string]time.Time{}
	for name, other := range st.beside.siblings(st.def.Name) {
		if at := other.locationsOnlySince(); !at.IsZero() {
			left[name] = at
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.leftBySiblings = left
}

// locationsOnlySince is since when what the stream wrote of all locations together is buried.
func (st *totals) locationsOnlySince() time.Time {
	return st.covered.now().LocationsOnly
}

// notAskedFor is true when totals are asked for by location only, and the location is ""
// (all of them together). Who holds the stream's guard and finds false is done before what
// is there of it is buried.
func (st *totals) notAskedFor(location string) bool {
	return location == "" && st.source.identity().locationsOnly()
}

// hasTotalsToBury is true when totals are asked for by location only, and what the stream
// has of all locations together is not buried yet.
func (st *totals) hasTotalsToBury() bool {
	return st.covered.whole && st.configured() && st.source.identity().locationsOnly() && st.locationsOnlySince().IsZero()
}

// locationsOnlyChanged is true when the stream is asked for otherwise than what is stored of it.
func (st *totals) locationsOnlyChanged() bool {
	if !st.covered.whole {
		return false
	}
	if st.source.identity().locationsOnly() {
		return st.hasTotalsToBury()
	}
	if !st.locationsOnlySince().IsZero() {
		return true
	}
	was := st.covered.now()
	st.mu.Lock()
	defer st.mu.Unlock()
	for name, since := range st.leftBySiblings {
		if !was.LeftBySiblings[name].Equal(since) {
			return true
		}
	}
	return false
}

// applyLocationsOnly acts on that. The caller holds filler.
func (st *totals) applyLocationsOnly(ctx context.Context) error {
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
	return st.covered.save(ctx, func(c *coverage) { c.LocationsOnly, c.LeftBySiblings = time.Time{}, left })
}

// buryTotalsOfAll buries what the source has written of all locations together, and asks for the
// totals of each location from the first day on. The caller holds filler.
func (st *totals) buryTotalsOfAll(ctx context.Context) error {
	if !st.hasTotalsToBury() {
		return nil
	}
	if err := st.covered.begin(ctx); err != nil {
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
	if err := st.covered.save(ctx, func(c *coverage) { c.LocationsOnly, c.LeftBySiblings = time.Now().UTC(), nil }); err != nil {
		return err
	}
	st.source.notifySiblings(ctx)
	return nil
}

// withdrawVerdictsOfAll takes back what was found of all locations together: it would stand for ever,
// since that is not asked for any more.
func (st *totals) withdrawVerdictsOfAll(ctx context.Context) error {
	today := calendar.DayOf(st.source.serviceNow())
	all, err := st.source.sink.Verdicts(ctx, st.source.business(), st.source.name, string(firstDay), string(today))
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
	if err := st.source.commits.Store(ctx, c); err != nil {
		return err
	}
	return nil
}

// forgetDaysOfAll lets the days of all locations together be written again whatever was
// written of them. The caller holds guard: who asks later remembers anew.
func (st *totals) forgetDaysOfAll(context.Context) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	maps.DeleteFunc(st.memory.days, func(key string, _ uint64) bool { return st.isOfAllLocations(key) })
	return nil
}

// requestDeepRun has a deep run come soon, and forgets what was found of all locations together
// before.
func (st *totals) requestDeepRun() {
	st.mu.Lock()
	maps.DeleteFunc(st.proofs.days, func(key string, _ standing) bool { return !strings.Contains(key, "/") })
	st.proofs.owed = true
	st.mu.Unlock()
	st.beside.proofChanged()
}

// isOfAllLocations is true when a row of the totals is of all locations together.
func (st *totals) isOfAllLocations(id string) bool {
	return !st.def.PerLocation || !strings.Contains(id, "/")
}

// buryRowsOfAll buries the rows of all locations together that the source wrote last. A row
// that a sibling writes meanwhile lives: only what is there now is beaten. The caller
// holds guard.
func (st *totals) buryRowsOfAll(ctx context.Context) error {
	q := sinks.LiveQuery{Table: st.def.Name, Business: st.source.business(), Source: st.source.name, Limit: sweepChunk}
	buried := 0
	for {
		rows, err := st.source.sink.Live(ctx, q)
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
func (st *totals) releaseEntriesOfAll(in *write.Intake) {
	for _, key := range st.writer.Quarantined() {
		if st.isOfAllLocations(key) {
			in.Release(key)
		}
	}
}
