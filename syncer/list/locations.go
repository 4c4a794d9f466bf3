package list

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

// closed is true when the walks' location is not the key's, or not active.
func (t *LocationWalks) closed() bool {
	return t.Location != "" && slices.Contains(t.stream.Source.Identity().Inactive, t.Location)
}

// changedLocations is true when locations were gained or lost, or it is not known
// yet with which the mirror began.
func (st *List) changedLocations() bool { return st.covered.Due() || len(st.Reopened()) > 0 }

// opens is true when rows of locations that were gained are still to come.
func (st *List) opens() bool {
	gained, _ := st.covered.Changed()
	return len(gained)+len(st.Reopened())+len(st.covered.Returned()) > 0
}

// cover acts on locations gained and lost: what a gained one opens is walked, what
// a lost one closes is found by a full resync.
func (st *List) cover(ctx context.Context) error {
	if err := st.covered.Begin(ctx); err != nil {
		return err
	}
	if err := st.reopenWalks(ctx); err != nil {
		return err
	}
	if err := st.reopenReturned(ctx); err != nil {
		return err
	}
	gained, lost := st.covered.Changed()
	if len(gained)+len(lost) == 0 {
		return nil
	}
	st.Source.Log.Info("the key's locations have changed", "stream", st.Def.Name, "gained", gained, "lost", lost)
	switch {
	case len(gained) > 0 && !st.Def.ByLocation:
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
	return st.covered.Save(ctx, func(c *stream.Coverage) { c.Gain(gained); c.Lose(lost) })
}

// reopenReturned has locations that were lost and are back count as not covered: what
// passed by their rows is made up for as if they had just been gained.
func (st *List) reopenReturned(ctx context.Context) error {
	back := st.covered.Returned()
	if len(back) == 0 {
		return nil
	}
	if err := st.close(ctx, back); err != nil {
		return err
	}
	return st.covered.Save(ctx, func(c *stream.Coverage) { c.Lose(back) })
}

// Reopened are the walks of configured locations that are the key's again.
func (st *List) Reopened() []*LocationWalks {
	return slices.DeleteFunc(st.Followed(), func(t *LocationWalks) bool {
		return !PhaseClosed.Is(t.checkpoint(sinks.WalkFull)) || t.closed()
	})
}

// reopenWalks begins the backfills of such locations anew.
func (st *List) reopenWalks(ctx context.Context) error {
	for _, t := range st.Reopened() {
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
func (st *List) openLocations(ctx context.Context, gained []string) error {
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
		if err := st.covered.Save(ctx, func(c *stream.Coverage) { c.Gain([]string{l}) }); err != nil {
			return err
		}
	}
	return nil
}

// expectOpened counts the rows that were there before locations were gained, for the
// forecast: what the service has beyond those is to come.
func (st *List) expectOpened(ctx context.Context) error {
	rows, err := st.Source.Sink.CountLive(ctx, st.Rows())
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
func (st *List) beginOpening(ctx context.Context, gained []string) error {
	if len(stream.Without(gained, st.covered.Now().Opening)) == 0 {
		return nil
	}
	return st.covered.Save(ctx, func(c *stream.Coverage) { c.Opening = slices.Concat(stream.Without(c.Opening, gained), gained) })
}

// opening are the walks of a gained location, which has a backfill only: its rows
// come with the stream's own incremental walks from now on.
func (st *List) opening(location string) *LocationWalks {
	st.mu.Lock()
	defer st.mu.Unlock()
	t := st.openings[location]
	if t == nil {
		t = newLocationWalks(st, location)
		t.opening = true
		t.restoreFrom(st.stored)
		st.openings[location] = t
	}
	return t
}

// close forgets the walks that once opened locations which are lost now: should
// they be gained again, they are walked again.
func (st *List) close(ctx context.Context, lost []string) error {
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
func (st *List) backfillAgain(ctx context.Context) error {
	for _, t := range st.Followed() {
		if err := t.store(ctx, t.fresh(sinks.WalkBackfill)); err != nil {
			return err
		}
	}
	return nil
}
