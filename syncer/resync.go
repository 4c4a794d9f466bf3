package syncer

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
)

// A full resync walks a list from its start once more, writes every row of it
// again, and then sweeps: what is still live below the version with which the
// resync began was not shown by the service any more (DESIGN R6). That one number,
// stored with the checkpoint, is all that the sweep has to know, however many rows
// there are and however often the walk was interrupted.

// walked is true when the walk of a full resync has nothing more to bring.
func walked(cp sinks.Checkpoint) bool {
	return cp.Done || phaseWalked.is(cp) || phaseCutShort.is(cp)
}

// resyncDue is true when a full resync is under way or its turn has come. A turn
// that passed while nobody was there is made up for.
func (st *list) resyncDue(now time.Time) bool {
	if !st.filled() {
		return false
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	newest := st.lastFull
	for _, t := range st.tracks {
		if t.full.FirstVersion > newest.FirstVersion {
			newest = t.full
		}
	}
	for _, t := range st.tracks {
		if t.resyncing() {
			return true
		}
		last := later(t.full.StartedAt, t.back.StartedAt)
		if t.full.FirstVersion < newest.FirstVersion && last.Before(newest.StartedAt) {
			return true // its location was not configured then, and its rows may have been removed
		}
		if st.source.timetable().Due(schedule.FullResync, st.source.name, last, now) {
			return true
		}
	}
	return false
}

// resyncing is true when a full resync is under way; the caller holds stream.mu.
func (t *track) resyncing() bool { return !t.full.StartedAt.IsZero() && !t.full.Done }

// resync runs a full resync to its end, from where it stands. A person's word lets
// the sweep remove what its guard would hold.
func (st *list) resync(ctx context.Context, word consent) error {
	release, err := st.source.longTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	if st.resyncVersion() != 0 {
		st.source.log.Info("full resync goes on", "stream", st.def.Name)
	}
	return st.attempt(ctx, sinks.WalkFull, func(ctx context.Context) error {
		if err := st.walkAll(ctx); err != nil {
			return err
		}
		return st.sweep(ctx, word)
	})
}

// walkAll walks everything again, and what locations gained meanwhile open: their
// rows may stand behind the walk's cursor, and are not gone.
func (st *list) walkAll(ctx context.Context) error {
	for {
		if err := st.beginResync(ctx); err != nil {
			return err
		}
		if err := st.expect(ctx); err != nil {
			return err
		}
		for _, t := range st.followed() {
			if err := t.walkAgain(ctx); err != nil {
				return err
			}
		}
		// What changed behind the walk's cursor, stamped in the past.
		if err := st.exclusive(ctx, st.guard, st.catchUp); err != nil {
			return err
		}
		// The sweep goes by what the key may use now: what it may use no more is not gone.
		if err := st.source.refresh(ctx); err != nil {
			return err
		}
		if gained, _ := st.covered.changed(); len(gained)+len(st.covered.returned()) > 0 {
			if err := st.fillTracks(ctx); err != nil {
				return err
			}
			continue
		}
		if st.walkedAll() {
			return nil
		}
	}
}

// walkedAll is true when the full resync under way has seen all of every track
// there is now.
func (st *list) walkedAll() bool {
	first := st.resyncVersion()
	for _, t := range st.followed() {
		if cp := t.checkpoint(sinks.WalkFull); cp.FirstVersion != first || !walked(cp) || t.mended(cp) {
			return false
		}
	}
	return true
}

// mended is true when the walk was cut short, and the location is the key's again.
func (t *track) mended(cp sinks.Checkpoint) bool { return phaseCutShort.is(cp) && !t.closed() }

// expect counts what the walk will bring, for its forecast.
func (st *list) expect(ctx context.Context) error {
	sw := st.newSweep()
	sw.query.Below = 0
	rows, err := st.source.sink.CountLive(ctx, sw.query)
	if err != nil {
		return fmt.Errorf("count live rows: %w", err)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.resyncRows = rows
	return nil
}

// beginResync stores the begin of a full resync for every track that is not part of
// the one under way. All tracks share its version, so that a row which moves from
// one track's location to another's is seen by one of them.
func (st *list) beginResync(ctx context.Context) error {
	if first := st.resyncVersion(); first != 0 {
		return st.joinResync(ctx, first)
	}
	return st.newResync(ctx)
}

// newResync begins a full resync, in the place of one that is under way.
func (st *list) newResync(ctx context.Context) error {
	st.source.log.Info("full resync begins", "stream", st.def.Name)
	st.begins(st.def.Name, sinks.WalkFull)
	st.mu.Lock()
	st.resyncSince = st.source.wallClock()
	st.mu.Unlock()
	return st.joinResync(ctx, st.source.versions.Take(1))
}

func (st *list) joinResync(ctx context.Context, first uint64) error {
	for _, t := range st.followed() {
		if t.checkpoint(sinks.WalkFull).FirstVersion == first {
			continue
		}
		now := st.source.serviceNow().UTC()
		cp := sinks.Checkpoint{
			Source: st.source.name, Stream: t.name(), Walk: sinks.WalkFull, Business: st.source.business(),
			Since: st.def.BackfillSince, FirstVersion: first, StartedAt: now, UpdatedAt: now,
		}
		if err := t.store(ctx, cp); err != nil {
			return err
		}
	}
	return nil
}

// resyncVersion is the first version of the full resync under way, 0 for none. One
// that a later one of other tracks has overtaken is not under way any more: its
// location was not configured for a while.
func (st *list) resyncVersion() (first uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	under := false
	for _, t := range st.tracks {
		switch {
		case t.full.FirstVersion > first:
			first, under = t.full.FirstVersion, t.resyncing()
		case t.full.FirstVersion == first:
			under = under || t.resyncing()
		}
	}
	if !under {
		return 0
	}
	return first
}

// walkAgain runs the walk of a full resync to its end, from where its checkpoint
// stands.
func (t *track) walkAgain(ctx context.Context) error {
	for {
		cp := t.checkpoint(sinks.WalkFull)
		if t.mended(cp) {
			cp.Position, cp.Since = "", t.stream.def.BackfillSince
		}
		if walked(cp) {
			return nil
		}
		err := t.follow(ctx, sinks.WalkFull, cp)
		switch {
		case err == nil:
		case t.stream.unlessClosed(t.location, err) != nil:
			return err
		default:
			cp.Cursor = ""
			phaseCutShort.in(&cp)
			if err := t.store(ctx, cp); err != nil {
				return err
			}
		}
	}
}

// store makes a checkpoint of a track durable and takes it over.
func (t *track) store(ctx context.Context, cp sinks.Checkpoint) error {
	if err := t.stream.source.save(ctx, t.stream.def.Name, cp, nil); err != nil {
		return err
	}
	t.moved(cp.Walk, cp)
	return nil
}
