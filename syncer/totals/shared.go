package totals

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
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

// NoteSiblings notes which siblings have left the totals of all locations together to this
// stream, and since when: until then their rows have stood over its own.
func (st *Totals) NoteSiblings(key stream.Identity) {
	if key.LocationsOnly() {
		return
	}
	left := map[string]time.Time{}
	for name, other := range st.opts.Siblings(st.Def.Name) {
		if at := other.locationsOnlySince(); !at.IsZero() {
			left[name] = at
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.leftBySiblings = left
}

// locationsOnlySince is since when what the stream wrote of all locations together is buried.
func (st *Totals) locationsOnlySince() time.Time {
	return st.covered.Now().LocationsOnly
}

// NotAskedFor is true when totals are asked for by location only, and the location is ""
// (all of them together). Who holds Guard and finds false is done before what
// is there of it is buried.
func (st *Totals) NotAskedFor(location string) bool {
	return location == "" && st.Source.Identity().LocationsOnly()
}

// hasTotalsToBury is true when totals are asked for by location only, and what the stream
// has of all locations together is not buried yet.
func (st *Totals) hasTotalsToBury() bool {
	return st.covered.Whole && st.Configured() && st.Source.Identity().LocationsOnly() && st.locationsOnlySince().IsZero()
}

// locationsOnlyChanged is true when the stream is asked for otherwise than what is stored of it.
func (st *Totals) locationsOnlyChanged() bool {
	if !st.covered.Whole {
		return false
	}
	if st.Source.Identity().LocationsOnly() {
		return st.hasTotalsToBury()
	}
	if !st.locationsOnlySince().IsZero() {
		return true
	}
	was := st.covered.Now()
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
func (st *Totals) applyLocationsOnly(ctx context.Context) error {
	switch {
	case !st.locationsOnlyChanged():
		return nil
	case st.hasTotalsToBury():
		return st.buryTotalsOfAll(ctx)
	}
	st.mu.Lock()
	left := maps.Clone(st.leftBySiblings)
	st.mu.Unlock()
	st.Source.Log.Info("the totals of all locations together are asked for again", "stream", st.Def.Name)
	if err := st.Exclusive(ctx, st.Guard, st.forgetDaysOfAll); err != nil {
		return err
	}
	if err := st.refill(ctx); err != nil {
		return err
	}
	st.opts.Anew()
	return st.covered.Save(ctx, func(c *stream.Coverage) { c.LocationsOnly, c.LeftBySiblings = time.Time{}, left })
}

// buryTotalsOfAll buries what the source has written of all locations together, and asks for the
// totals of each location from the first day on. The caller holds filler.
func (st *Totals) buryTotalsOfAll(ctx context.Context) error {
	if !st.hasTotalsToBury() {
		return nil
	}
	if err := st.covered.Begin(ctx); err != nil {
		return err
	}
	if err := st.Exclusive(ctx, st.Guard, st.buryRowsOfAll); err != nil {
		return fmt.Errorf("bury what %s has of all locations together: %w", st.Def.Name, err)
	}
	if err := st.opts.Withdraw(ctx); err != nil {
		return err
	}
	if !st.Off() {
		if err := st.refill(ctx); err != nil {
			return err
		}
	}
	st.opts.Anew()
	if err := st.covered.Save(ctx, func(c *stream.Coverage) { c.LocationsOnly, c.LeftBySiblings = time.Now().UTC(), nil }); err != nil {
		return err
	}
	st.Source.NotifySiblings(ctx)
	return nil
}

// forgetDaysOfAll lets the days of all locations together be written again whatever was
// written of them. The caller holds guard: who asks later remembers anew.
func (st *Totals) forgetDaysOfAll(context.Context) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	maps.DeleteFunc(st.memory.days, func(key string, _ uint64) bool { return st.isOfAllLocations(key) })
	return nil
}

// isOfAllLocations is true when a row of the totals is of all locations together.
func (st *Totals) isOfAllLocations(id string) bool {
	return !st.Def.PerLocation || !strings.Contains(id, "/")
}

// buryChunk is how many rows are read and buried at a time.
const buryChunk = 1000

// buryRowsOfAll buries the rows of all locations together that the source wrote last. A row
// that a sibling writes meanwhile lives: only what is there now is beaten. The caller
// holds guard.
func (st *Totals) buryRowsOfAll(ctx context.Context) error {
	q := sinks.LiveQuery{Table: st.Def.Name, Business: st.Source.Business(), Source: st.Source.Name, Limit: buryChunk}
	buried := 0
	for {
		rows, err := st.Source.Sink.Live(ctx, q)
		if err != nil {
			return err
		}
		in := st.Writer.Begin(st.Writer.NextWalk(), 1)
		for _, r := range rows {
			if st.isOfAllLocations(r.ID) {
				in.Bury(r.ID, write.ReasonNoAccess, r.Version+1, st.Source.ServiceNow().UTC())
			}
		}
		last := len(rows) < q.Limit
		if last {
			st.releaseEntriesOfAll(in)
		}
		if !in.Empty() {
			if err := st.Writer.Store(ctx, in); err != nil {
				return err
			}
		}
		if buried += len(in.Commit.Tombstones); last {
			st.Source.Log.Info("the restaurant has other sources: totals of all locations together are left to one that sees all",
				"stream", st.Def.Name, "beside", st.Source.Identity().Beside, "buried", buried)
			return st.forgetDaysOfAll(ctx)
		}
		q.After = rows[len(rows)-1].ID
	}
}

// releaseEntriesOfAll closes the quarantine entries of such rows: they do not come again.
func (st *Totals) releaseEntriesOfAll(in *write.Intake) {
	for _, key := range st.Writer.Quarantined() {
		if st.isOfAllLocations(key) {
			in.Release(key)
		}
	}
}
