package syncer

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
)

// list is a stream with a cursor: its tracks, and the long walks of them.
type list struct {
	*stream
	covered *covered
	// counted is how many live rows the service counts, 0 while that is not known.
	counted func() uint64

	mu     sync.Mutex // guards what follows, and the checkpoints of the tracks
	tracks []*track   // one, or one per configured location
	// openings are the backfills of locations that the key gained, by location.
	openings    map[string]*track
	stored      []sinks.Checkpoint // as they were at the start
	lastFull    sinks.Checkpoint   // the newest full resync stored, also of tracks that are not followed any more
	resyncRows  uint64             // live rows when the full resync went on
	resyncSince time.Time          // when the full resync under way began, by our clock; zero when that was before the start
	ownRows     uint64             // live rows when the walks of gained locations went on, theirs not counted
}

func newList(o *origin, def *registry.Definition, counted func() uint64) *list {
	st := &list{stream: newStream(o, def), openings: map[string]*track{}, counted: counted}
	st.kind = st
	st.covered = newCovered(st.stream, len(o.onlyLocations) == 0 || !def.ByLocation)
	return st
}

// restore takes over what the sink has stored about the list.
func (st *list) restore(state sinks.State) {
	st.restoreStream(state)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.stored = state.Checkpoints
	for _, cp := range state.Checkpoints {
		if cp.Walk == sinks.WalkFull && st.tracked(cp.Stream) && cp.FirstVersion > st.lastFull.FirstVersion {
			st.lastFull = cp
		}
		if cp.Stream == st.def.Name {
			st.covered.restore(cp)
		}
	}
}

// follow has the list asked for in the locations that the key lets it, from their stored
// checkpoints.
func (st *list) follow(key identity) {
	wanted := st.wantedLocations(key)
	st.askFor(wanted)
	st.mu.Lock()
	defer st.mu.Unlock()
	var tracks []*track
	for _, l := range wanted {
		t := st.trackOf(l)
		if t == nil {
			t = newTrack(st, l)
			t.restoreFrom(st.stored)
		}
		tracks = append(tracks, t)
	}
	st.tracks = tracks
}

// noteKey notes what else the key changes, when it has been admitted.
func (st *list) noteKey(ctx context.Context) { st.covered.noteLost(ctx) }

// trackOf is the track of a location, nil when there is none; the caller holds the lock.
func (st *list) trackOf(location string) *track {
	for _, t := range st.tracks {
		if t.location == location {
			return t
		}
	}
	return nil
}

// followed returns the tracks there are now.
func (st *list) followed() []*track {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.tracks)
}

// filled is true when the backfill has reached its end.
func (st *list) filled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return !slices.ContainsFunc(st.tracks, func(t *track) bool { return !t.back.Done })
}

// complete implements byKind.
func (st *list) complete() bool { return st.filled() && !st.changedLocations() }

// well implements byKind.
func (st *list) well() (state, detail string) {
	if !st.filled() || st.opens() {
		return StateBackfill, ""
	}
	if held := st.held(); held != nil {
		return StateHeld, held.Error()
	}
	return StateRunning, ""
}

// prune forgets the rows that no coming incremental walk of any track brings.
func (st *list) prune(t *track, walk uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	t.lastWalk = walk
	floor, oldest := t.floor(), walk
	for _, t := range st.tracks {
		if f := t.floor(); f.Before(floor) {
			floor = f
		}
		oldest = min(oldest, t.lastWalk)
	}
	st.writer.Prune(floor, oldest)
}

// catchUp runs one incremental walk of each track.
func (st *list) catchUp(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkIncremental, func(ctx context.Context) error {
		var errs []error
		for _, t := range st.followed() {
			errs = append(errs, st.unlessClosed(t.location, t.catchUp(ctx)))
		}
		return errors.Join(errs...)
	})
}

// catchUpNow runs them when no other walk of that kind runs.
func (st *list) catchUpNow(ctx context.Context) error {
	return st.exclusive(ctx, st.guard, st.catchUp)
}

// fill runs the backfill to its end, and those of gained locations. Only so many run at
// once in a process.
func (st *list) fill(ctx context.Context) error {
	if st.complete() {
		return nil
	}
	release, err := st.source.longTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.attempt(ctx, sinks.WalkBackfill, st.fillTracks)
}

func (st *list) fillTracks(ctx context.Context) error {
	if err := st.cover(ctx); err != nil {
		return err
	}
	var errs []error
	for _, t := range st.followed() {
		errs = append(errs, st.unlessClosed(t.location, t.fill(ctx)))
	}
	return errors.Join(errs...)
}

// longDue is true when there is a long walk to make.
func (st *list) longDue(now time.Time) bool {
	return !st.off() && (!st.complete() || st.resyncDue(now))
}

// long makes the long walks that are due, in the lowest lane (DESIGN R7).
func (st *list) long(ctx context.Context) error {
	if st.off() {
		return nil
	}
	if err := st.fill(ctx); err != nil {
		return err
	}
	if st.resyncDue(st.source.serviceNow()) {
		return st.resync(ctx, consent{})
	}
	return nil
}

// pass are the walks of a pass.
func (st *list) pass(full, confirmed bool) []walkNow {
	if full {
		word := consent{given: confirmed, held: st.held()}
		return []walkNow{{st.filler, st.longPages, func(ctx context.Context) error { return st.passFull(ctx, word) }}}
	}
	return []walkNow{{st.filler, st.longPages, st.fill}, {st.guard, st.newPages, st.catchUp}}
}

// passOff does in a pass what is to be done of a list that is off.
func (st *list) passOff(context.Context) error { return nil }

// passFull makes a full resync, after a backfill that is not done. A sweep that
// its guard holds is the pass's error.
func (st *list) passFull(ctx context.Context, word consent) error {
	if err := st.fill(ctx); err != nil {
		return err
	}
	if err := st.resync(ctx, word); err != nil {
		return err
	}
	if held := st.held(); held != nil {
		return held
	}
	return nil
}

// longPages is how far the long walks of the list are.
func (st *list) longPages() (n uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range st.tracks {
		n += t.back.Pages + t.full.Pages
	}
	for _, t := range st.openings {
		n += t.back.Pages
	}
	return n
}

// newPages is how far its incremental walks are.
func (st *list) newPages() (n uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range st.tracks {
		n += t.incr.Pages
	}
	return n
}
