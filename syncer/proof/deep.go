package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// A deep run asks for the last 92 days, overall and of each location (DESIGN §7). With
// many locations, or a small share of the limits, that takes minutes. The turns of
// yesterday and today go on meanwhile: the questions of a deep run have a lane below
// theirs, and between two of them the stream's guard is free.

// compared is what a deep run compared. It is stored as the position of its checkpoint: when it
// is another by now, a deep run is owed.
type compared struct {
	Scope  []string `json:"scope,omitempty"`  // of the totals ([Totals.scope])
	Resync uint64   `json:"resync,omitempty"` // the version of the last full resync of the orders that has come to its end
}

func (c compared) same(now compared) bool {
	return slices.Equal(c.Scope, now.Scope) && c.Resync == now.Resync
}

func (st *Totals) comparedNow() compared {
	return compared{st.scope(), st.shared.Orders.LastResync()}
}

// asking is how far a run of questions to the heavy routes is.
type asking struct {
	began       time.Time
	asked, left int
	pace        stream.Pace
}

func askingFor(questions int) asking { return asking{began: time.Now(), left: questions} }

// answered counts a question.
func (a *asking) answered() {
	a.asked, a.left = a.asked+1, a.left-1
	a.pace.Page(time.Now())
}

// answersForPace are enough for the pace at which questions are answered; of fewer, one that waited
// for another stream's would decide.
const answersForPace = 4

// expect is how long the rest will take: as the limits let it pass or as it is answered,
// whichever is slower.
func (a *asking) expect(l *stream.Lanes) time.Duration {
	switch {
	case a.left <= 0:
		return 0
	case a.asked < answersForPace:
		return l.ExpectDeep(a.left)
	}
	return max(l.ExpectDeep(a.left), a.pace.Left(uint64(a.left)))
}

// deepRuns are the deep runs of a stream: the last one, the one under way, and when one is repeated.
type deepRuns struct {
	stream.Slot // one at a time

	mu       sync.Mutex
	last     time.Time // when the last one began that came to its end
	compared compared  // by that one
	repeatAt time.Time // when one is to come before its turn, zero for never
	repeats  compared  // what it is to compare: another is owed when it is another by now
	cutSince time.Time // since when days that differ could not be looked at again
	running  *deepRun  // nil when none is under way
}

// deepRun is a deep run under way.
type deepRun struct {
	asking
	// differ are the days that differed at first sight, and are asked for again at settles.
	differ  int
	settles time.Time
}

// restore takes over the stored checkpoint of the last deep run.
func (d *deepRuns) restore(cp sinks.Checkpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = cp.StartedAt
	if json.Unmarshal([]byte(cp.Position), &d.compared) != nil {
		d.compared = compared{} // the next one stores it
	}
}

// locked calls f with the lock held.
func (d *deepRuns) locked(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// noteEnd notes when a deep run is repeated that was cut short, or in which days moved: once for
// those. For days that cannot be looked at again the pause doubles: some may be refused for ever. It
// holds while what there is to compare stays what it was.
func (d *deepRuns) noteEnd(what compared, missed, unsettled, moved bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, repeated := time.Now(), !d.repeatAt.IsZero() && d.repeats.same(what)
	d.repeatAt, d.repeats = time.Time{}, what
	switch {
	case !unsettled:
		d.cutSince = time.Time{}
	case d.cutSince.IsZero():
		d.cutSince = now
	}
	switch {
	case missed, moved && !repeated:
		d.repeatAt = now
	case unsettled:
		d.repeatAt = now.Add(now.Sub(d.cutSince))
	}
}

// repeatNow has a deep run come before its turn.
func (d *deepRuns) repeatNow() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.repeatAt = time.Now()
}

// owed reports whether the last deep run is to be repeated by now, or later (then no other is owed
// before that), and whether it compared something else.
func (d *deepRuns) owed(what compared) (due, later, anew bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	planned := !d.repeatAt.IsZero()
	due = planned && !time.Now().Before(d.repeatAt)
	return due, planned && d.repeats.same(what), d.last.IsZero() || !d.compared.same(what)
}

// progress is how far the deep run is and how long it will take, nil when none is under way.
func (d *deepRuns) progress(lanes *stream.Lanes) *status.Progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	run := d.running
	if run == nil {
		return nil
	}
	left := run.expect(lanes)
	if run.differ > 0 {
		left += max(time.Until(run.settles), 0)
	}
	return &status.Progress{
		Walk: status.WalkDeep, StartedAt: run.began, Pages: uint64(run.asked), RequestsLeft: uint64(run.left),
		ExpectedLeft: status.Seconds(left), Suspects: run.differ,
	}
}

// proveDeep is the turn of the last 92 days, and of each location.
func (st *Totals) proveDeep(ctx context.Context) error {
	defer st.deep.locked(func() { st.deep.running = nil })
	began, what := time.Now(), st.comparedNow()
	b, err := st.firstLook(ctx, true, st.askDeep)
	missed := errors.Join(err, b.broken)
	moved, settled := false, error(nil)
	if differed := b.doubtful(); len(differed) > 0 {
		if err := st.Settling.Take(ctx); err != nil { // the next deep run is a day away
			return err
		}
		moved, settled = st.settleTurn(ctx, differed)
		st.Settling.Release()
	}
	st.deep.noteEnd(what, cutShort(missed), cutShort(settled), moved)
	if ctx.Err() == nil && !cutShort(errors.Join(missed, settled)) {
		settled = errors.Join(settled, st.endDeep(ctx, began, what))
	}
	return errors.Join(err, settled)
}

// cutShort reports whether after an error nothing is known of the days that were asked for.
func cutShort(err error) bool { return api.IsTemporary(err) || errors.Is(err, errIncomparable) }

// askDeep asks for the last 92 days, and for those of each location where the stream
// has them, and stores what is found after each question.
func (st *Totals) askDeep(ctx context.Context, b *bracket) error {
	locations := st.deepLocations()
	if !slices.Contains(locations, "") {
		if err := st.verdicts.withdrawOfAll(ctx); err != nil {
			return err
		}
	}
	run := &deepRun{asking: askingFor(len(locations))}
	st.deep.locked(func() { st.deep.running = run })
	var refused error
	for _, l := range locations {
		if err := b.await(ctx); err != nil {
			return err
		}
		err := st.Guard.Run(ctx, func(ctx context.Context) error {
			known := len(b.found)
			asked := st.askDaysBack(ctx, b.ask, MaxRange-1, []string{l})
			_, stored := st.verdicts.conclude(ctx, b.found[known:])
			return errors.Join(asked, stored)
		})
		if err != nil && !refuses(l, err) {
			return err
		}
		refused = errors.Join(refused, err)
		st.deep.locked(run.answered)
	}
	again := b.doubtful()
	st.deep.locked(func() {
		run.differ, run.settles, run.left = daysOf(again), newestAsk(again).Add(st.Source.SettleAfter), len(spansCovering(again))
	})
	return refused
}

// daysOf is how many days proofs are about.
func daysOf(proofs []dayProof) int {
	days := map[types.Date]bool{}
	for _, p := range proofs {
		days[p.Day] = true
	}
	return len(days)
}

// deepOwed reports whether a deep run is to come before its turn: the last one is to be repeated; its
// turn passed while the daemon was stopped; or what it compared is another by now: the mirror is new,
// other locations are asked for, or a full resync of the orders has come to its end.
func (st *Totals) deepOwed() bool {
	if st.shared.notComparable() != nil {
		return false
	}
	due, later, anew := st.deep.owed(st.comparedNow())
	if due || later {
		return due
	}
	return anew && st.Complete() && !st.shared.Orders.Resyncing() || st.sleptThrough(time.Now())
}

// sleptThrough reports whether the turn of a deep run has passed since the last one, or
// since the mirror began. Sources that begin together make up for it one after the other.
func (st *Totals) sleptThrough(now time.Time) bool {
	s := st.Source
	cp, _ := st.back.now()
	var last time.Time
	st.deep.locked(func() { last = stream.Later(st.deep.last, cp.StartedAt) })
	spread := min(time.Duration(s.Beside)*time.Second, schedule.MaxSpread)
	settled := s.ProcessBegan.Add(time.Duration(schedule.Hash(s.Name, sinks.WalkDeep) % uint64(spread))) //nolint:gosec // above zero
	return now.After(settled) && s.Timetable().Due(schedule.ReconcileDeep, s.Name, last, now)
}

// endDeep stores that a deep run has come to its end.
func (st *Totals) endDeep(ctx context.Context, began time.Time, what compared) error {
	text, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("what the deep run has compared: %w", err)
	}
	st.deep.locked(func() { st.deep.last, st.deep.compared = began, what })
	return st.Source.Save(ctx, st.Def.Name, sinks.Checkpoint{
		Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkDeep, Business: st.Source.Business(),
		Position: string(text), Done: true, StartedAt: began.UTC(), UpdatedAt: time.Now().UTC(),
	}, nil)
}
