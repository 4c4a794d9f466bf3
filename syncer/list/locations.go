package list

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

// Places tracks the locations that a key gains and loses. The list's mu guards what it knows.
type Places struct {
	list *List
	// openings are the backfills of locations that the key gained, by location.
	openings map[string]*LocationWalks
	ownRows  uint64 // live rows when those went on, theirs not counted
}

// closed is true when the walks' location is not the key's, or not active.
func (t *LocationWalks) closed() bool {
	return t.Location != "" && slices.Contains(t.stream.Source.Identity().Inactive, t.Location)
}

// changedLocations is true when locations were gained or lost, or it is not known
// yet with which the mirror began.
func (p *Places) changedLocations() bool { return p.list.covered.Due() || len(p.Reopened()) > 0 }

// opens is true when rows of locations that were gained are still to come.
func (p *Places) opens() bool {
	gained, _ := p.list.covered.Changed()
	return len(gained)+len(p.Reopened())+len(p.list.covered.Returned()) > 0
}

// cover acts on locations gained and lost: what a gained one opens is walked, what
// a lost one closes is found by a full resync.
func (p *Places) cover(ctx context.Context) error {
	if err := p.list.covered.Begin(ctx); err != nil {
		return err
	}
	if err := p.reopenWalks(ctx); err != nil {
		return err
	}
	if err := p.reopenReturned(ctx); err != nil {
		return err
	}
	gained, lost := p.list.covered.Changed()
	if len(gained)+len(lost) == 0 {
		return nil
	}
	p.list.Source.Log.Info("the key's locations have changed", "stream", p.list.Def.Name, "gained", gained, "lost", lost)
	switch {
	case len(gained) > 0 && !p.list.Def.ByLocation:
		if err := p.backfillAgain(ctx); err != nil {
			return err
		}
	case len(gained) > 0:
		if err := p.openLocations(ctx, gained); err != nil {
			return err
		}
	}
	if len(lost) > 0 {
		if err := p.close(ctx, lost); err != nil {
			return err
		}
		// One under way may have seen their rows before they were lost.
		if err := p.list.Full.newResync(ctx); err != nil {
			return err
		}
	}
	// Not what the key has by now: that may be others.
	return p.list.covered.Save(ctx, func(c *stream.Coverage) { c.Gain(gained); c.Lose(lost) })
}

// reopenReturned has locations that were lost and are back count as not covered: what
// passed by their rows is made up for as if they had just been gained.
func (p *Places) reopenReturned(ctx context.Context) error {
	back := p.list.covered.Returned()
	if len(back) == 0 {
		return nil
	}
	if err := p.close(ctx, back); err != nil {
		return err
	}
	return p.list.covered.Save(ctx, func(c *stream.Coverage) { c.Lose(back) })
}

// Reopened are the walks of configured locations that are the key's again.
func (p *Places) Reopened() []*LocationWalks {
	return slices.DeleteFunc(p.list.Followed(), func(t *LocationWalks) bool {
		return !PhaseClosed.Is(t.checkpoint(sinks.WalkFull)) || t.closed()
	})
}

// reopenWalks begins the backfills of such locations anew.
func (p *Places) reopenWalks(ctx context.Context) error {
	for _, t := range p.Reopened() {
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
func (p *Places) openLocations(ctx context.Context, gained []string) error {
	if err := p.beginOpening(ctx, gained); err != nil {
		return err
	}
	if err := p.expectOpened(ctx); err != nil {
		return err
	}
	for _, l := range gained {
		t := p.opening(l)
		if err := t.fill(ctx); err != nil {
			return err
		}
		if err := p.list.covered.Save(ctx, func(c *stream.Coverage) { c.Gain([]string{l}) }); err != nil {
			return err
		}
	}
	return nil
}

// expectOpened counts the rows that were there before locations were gained, for the
// forecast: what the service has beyond those is to come.
func (p *Places) expectOpened(ctx context.Context) error {
	rows, err := p.list.Source.Sink.CountLive(ctx, p.list.Rows())
	if err != nil {
		return fmt.Errorf("count live rows: %w", err)
	}
	p.list.mu.Lock()
	defer p.list.mu.Unlock()
	for _, t := range p.openings {
		if !t.back.Done {
			rows -= min(rows, t.back.Rows)
		}
	}
	p.ownRows = rows
	return nil
}

// beginOpening stores that rows of gained locations are about to come.
func (p *Places) beginOpening(ctx context.Context, gained []string) error {
	if len(stream.Without(gained, p.list.covered.Now().Opening)) == 0 {
		return nil
	}
	return p.list.covered.Save(ctx, func(c *stream.Coverage) { c.Opening = slices.Concat(stream.Without(c.Opening, gained), gained) })
}

// opening are the walks of a gained location, which has a backfill only: its rows
// come with the stream's own incremental walks from now on.
func (p *Places) opening(location string) *LocationWalks {
	p.list.mu.Lock()
	defer p.list.mu.Unlock()
	t := p.openings[location]
	if t == nil {
		t = newLocationWalks(p.list, location)
		t.opening = true
		t.restoreFrom(p.list.stored)
		p.openings[location] = t
	}
	return t
}

// close forgets the walks that once opened locations which are lost now: should
// they be gained again, they are walked again.
func (p *Places) close(ctx context.Context, lost []string) error {
	for _, l := range lost {
		t := p.opening(l)
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
func (p *Places) backfillAgain(ctx context.Context) error {
	for _, t := range p.list.Followed() {
		if err := t.store(ctx, t.fresh(sinks.WalkBackfill)); err != nil {
			return err
		}
	}
	return nil
}
