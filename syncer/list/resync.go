package list

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
)

// A full resync walks a list from its start once more, writes every row of it
// again, and then sweeps: what is still live below the version with which the
// resync began was not shown by the service any more (DESIGN R6). That one number,
// stored with the checkpoint, is all that the sweep has to know, however many rows
// there are and however often the walk was interrupted.

// walked is true when the walk of a full resync has nothing more to bring.
func walked(cp sinks.Checkpoint) bool {
	return cp.Done || phaseWalked.Is(cp) || phaseCutShort.Is(cp)
}

// resyncDue is true when a full resync is under way or its turn has come. A turn
// that passed while nobody was there is made up for.
func (st *List) resyncDue(now time.Time) bool {
	if !st.Filled() {
		return false
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	newest := st.lastFull
	for _, t := range st.walks {
		if t.full.FirstVersion > newest.FirstVersion {
			newest = t.full
		}
	}
	for _, t := range st.walks {
		if t.resyncing() {
			return true
		}
		last := stream.Later(t.full.StartedAt, t.back.StartedAt)
		if t.full.FirstVersion < newest.FirstVersion && last.Before(newest.StartedAt) {
			return true // its location was not configured then, and its rows may have been removed
		}
		if st.Source.Timetable().Due(schedule.FullResync, st.Source.Name, last, now) {
			return true
		}
	}
	return false
}

// resyncing is true when a full resync is under way; the caller holds the list's lock.
func (t *LocationWalks) resyncing() bool { return !t.full.StartedAt.IsZero() && !t.full.Done }

// Resync runs a full resync to its end, from where it stands. A person's word lets
// the sweep remove what its guard would hold.
func (st *List) Resync(ctx context.Context, word Consent) error {
	release, err := st.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	if st.ResyncVersion() != 0 {
		st.Source.Log.Info("full resync goes on", "stream", st.Def.Name)
	}
	ctx, asks := api.Counting(ctx)
	defer func() { st.besides.Add(asks.Take()) }()
	return st.Attempt(ctx, sinks.WalkFull, func(ctx context.Context) error {
		if err := st.walkAll(ctx); err != nil {
			return err
		}
		st.besides.Add(asks.Take())
		return st.sweep(ctx, word)
	})
}

// walkAll walks everything again, and what locations gained meanwhile open: their
// rows may stand behind the walk's cursor, and are not gone.
func (st *List) walkAll(ctx context.Context) error {
	for {
		if err := st.BeginResync(ctx); err != nil {
			return err
		}
		if err := st.expect(ctx); err != nil {
			return err
		}
		for _, t := range st.Followed() {
			if err := t.WalkAgain(ctx); err != nil {
				return err
			}
		}
		// What changed behind the walk's cursor, stamped in the past.
		if err := st.Exclusive(ctx, st.Guard, st.CatchUp); err != nil {
			return err
		}
		// The sweep goes by what the key may use now: what it may use no more is not gone.
		if err := st.Source.Refresh(ctx); err != nil {
			return err
		}
		if gained, _ := st.covered.Changed(); len(gained)+len(st.covered.Returned()) > 0 {
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

// walkedAll is true when the full resync under way has seen all of every location
// there is now.
func (st *List) walkedAll() bool {
	first := st.ResyncVersion()
	for _, t := range st.Followed() {
		if cp := t.checkpoint(sinks.WalkFull); cp.FirstVersion != first || !walked(cp) || t.mended(cp) {
			return false
		}
	}
	return true
}

// mended is true when the walk was cut short, and the location is the key's again.
func (t *LocationWalks) mended(cp sinks.Checkpoint) bool { return phaseCutShort.Is(cp) && !t.closed() }

// expect counts what the walk will bring, for its forecast.
func (st *List) expect(ctx context.Context) error {
	rows, err := st.Source.Sink.CountLive(ctx, st.Rows())
	if err != nil {
		return fmt.Errorf("count live rows: %w", err)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.resyncRows = rows
	return nil
}

// BeginResync stores the begin of a full resync for every location that is not part of
// the one under way. All locations share its version, so that a row which moves from
// one location to another is seen by one of them.
func (st *List) BeginResync(ctx context.Context) error {
	if first := st.ResyncVersion(); first != 0 {
		return st.joinResync(ctx, first)
	}
	return st.newResync(ctx)
}

// newResync begins a full resync, in the place of one that is under way.
func (st *List) newResync(ctx context.Context) error {
	st.Source.Log.Info("full resync begins", "stream", st.Def.Name)
	st.Begins(st.Def.Name, sinks.WalkFull)
	st.mu.Lock()
	st.resyncSince = st.Source.WallClock()
	st.mu.Unlock()
	st.besides.Store(0)
	return st.joinResync(ctx, st.Source.Versions.Take(1))
}

// joinResync begins the full resync under way for every location that is not part of
// it. A sweep that waits for a person goes on waiting meanwhile.
func (st *List) joinResync(ctx context.Context, first uint64) error {
	held := st.Held()
	for _, t := range st.Followed() {
		if t.checkpoint(sinks.WalkFull).FirstVersion == first {
			continue
		}
		t.owed.Store(0)
		t.came = tally{}
		now := st.Source.ServiceNow().UTC()
		cp := sinks.Checkpoint{
			Source: st.Source.Name, Stream: t.Name(), Walk: sinks.WalkFull, Business: st.Source.Business(),
			Since: st.Def.BackfillSince, FirstVersion: first, StartedAt: now, UpdatedAt: now,
		}
		if held != nil {
			phase{Held: held}.in(&cp)
		}
		if err := t.begin(ctx, cp); err != nil {
			return err
		}
	}
	return nil
}

// begin makes the first checkpoint of a full resync durable. It has begun as soon as the
// sink has taken that: who stops waiting then leaves it to the next turn.
func (t *LocationWalks) begin(ctx context.Context, cp sinks.Checkpoint) error {
	c := t.stream.Source.Commit(t.stream.Def.Name)
	c.Checkpoint = &cp
	receipt, err := t.stream.Source.Commits.Write(ctx, c)
	if err != nil {
		return err
	}
	t.moved(cp.Walk, cp)
	if err := receipt.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the warehouse: %w", err)
	}
	return nil
}

// ResyncVersion is the first version of the full resync under way, 0 for none. One
// that a later one of other locations has overtaken is not under way any more: its
// location was not configured for a while.
func (st *List) ResyncVersion() (first uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	under := false
	for _, t := range st.walks {
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

// WalkAgain runs the walk of a full resync to its end, from where its checkpoint
// stands.
func (t *LocationWalks) WalkAgain(ctx context.Context) error {
	for {
		cp := t.checkpoint(sinks.WalkFull)
		if t.mended(cp) {
			t.beginAnew(&cp)
		}
		if walked(cp) {
			return nil
		}
		err := t.follow(ctx, sinks.WalkFull, cp)
		switch {
		case err == nil:
		case t.stream.UnlessClosed(t.Location, err) != nil:
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

// store makes a checkpoint of the walks durable and takes it over.
func (t *LocationWalks) store(ctx context.Context, cp sinks.Checkpoint) error {
	if err := t.stream.Source.Save(ctx, t.stream.Def.Name, cp, nil); err != nil {
		return err
	}
	t.moved(cp.Walk, cp)
	return nil
}
