package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// A deep run asks for the last 92 days, overall and of each location (DESIGN §7). With
// many locations, or a small share of the limits, that takes minutes. The turns of
// yesterday and today go on meanwhile: the questions of a deep run stand in a lane below
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

// answersForPace tell at what pace questions are answered; with fewer, one that waited
// for another stream's would.
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

// deepRun is a deep run under way.
type deepRun struct {
	asking
	// differ are the days that differed at first sight, and are asked for again at settles.
	differ  int
	settles time.Time
}

// proveDeep is the turn of the last 92 days, and of each location.
func (st *Totals) proveDeep(ctx context.Context) error {
	defer st.noteRun(nil)
	began, what := time.Now(), st.comparedNow()
	b, err := st.firstLook(ctx, true, st.askDeep)
	missed := errors.Join(err, b.broken)
	if b.silent {
		missed = errors.Join(missed, st.NotComparable())
	}
	moved, settled := false, error(nil)
	if differed := b.doubtful(); len(differed) > 0 {
		if err := st.Settling.Take(ctx); err != nil { // the next deep run is a day away
			return err
		}
		moved, settled = st.settleTurn(ctx, differed)
		st.Settling.Release()
	}
	st.noteRepeat(what, cutShort(missed), cutShort(settled), moved)
	if ctx.Err() == nil && !cutShort(errors.Join(missed, settled)) {
		settled = errors.Join(settled, st.endDeep(ctx, began, what))
	}
	return errors.Join(err, settled)
}

// noteRepeat notes when a deep run is repeated that was cut short, or in which days moved: once for
// those. For days that cannot be looked at again the pause doubles: some may be refused for ever. It
// holds while what there is to compare stays what it was.
func (st *Totals) noteRepeat(what compared, missed, unsettled, moved bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	now, again := time.Now(), st.repeatAt
	if !st.repeats.same(what) { // it was another's
		again = time.Time{}
	}
	st.repeatAt, st.repeats = time.Time{}, what
	switch {
	case !unsettled:
		st.cutSince = time.Time{}
	case st.cutSince.IsZero():
		st.cutSince = now
	}
	switch {
	case missed, moved && again.IsZero():
		st.repeatAt = now
	case unsettled:
		st.repeatAt = now.Add(now.Sub(st.cutSince))
	}
}

// cutShort reports whether an error says nothing about the days that were asked for.
func cutShort(err error) bool { return api.IsTemporary(err) || errors.Is(err, ErrIncomparable) }

// noteRun notes how far a deep run is, nil when none is under way.
func (st *Totals) noteRun(run *deepRun) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.running = run
}

// askDeep asks for the last 92 days, and for those of each location where the stream
// has them, and stores what is found after each question. A location that is refused
// holds up no other.
func (st *Totals) askDeep(ctx context.Context, b *bracket) error {
	locations := st.deepLocations()
	if !slices.Contains(locations, "") {
		if err := st.withdrawVerdictsOfAll(ctx); err != nil {
			return err
		}
	}
	run := &deepRun{asking: askingFor(len(locations))}
	st.noteRun(run)
	var refused error
	for _, l := range locations {
		if err := b.await(ctx); err != nil {
			return err
		}
		err := st.Guard.Run(ctx, func(ctx context.Context) error {
			known := len(b.Found)
			asked := st.AskDaysBack(ctx, b.Ask, calendar.MaxRange-1, []string{l})
			_, stored := st.conclude(ctx, b.Found[known:])
			return errors.Join(asked, stored)
		})
		if err != nil && !refuses(l, err) {
			return err
		}
		refused = errors.Join(refused, err)
		st.mu.Lock()
		run.answered()
		st.mu.Unlock()
	}
	again := b.doubtful()
	st.mu.Lock()
	defer st.mu.Unlock()
	run.differ, run.settles, run.left = daysOf(again), newestAsk(again).Add(st.Source.SettleAfter), len(spansCovering(again))
	return refused
}

// daysOf is how many days proofs are about.
func daysOf(proofs []DayProof) int {
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
	if st.NotComparable() != nil {
		return false
	}
	now := st.comparedNow()
	st.mu.Lock()
	repeatAt, repeats := st.repeatAt, st.repeats.same(now)
	anew := st.lastDeep.IsZero() || !st.compared.same(now)
	st.mu.Unlock()
	if due := !time.Now().Before(repeatAt); !repeatAt.IsZero() && (due || repeats) {
		return due
	}
	return anew && st.Complete() && !st.shared.walkedWhole() || st.sleptThrough(time.Now())
}

// sleptThrough reports whether the turn of a deep run has passed since the last one, or
// since the mirror began. Sources that begin together make up for it one after the other.
func (st *Totals) sleptThrough(now time.Time) bool {
	s := st.Source
	st.mu.Lock()
	last := stream.Later(st.lastDeep, st.back.stored.StartedAt)
	st.mu.Unlock()
	spread := min(time.Duration(s.Began)*time.Second, schedule.MaxSpread)
	settled := s.ProcessBegan.Add(time.Duration(schedule.Hash(s.Name, sinks.WalkDeep) % uint64(spread))) //nolint:gosec // above zero
	return now.After(settled) && s.Timetable().Due(schedule.ReconcileDeep, s.Name, last, now)
}

// endDeep stores that a deep run has come to its end.
func (st *Totals) endDeep(ctx context.Context, began time.Time, what compared) error {
	text, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("what the deep run has compared: %w", err)
	}
	st.mu.Lock()
	st.lastDeep, st.compared = began, what
	st.mu.Unlock()
	return st.Source.Save(ctx, st.Def.Name, sinks.Checkpoint{
		Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkDeep, Business: st.Source.Business(),
		Position: string(text), Done: true, StartedAt: began.UTC(), UpdatedAt: time.Now().UTC(),
	}, nil)
}

// deepProgress is how far the deep run is and how long it will take, nil when none is under way.
func (st *Totals) deepProgress() *status.Progress {
	st.mu.Lock()
	defer st.mu.Unlock()
	run := st.running
	if run == nil {
		return nil
	}
	left := run.expect(st.Source.Lanes)
	if run.differ > 0 {
		left += max(time.Until(run.settles), 0)
	}
	return &status.Progress{
		Walk: status.WalkDeep, StartedAt: run.began, Pages: uint64(run.asked), RequestsLeft: uint64(run.left),
		ExpectedLeft: status.Seconds(left), Suspects: run.differ,
	}
}
