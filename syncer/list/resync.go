package list

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// FullResync walks a whole list anew, and sweeps what it did not find. The list's mu guards
// what it knows, but for besides.
type FullResync struct {
	list *List
	last sinks.Checkpoint // the newest that is stored, also of locations that are not followed any more
	// rows are the live rows when the one under way went on.
	rows uint64
	// since is when it began, by our clock; zero when that was before the start.
	since   time.Time
	besides atomic.Uint64 // requests of it beside its pages: probes, the sweep's questions
}

// A full resync walks a list from its start once more, writes every row of it
// again, and then sweeps. A row that is still live below the version with which the
// resync began was not shown by the service any more (DESIGN R6). That one number,
// stored with the checkpoint, is all that the sweep has to know, however many rows
// there are and however often the walk was interrupted.

// walked is true when the walk of a full resync has nothing more to bring.
func walked(cp sinks.Checkpoint) bool {
	return cp.Done || phaseWalked.Is(cp) || phaseCutShort.Is(cp)
}

// due is true when a full resync is under way or its turn has come. A turn
// that passed while nobody was there is made up for.
func (f *FullResync) due(now time.Time) bool {
	if !f.list.Filled() {
		return false
	}
	f.list.mu.Lock()
	defer f.list.mu.Unlock()
	newest := f.last
	for _, t := range f.list.walks {
		if t.full.FirstVersion > newest.FirstVersion {
			newest = t.full
		}
	}
	for _, t := range f.list.walks {
		if t.resyncing() {
			return true
		}
		last := stream.Later(t.full.StartedAt, t.back.StartedAt)
		if t.full.FirstVersion < newest.FirstVersion && last.Before(newest.StartedAt) {
			return true // its location was not configured then, and its rows may have been removed
		}
		if f.list.Source.Timetable().Due(schedule.FullResync, f.list.Source.Name, last, now) {
			return true
		}
	}
	return false
}

// resyncing is true when a full resync is under way; the caller holds the list's lock.
func (t *LocationWalks) resyncing() bool { return !t.full.StartedAt.IsZero() && !t.full.Done }

// Run runs a full resync to its end, from where it stands. A person's word lets
// the sweep remove what its guard would hold.
func (f *FullResync) Run(ctx context.Context, word Consent) error {
	release, err := f.list.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	if f.Version() != 0 {
		f.list.Source.Log.Info("full resync goes on", "stream", f.list.Def.Name)
	}
	ctx, asks := api.Counting(ctx)
	defer func() { f.besides.Add(asks.Take()) }()
	return f.list.Attempt(ctx, sinks.WalkFull, func(ctx context.Context) error {
		if err := f.walkAll(ctx); err != nil {
			return err
		}
		f.besides.Add(asks.Take())
		return f.sweep(ctx, word)
	})
}

// walkAll walks everything again, and what locations gained meanwhile open: their
// rows may stand behind the walk's cursor, and are not gone.
func (f *FullResync) walkAll(ctx context.Context) error {
	for {
		if err := f.Begin(ctx); err != nil {
			return err
		}
		if err := f.expect(ctx); err != nil {
			return err
		}
		for _, t := range f.list.Followed() {
			if err := t.WalkAgain(ctx); err != nil {
				return err
			}
		}
		// What changed behind the walk's cursor, stamped in the past.
		if err := f.list.Exclusive(ctx, f.list.Guard, f.list.CatchUp); err != nil {
			return err
		}
		// The sweep goes by what the key may use now: what it may use no more is not gone.
		if err := f.list.Source.Refresh(ctx); err != nil {
			return err
		}
		if gained, _ := f.list.covered.Changed(); len(gained)+len(f.list.covered.Returned()) > 0 {
			if err := f.list.fillLocations(ctx); err != nil {
				return err
			}
			continue
		}
		if f.walkedAll() {
			return nil
		}
	}
}

// walkedAll is true when the full resync under way has seen all of every location
// there is now.
func (f *FullResync) walkedAll() bool {
	first := f.Version()
	for _, t := range f.list.Followed() {
		if cp := t.checkpoint(sinks.WalkFull); cp.FirstVersion != first || !walked(cp) || t.mended(cp) {
			return false
		}
	}
	return true
}

// mended is true when the walk was cut short, and the location is the key's again.
func (t *LocationWalks) mended(cp sinks.Checkpoint) bool { return phaseCutShort.Is(cp) && !t.closed() }

// expect counts what the walk will bring, for its forecast.
func (f *FullResync) expect(ctx context.Context) error {
	rows, err := f.list.Source.Sink.CountLive(ctx, f.list.Rows())
	if err != nil {
		return fmt.Errorf("count live rows: %w", err)
	}
	f.list.mu.Lock()
	defer f.list.mu.Unlock()
	f.rows = rows
	return nil
}

// Begin stores the begin of a full resync for every location that is not part of
// the one under way. All locations share its version, so that a row which moves from
// one location to another is seen by one of them.
func (f *FullResync) Begin(ctx context.Context) error {
	if first := f.Version(); first != 0 {
		return f.joinResync(ctx, first)
	}
	return f.newResync(ctx)
}

// newResync begins a full resync, in the place of one that is under way.
func (f *FullResync) newResync(ctx context.Context) error {
	f.list.Source.Log.Info("full resync begins", "stream", f.list.Def.Name)
	f.list.Begins(f.list.Def.Name, sinks.WalkFull)
	f.list.mu.Lock()
	f.since = f.list.Source.WallClock()
	f.list.mu.Unlock()
	f.besides.Store(0)
	return f.joinResync(ctx, f.list.Source.Versions.Take(1))
}

// joinResync begins the full resync under way for every location that is not part of
// it. A sweep that waits for a person goes on waiting meanwhile.
func (f *FullResync) joinResync(ctx context.Context, first uint64) error {
	held := f.Held()
	for _, t := range f.list.Followed() {
		if t.checkpoint(sinks.WalkFull).FirstVersion == first {
			continue
		}
		t.unrecorded.Store(0)
		t.came = tally{}
		now := f.list.Source.ServiceNow().UTC()
		cp := sinks.Checkpoint{
			Source: f.list.Source.Name, Stream: t.Name(), Walk: sinks.WalkFull, Business: f.list.Source.Business(),
			Since: f.list.Def.BackfillSince, FirstVersion: first, StartedAt: now, UpdatedAt: now,
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

// Version is the first version of the full resync under way, 0 for none. One
// that a later one of other locations has overtaken is not under way any more: its
// location was not configured for a while.
func (f *FullResync) Version() (first uint64) {
	f.list.mu.Lock()
	defer f.list.mu.Unlock()
	under := false
	for _, t := range f.list.walks {
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

// passFull makes a full resync, after a backfill that is not done. A sweep that
// its guard holds is the pass's error.
func (f *FullResync) passFull(ctx context.Context, word Consent) error {
	if err := f.list.Fill(ctx); err != nil {
		return err
	}
	if err := f.Run(ctx, word); err != nil {
		return err
	}
	if held := f.Held(); held != nil {
		return held
	}
	return nil
}

// Held is the sweep that waits for a person, nil for none.
func (f *FullResync) Held() *status.SweepHeld {
	f.list.mu.Lock()
	defer f.list.mu.Unlock()
	for _, t := range f.list.walks {
		if held := phaseOf(t.full).Held; held != nil {
			held.Source, held.Stream = f.list.Source.Name, f.list.Def.Name // as they are named now
			return held
		}
	}
	return nil
}

// lastEnded is when the last full resync of every location ended; the caller holds
// the list's mu.
func (f *FullResync) lastEnded() (oldest time.Time) {
	for i, t := range f.list.walks {
		if !t.full.Done {
			return time.Time{}
		}
		if i == 0 || t.full.UpdatedAt.Before(oldest) {
			oldest = t.full.UpdatedAt
		}
	}
	return oldest
}
