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

// sharing divides the totals of a restaurant among its sources: a key that sees only some
// locations is asked by location only. The mu of the totals guards its fields.
type sharing struct {
	totals               *Totals
	handedOverBySiblings map[string]time.Time // as [stream.Coverage] has it, but of now
}

// A restaurant may have several sources in one process: a key for each branch of a
// chain, say. What the service reports of all locations together is then of those that
// the key asking sees, and sources that each see some would write the same rows in turn.
//
// So a source whose key does not see all locations is asked for totals by location only,
// while its restaurant has another source. What it wrote of all locations together before
// is removed, once. A source that sees all locations writes it again. When the restaurant has no
// other source any more, it asks for everything again.

// NoteSiblings notes which siblings have handed the totals of all locations together over to
// this stream, and since when: until then their rows have stood over its own.
func (st *Totals) NoteSiblings(key stream.Identity) {
	if key.LocationsOnly() {
		return
	}
	handedOver := map[string]time.Time{}
	for name, other := range st.opts.Siblings(st.Def.Name) {
		if at := other.sharing.locationsOnlySince(); !at.IsZero() {
			handedOver[name] = at
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sharing.handedOverBySiblings = handedOver
}

// locationsOnlySince is since when what the stream wrote of all locations together is removed.
func (h *sharing) locationsOnlySince() time.Time {
	return h.totals.covered.Now().LocationsOnly
}

// NotAskedFor is true when totals are asked for by location only, and the location is ""
// (all of them together). It turns true before the rows of all locations together are
// removed, and they are removed under Guard. So a caller that holds Guard and gets false
// writes its rows before that.
func (st *Totals) NotAskedFor(location string) bool {
	return location == "" && st.Source.Identity().LocationsOnly()
}

// hasTotalsToRemove is true when totals are asked for by location only, and what the stream
// has of all locations together is not removed yet.
func (h *sharing) hasTotalsToRemove() bool {
	return h.totals.covered.Whole && h.totals.Configured() && h.totals.Source.Identity().LocationsOnly() && h.locationsOnlySince().IsZero()
}

// locationsOnlyChanged is true when the stream is asked for otherwise than what is stored of it.
func (h *sharing) locationsOnlyChanged() bool {
	if !h.totals.covered.Whole {
		return false
	}
	if h.totals.Source.Identity().LocationsOnly() {
		return h.hasTotalsToRemove()
	}
	if !h.locationsOnlySince().IsZero() {
		return true
	}
	was := h.totals.covered.Now()
	h.totals.mu.Lock()
	defer h.totals.mu.Unlock()
	for name, since := range h.handedOverBySiblings {
		if !was.HandedOverBySiblings[name].Equal(since) {
			return true
		}
	}
	return false
}

// applyLocationsOnly removes the totals of all locations together, or asks for them again, as
// locationsOnlyChanged demands. The caller holds Filler.
func (h *sharing) applyLocationsOnly(ctx context.Context) error {
	switch {
	case !h.locationsOnlyChanged():
		return nil
	case h.hasTotalsToRemove():
		return h.removeTotalsOfAll(ctx)
	}
	h.totals.mu.Lock()
	handedOver := maps.Clone(h.handedOverBySiblings)
	h.totals.mu.Unlock()
	h.totals.Source.Log.Info("the totals of all locations together are asked for again", "stream", h.totals.Def.Name)
	if err := h.totals.Exclusive(ctx, h.totals.Guard, h.forgetDaysOfAll); err != nil {
		return err
	}
	if err := h.totals.filling.refill(ctx); err != nil {
		return err
	}
	h.totals.opts.Anew()
	return h.totals.covered.Save(ctx, func(c *stream.Coverage) { c.LocationsOnly, c.HandedOverBySiblings = time.Time{}, handedOver })
}

// removeTotalsOfAll removes what the source has written of all locations together, and asks for the
// totals of each location from the first day on. The caller holds Filler.
func (h *sharing) removeTotalsOfAll(ctx context.Context) error {
	if !h.hasTotalsToRemove() {
		return nil
	}
	if err := h.totals.covered.Begin(ctx); err != nil {
		return err
	}
	if err := h.totals.Exclusive(ctx, h.totals.Guard, h.removeRowsOfAll); err != nil {
		return fmt.Errorf("remove what %s has of all locations together: %w", h.totals.Def.Name, err)
	}
	if err := h.totals.opts.Withdraw(ctx); err != nil {
		return err
	}
	if !h.totals.Off() {
		if err := h.totals.filling.refill(ctx); err != nil {
			return err
		}
	}
	h.totals.opts.Anew()
	if err := h.totals.covered.Save(ctx, func(c *stream.Coverage) { c.LocationsOnly, c.HandedOverBySiblings = time.Now().UTC(), nil }); err != nil {
		return err
	}
	h.totals.Source.NotifySiblings(ctx)
	return nil
}

// forgetDaysOfAll lets the days of all locations together be written again whatever was
// written of them. The caller holds Guard: who asks later remembers anew.
func (h *sharing) forgetDaysOfAll(context.Context) error {
	h.totals.mu.Lock()
	defer h.totals.mu.Unlock()
	maps.DeleteFunc(h.totals.lines.days, func(key string, _ uint64) bool { return !strings.Contains(key, "/") })
	return nil
}

// isOfAllLocations is true when a row of the totals is of all locations together.
func (h *sharing) isOfAllLocations(id string) bool {
	_, location := h.totals.LocationOf(id)
	return location == ""
}

// removeChunk is how many rows are read and removed at a time.
const removeChunk = 1000

// removeRowsOfAll removes the rows of all locations together that the source wrote last. A row
// that a sibling writes meanwhile stays: a tombstone's version is just above that of the row
// that was read. The caller holds Guard.
func (h *sharing) removeRowsOfAll(ctx context.Context) error {
	q := sinks.LiveQuery{Table: h.totals.Def.Name, Business: h.totals.Source.Business(), Source: h.totals.Source.Name, Limit: removeChunk}
	removed := 0
	for rows, err := range sinks.LivePages(ctx, h.totals.Source.Sink, q) {
		if err != nil {
			return err
		}
		in := h.totals.Writer.Begin(h.totals.Writer.NextWalk(), 1)
		for _, r := range rows {
			if h.isOfAllLocations(r.ID) {
				in.Remove(r.ID, write.ReasonNoAccess, r.Version+1, h.totals.Source.ServiceNow().UTC())
			}
		}
		if err := h.totals.storeUnlessEmpty(ctx, in); err != nil {
			return err
		}
		removed += len(in.Commit.Tombstones)
	}
	in := h.totals.Writer.Begin(h.totals.Writer.NextWalk(), 1)
	h.releaseEntriesOfAll(in)
	if err := h.totals.storeUnlessEmpty(ctx, in); err != nil {
		return err
	}
	h.totals.Source.Log.Info("the restaurant has other sources: totals of all locations together are left to one that sees all",
		"stream", h.totals.Def.Name, "beside", h.totals.Source.Identity().Beside, "buried", removed)
	return h.forgetDaysOfAll(ctx)
}

// releaseEntriesOfAll closes the quarantine entries of such rows: they do not come again.
func (h *sharing) releaseEntriesOfAll(in *write.Intake) {
	for _, key := range h.totals.Writer.Quarantined() {
		if h.isOfAllLocations(key) {
			in.Release(key)
		}
	}
}
