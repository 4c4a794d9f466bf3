package proof

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
)

// A deep run asks for the last 92 days, overall and of each location (docs/rules.md, Proof). With
// many locations, or a small share of the limits, that takes minutes. The turns of
// yesterday and today go on meanwhile: the questions of a deep run have a lane below
// theirs, and between two of them the stream's guard is free.

// comparedNow is what a deep run compares: the scope of the totals ([Totals.scope]), and the version of
// the last full resync of the orders that has come to its end. It is stored as the position of its
// checkpoint: when it is another by now, a deep run is owed.
func comparedNow(st *Totals) string {
	text, _ := json.Marshal(struct { // texts and a number
		Scope  []string `json:"scope,omitempty"`
		Resync uint64   `json:"resync,omitempty"`
	}{st.scope(), st.shared.Orders.LastResync()})
	return string(text)
}

// deepRuns are the deep runs of a stream.
type deepRuns struct {
	stream.Slot                                  // one at a time
	last        atomic.Pointer[sinks.Checkpoint] // the last one that came to its end
	running     atomic.Pointer[run]              // nil when none is under way
	cut         atomic.Bool                      // the last one could not ask for all its days
}

// proveRecent is the turn of yesterday and today. The caller holds recent, which is free again
// when they have been asked for. Days that differ while others are being settled are left to the
// next turn, which finds them again.
func (st *Totals) proveRecent(ctx context.Context) error {
	r := newRun(st.shared, true)
	differed, err := r.firstLook(ctx, st, st.shared.lastDays(2, st.Asked()), false)
	st.recent.Release()
	if len(differed) == 0 || !st.Settling.Try() {
		return err
	}
	defer st.Settling.Release()
	return errors.Join(err, r.settleTurn(ctx, st, differed))
}

// proveDeep is the turn of the last 92 days, and of each location. It has come to its end when all
// days were asked for: what could not be looked at again is left to the next one.
func (st *Totals) proveDeep(ctx context.Context) error {
	r, what, locations := newRun(st.shared, true), comparedNow(st), st.deepLocations()
	r.patient = true
	r.expectQuestions(len(locations))
	st.deep.running.Store(r)
	defer st.deep.running.Store(nil)
	differed, err := r.firstLook(ctx, st, st.shared.lastDays(MaxRange, locations), true)
	failed := errors.Join(err, r.broken)
	cut := api.IsTemporary(failed) || errors.Is(failed, errIncomparable) // of some days nothing is known then
	if len(differed) > 0 {
		err = errors.Join(err, st.Settling.Run(ctx, func(ctx context.Context) error {
			return r.settleTurn(ctx, st, differed)
		}))
	}
	if st.deep.cut.Store(cut); ctx.Err() != nil || cut {
		return err
	}
	last := sinks.Checkpoint{
		Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkDeep, Business: st.Source.Business(),
		Position: what, Done: true, StartedAt: r.began.UTC(), UpdatedAt: time.Now().UTC(),
	}
	st.deep.last.Store(&last)
	c := st.Source.Commit(st.Def.Name)
	c.Checkpoint = &last
	_, unsaved := st.Source.Commits.Write(ctx, c) // nobody waits for it: a run whose end is lost is made once more
	return errors.Join(err, unsaved)
}

// deepOwed reports whether a deep run is to come before its turn: that of the last one was cut short, or
// passed while the daemon was stopped; or what it compared is another by now: the mirror is new, other
// locations are asked for, or a full resync of the orders has come to its end. Sources that begin together
// make up for what they have missed one after the other.
func (st *Totals) deepOwed() bool {
	if st.shared.notComparable() != nil {
		return false
	}
	s, now, what := st.Source, time.Now(), comparedNow(st)
	cp, _ := st.filledTo()
	last, anew := cp.StartedAt, true
	if deep := st.deep.last.Load(); deep != nil {
		last, anew = stream.Later(deep.StartedAt, last), deep.Position != what
	}
	if anew && st.Complete() && !st.shared.Orders.Resyncing() {
		return true
	}
	spread := min(time.Duration(s.Beside)*time.Second, schedule.MaxSpread)
	settled := s.ProcessBegan.Add(time.Duration(schedule.Hash(s.Name, sinks.WalkDeep) % uint64(spread))) //nolint:gosec // above zero
	return now.After(settled) && s.Timetable().Due(schedule.ReconcileDeep, s.Name, last, now)
}
