package syncer

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/sinks"
)

// closed is true when the track's location is not the key's, or not active.
func (t *track) closed() bool {
	return t.location != "" && slices.Contains(t.stream.source.identity().inactive, t.location)
}

// changedLocations is true when locations were gained or lost, or it is not known
// yet with which the mirror began.
func (st *list) changedLocations() bool { return st.covered.due() || len(st.reopened()) > 0 }

// opens is true when rows of locations that were gained are still to come.
func (st *list) opens() bool {
	gained, _ := st.covered.changed()
	return len(gained)+len(st.reopened())+len(st.covered.returned()) > 0
}

// cover acts on locations gained and lost: what a gained one opens is walked, what
// a lost one closes is found by a full resync.
func (st *list) cover(ctx context.Context) error {
	if err := st.covered.begin(ctx); err != nil {
		return err
	}
	if err := st.reopenTracks(ctx); err != nil {
		return err
	}
	if err := st.reopenReturned(ctx); err != nil {
		return err
	}
	gained, lost := st.covered.changed()
	if len(gained)+len(lost) == 0 {
		return nil
	}
	st.source.log.Info("the key's locations have changed", "stream", st.def.Name, "gained", gained, "lost", lost)
	switch {
	case len(gained) > 0 && !st.def.ByLocation:
		if err := st.backfillAgain(ctx); err != nil {
			return err
		}
	case len(gained) > 0:
		if err := st.openLocations(ctx, gained); err != nil {
			return err
		}
	}
	if len(lost) > 0 {
		if err := st.close(ctx, lost); err != nil {
			return err
		}
		// One under way may have seen their rows before they were lost.
		if err := st.newResync(ctx); err != nil {
			return err
		}
	}
	// Not what the key has by now: that may be others.
	return st.covered.save(ctx, func(c *coverage) { c.gain(gained); c.lose(lost) })
}

// reopenReturned has locations that were lost and are back count as not covered: what
// passed by their rows is made up for as if they had just been gained.
func (st *list) reopenReturned(ctx context.Context) error {
	back := st.covered.returned()
	if len(back) == 0 {
		return nil
	}
	if err := st.close(ctx, back); err != nil {
		return err
	}
	return st.covered.save(ctx, func(c *coverage) { c.lose(back) })
}

// reopened are the tracks of configured locations that are the key's again.
func (st *list) reopened() []*track {
	return slices.DeleteFunc(st.followed(), func(t *track) bool {
		return !phaseClosed.is(t.checkpoint(sinks.WalkFull)) || t.closed()
	})
}

// reopenTracks begins the backfills of such tracks anew.
func (st *list) reopenTracks(ctx context.Context) error {
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

// openLocations walks the list of each gained location. A walk that is cut short
// goes on at the next turn; a location counts as covered after its end only.
func (st *list) openLocations(ctx context.Context, gained []string) error {
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
		if err := st.covered.save(ctx, func(c *coverage) { c.gain([]string{l}) }); err != nil {
			return err
		}
	}
	return nil
}

// expectOpened counts the rows that were there before locations were gained, for the
// forecast: what the service has beyond those is to come.
func (st *list) expectOpened(ctx context.Context) error {
	sw := st.newSweep()
	sw.query.Below = 0
	rows, err := st.source.sink.CountLive(ctx, sw.query)
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
func (st *list) beginOpening(ctx context.Context, gained []string) error {
	if len(without(gained, st.covered.now().Opening)) == 0 {
		return nil
	}
	return st.covered.save(ctx, func(c *coverage) { c.Opening = slices.Concat(without(c.Opening, gained), gained) })
}

// opening is the track of a gained location, which has a backfill only: its rows
// come with the stream's own incremental walks from now on.
func (st *list) opening(location string) *track {
	st.mu.Lock()
	defer st.mu.Unlock()
	t := st.openings[location]
	if t == nil {
		t = newTrack(st, location)
		t.opening = true
		t.restoreFrom(st.stored)
		st.openings[location] = t
	}
	return t
}

// close forgets the walks that once opened locations which are lost now: should
// they be gained again, they are walked again.
func (st *list) close(ctx context.Context, lost []string) error {
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
func (st *list) backfillAgain(ctx context.Context) error {
	for _, t := range st.followed() {
		if err := t.store(ctx, t.fresh(sinks.WalkBackfill)); err != nil {
			return err
		}
	}
	return nil
}
