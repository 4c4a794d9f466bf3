package syncer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
)

// coverage is what is stored of a stream that is asked for whole: the locations
// that the key could use when its rows were brought. Rows of a location that the
// key gains later may have changed long before the watermark, and no incremental
// walk brings them.
type coverage struct {
	Locations []string `json:"locations"`
	// Opening are gained locations of which rows were brought, and not all yet. One that
	// is lost before its walk has ended is lost like any other.
	Opening []string `json:"opening,omitempty"`
	// LocationsOnly is since when the totals of all locations together are not asked for any
	// more, zero while they are. LeftBySiblings are the other sources of the restaurant that
	// have left them to this one, with their LocationsOnly. See shared_totals.go.
	LocationsOnly  time.Time            `json:"locations_only,omitzero"`
	LeftBySiblings map[string]time.Time `json:"left_by_siblings,omitempty"`
}

// coversAll is true when the stream is asked for all locations together, by walks
// that bring only what has changed. Lists that are never asked for by location are so
// where the configuration names some, too.
func (st *stream) coversAll() bool {
	if len(st.source.cfg.Locations) == 0 {
		return st.def.Kind == registry.ListKind || st.def.Kind == registry.TotalsKind
	}
	return st.def.Kind == registry.ListKind && !st.def.ByLocation
}

// uncovered are the locations gained and lost since the rows were brought.
func (st *stream) uncovered() (gained, lost []string) {
	if !st.coversAll() {
		return nil, nil
	}
	now := st.source.identity().locations
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.covered == nil {
		return nil, nil
	}
	for _, l := range now {
		if !slices.Contains(st.covered.Locations, l) {
			gained = append(gained, l)
		}
	}
	for _, l := range slices.Concat(st.covered.Locations, st.covered.Opening) {
		if !slices.Contains(now, l) {
			lost = append(lost, l)
		}
	}
	return gained, lost
}

// changedLocations is true when locations were gained or lost, or it is not known
// yet with which the mirror began.
func (st *stream) changedLocations() bool {
	gained, lost := st.uncovered()
	return len(gained)+len(lost) > 0 || st.coversAll() && !st.coverageKnown() || st.locationsOnlyChanged() || len(st.reopened())+len(st.returnedLocations()) > 0
}

// opens is true when rows of locations that were gained are still to come.
func (st *stream) opens() bool {
	gained, _ := st.uncovered()
	return len(gained)+len(st.reopened())+len(st.returnedLocations()) > 0
}

// closed is true when the track's location is not the key's, or not active.
func (t *track) closed() bool {
	return t.location != "" && slices.Contains(t.stream.source.identity().inactive, t.location)
}

// reopened are the tracks of configured locations that are the key's again.
func (st *stream) reopened() []*track {
	return slices.DeleteFunc(st.followed(), func(t *track) bool {
		return !phaseClosed.is(t.checkpoint(sinks.WalkFull)) || t.closed()
	})
}

// reopenTracks begins the backfills of such tracks anew.
func (st *stream) reopenTracks(ctx context.Context) error {
	for _, t := range st.reopened() {
		if err := t.store(ctx, t.fresh(sinks.WalkBackfill)); err != nil {
			return err
		}
		full := t.checkpoint(sinks.WalkFull)
		full.Position = ""
		if err := t.store(ctx, full); err != nil {
			return err
		}
	}
	return nil
}

func (st *stream) coverageKnown() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.covered != nil
}

// cover acts on locations gained and lost: what a gained one opens is walked, what
// a lost one closes is found by a full resync.
func (st *stream) cover(ctx context.Context) error {
	if err := st.firstCoverage(ctx); err != nil {
		return err
	}
	if err := st.applyLocationsOnly(ctx); err != nil {
		return err
	}
	if err := st.reopenTracks(ctx); err != nil {
		return err
	}
	if err := st.reopenReturned(ctx); err != nil {
		return err
	}
	gained, lost := st.uncovered()
	if len(gained)+len(lost) == 0 {
		return nil
	}
	st.source.log.Info("the key's locations have changed", "stream", st.def.Name, "gained", gained, "lost", lost)
	switch {
	case st.def.Kind == registry.TotalsKind:
		if err := st.refill(ctx); err != nil {
			return err
		}
	case len(gained) > 0 && !st.def.ByLocation:
		if err := st.backfillAgain(ctx); err != nil {
			return err
		}
	case len(gained) > 0:
		if err := st.openLocations(ctx, gained); err != nil {
			return err
		}
	}
	if len(lost) > 0 && st.def.Kind == registry.ListKind {
		if err := st.close(ctx, lost); err != nil {
			return err
		}
		// One under way may have seen their rows before they were lost.
		if err := st.newResync(ctx); err != nil {
			return err
		}
	}
	// Not what the key has by now: that may be others.
	return st.saveCoverage(ctx, func(c *coverage) { c.gain(gained); c.lose(lost) })
}

// gain has locations count as covered.
func (c *coverage) gain(gained []string) {
	c.Locations = slices.Concat(c.Locations, gained)
	c.Opening = without(c.Opening, gained)
}

// lose has locations not count as covered any more.
func (c *coverage) lose(lost []string) {
	c.Locations, c.Opening = without(c.Locations, lost), without(c.Opening, lost)
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(l string) bool { return slices.Contains(some, l) })
}

// firstCoverage notes the locations with which the mirror begins.
func (st *stream) firstCoverage(ctx context.Context) error {
	if !st.coversAll() || st.coverageKnown() {
		return nil
	}
	return st.saveCoverage(ctx, func(c *coverage) { c.gain(st.source.identity().locations) })
}

// saveCoverage changes what is stored of it.
func (st *stream) saveCoverage(ctx context.Context, change func(*coverage)) error {
	c := &coverage{}
	st.mu.Lock()
	if st.covered != nil {
		*c = *st.covered
	}
	st.mu.Unlock()
	change(c)
	c.Locations = slices.Compact(slices.Sorted(slices.Values(c.Locations)))
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("coverage: %w", err)
	}
	now := time.Now().UTC()
	err = st.source.save(ctx, st.def.Name, sinks.Checkpoint{
		Source: st.source.cfg.Name, Stream: st.def.Name, Walk: sinks.WalkCoverage, Business: st.source.business(),
		Position: string(text), Done: true, StartedAt: now, UpdatedAt: now,
	}, nil)
	if err != nil {
		return err
	}
	st.mu.Lock()
	st.covered = c
	st.mu.Unlock()
	st.forgetLostLocations(ctx, c.Locations)
	return nil
}

// restoreCoverage takes over what is stored; the caller holds stream.mu.
func (st *stream) restoreCoverage(cp sinks.Checkpoint) {
	c := &coverage{}
	if err := json.Unmarshal([]byte(cp.Position), c); err != nil {
		st.source.log.Warn("the stored locations are not readable, today's are taken", "stream", st.def.Name, "err", err)
		return
	}
	st.covered = c
}

// openLocations walks the list of each gained location. A walk that is cut short
// goes on at the next turn; a location counts as covered after its end only.
func (st *stream) openLocations(ctx context.Context, gained []string) error {
	if err := st.beginOpening(ctx, gained); err != nil {
		return err
	}
	if err := st.expectOpened(ctx); err != nil {
		return err
	}
	for _, l := range gained {
		t := st.opening(l)
		if err := t.fill(ctx); err != nil {
			return err
		}
		if err := st.saveCoverage(ctx, func(c *coverage) { c.gain([]string{l}) }); err != nil {
			return err
		}
	}
	return nil
}

// expectOpened counts the rows that were there before locations were gained, for the
// forecast: what the service has beyond those is to come.
func (st *stream) expectOpened(ctx context.Context) error {
	sw := st.newSweep()
	sw.query.Below = 0
	rows, err := st.source.syncer.opts.Sink.CountLive(ctx, sw.query)
	if err != nil {
		return fmt.Errorf("count live rows: %w", err)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range st.openings {
		if !t.back.Done {
			rows -= min(rows, t.back.Rows)
		}
	}
	st.ownRows = rows
	return nil
}

// beginOpening stores that rows of gained locations are about to come.
func (st *stream) beginOpening(ctx context.Context, gained []string) error {
	st.mu.Lock()
	begun := len(without(gained, st.covered.Opening)) == 0
	st.mu.Unlock()
	if begun {
		return nil
	}
	return st.saveCoverage(ctx, func(c *coverage) { c.Opening = slices.Concat(without(c.Opening, gained), gained) })
}

// opening is the track of a gained location, which has a backfill only: its rows
// come with the stream's own incremental walks from now on.
func (st *stream) opening(location string) *track {
	st.mu.Lock()
	defer st.mu.Unlock()
	t := st.openings[location]
	if t == nil {
		t = newTrack(st, location)
		t.opening = true
		t.restoreFrom(st.source.stored.Checkpoints)
		st.openings[location] = t
	}
	return t
}

// close forgets the walks that once opened locations which are lost now: should
// they be gained again, they are walked again.
func (st *stream) close(ctx context.Context, lost []string) error {
	for _, l := range lost {
		t := st.opening(l)
		if t.checkpoint(sinks.WalkBackfill).StartedAt.IsZero() {
			continue
		}
		if err := t.store(ctx, t.fresh(sinks.WalkBackfill)); err != nil {
			return err
		}
	}
	return nil
}

// backfillAgain begins the backfill anew.
func (st *stream) backfillAgain(ctx context.Context) error {
	for _, t := range st.followed() {
		if err := t.store(ctx, t.fresh(sinks.WalkBackfill)); err != nil {
			return err
		}
	}
	return nil
}

// refill begins the way back of the totals anew.
func (st *stream) refill(ctx context.Context) error {
	cp := sinks.Checkpoint{
		Source: st.source.cfg.Name, Stream: st.def.Name, Walk: sinks.WalkTotals,
		Business: st.source.business(), UpdatedAt: time.Now().UTC(),
	}
	if err := st.source.save(ctx, st.def.Name, cp, nil); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.totals.stored, st.totals.settled = cp, false
	return nil
}
