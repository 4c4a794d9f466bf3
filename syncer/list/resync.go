package list

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// A full resync walks a list from its start once more, writes every row of it
// again, and then sweeps. A row that is still live below the version with which the
// resync began was not shown by the service any more (docs/rules.md R6). That one number,
// stored with the checkpoint, is all that the sweep has to know, however many rows
// there are and however often the walk was interrupted.

// resyncDue reports whether a full resync is under way or owed, or its turn has come. A turn
// that passed while nobody was there is made up for.
func (st *List) resyncDue() bool {
	p := st.state.read()
	return p.back.Done && (p.resyncing() ||
		st.again.Due(st.Source.Timetable(), schedule.FullResync, st.Source.Name, stream.Later(p.full.StartedAt, p.back.StartedAt), st.Source.ServiceNow()))
}

// resync runs a full resync to its end, from its checkpoint. The sweep removes what its guard would
// hold once an operator has confirmed it.
func (st *List) resync(ctx context.Context, confirmed consent) error {
	release, err := st.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	if cp := st.state.read().full; cp.underWay() {
		st.Source.Log.Info("full resync goes on", "stream", st.Def.Name)
	}
	return st.Attempt(ctx, sinks.WalkFull, func(ctx context.Context) error {
		for {
			if p := st.state.read(); !p.full.underWay() || p.full.FirstVersion == 0 || p.indebted() {
				if err := st.beginResync(ctx); err != nil {
					return err
				}
			}
			rows, err := st.Source.Sink.CountLive(ctx, st.Rows())
			if err != nil {
				return fmt.Errorf("count live rows: %w", err)
			}
			st.state.change(func(p *position) { p.mirrored = rows })
			if cp := st.state.read().full; !cp.phase.Walked {
				err := st.follow(ctx, cp)
				if errors.Is(err, errOvertaken) {
					continue
				}
				if err != nil {
					return err
				}
			}
			// What changed behind the walk's cursor, stamped in the past.
			if err := st.Hurry(ctx, func(ctx context.Context) error { return st.Guard.Run(ctx, st.CatchUp) }); err != nil {
				return err
			}
			// The sweep goes by what the key may use now: what it may use no more is not gone.
			if err := st.Source.Refresh(ctx); err != nil {
				return err
			}
			if !st.state.read().indebted() {
				return st.sweep(ctx, confirmed)
			}
		}
	})
}

// beginResync stores the begin of a full resync, in the place of one that is under way. A sweep
// that waits for a person goes on waiting meanwhile. It has begun as soon as the
// sink has taken that: who stops waiting then leaves it to the next turn.
func (st *List) beginResync(ctx context.Context) error {
	st.Source.Log.Info("full resync begins", "stream", st.Def.Name)
	began, now, p := time.Now(), st.Source.ServiceNow().UTC(), st.state.read()
	cp := fresh(st.Source, st.Def, sinks.WalkFull)
	cp.Since, cp.FirstVersion, cp.StartedAt, cp.UpdatedAt = st.Def.BackfillSince, st.Source.Versions.Take(1), now, now
	cp.phase = phase{Held: st.Held(), Brought: !p.indebted() && !p.awaits()}
	c := st.Source.Commit(st.Def.Name)
	stored := cp.encoded()
	c.Checkpoint = &stored
	receipt, err := st.Source.Commits.Write(ctx, c)
	if err != nil {
		return err
	}
	st.state.moved(cp)
	st.state.change(func(p *position) { p.began = began })
	if err := receipt.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the warehouse: %w", err)
	}
	return nil
}

// LastResync is the first version of the last full resync that has come to its end, 0 for none,
// and while one is under way or owed.
func (st *List) LastResync() uint64 {
	if p := st.state.read(); p.full.Done && !p.indebted() {
		return p.full.FirstVersion
	}
	return 0
}

// Held is the sweep that waits for a person, nil for none.
func (st *List) Held() *status.SweepHeld { return st.state.read().full.phase.Held }
