package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// A deep run asks for the last 92 days, overall and of each location (DESIGN §7). With
// many locations, or a small share of the limits, that takes minutes, and the turns of
// yesterday and today go on meanwhile: its questions stand in a lane below theirs, and
// between two of them the stream's guard is free.

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
	// suspects are the days that differed at first sight, and are asked for again at
	// settles.
	suspects int
	settles  time.Time
}

// ProveDeep is the turn of the last 92 days, and of each location. One at a time.
func (st *Proofs) ProveDeep(ctx context.Context) error {
	if !st.deep.Try() {
		return nil
	}
	defer st.deep.Release()
	defer st.deepIs(nil)
	return st.prove(ctx, st.askDeep, true)
}

// deepIs notes how far a deep run is, nil when none is under way.
func (st *Proofs) deepIs(run *deepRun) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.proofs.run = run
}

// askDeep asks for the last 92 days, and for those of each location where the stream
// has them, and stores what is found after each question. A location that is refused
// holds up no other.
func (st *Proofs) askDeep(ctx context.Context, b *bracket) error {
	b.deep = true
	locations := st.DeepLocations()
	run := &deepRun{asking: askingFor(len(locations))}
	st.deepIs(run)
	var refused error
	for _, l := range locations {
		if err := b.await(ctx); err != nil {
			return err
		}
		err := st.Exclusive(ctx, st.Guard, func(ctx context.Context) error { return st.askDeeply(ctx, b, l) })
		if err != nil && !totals.Refuses(l, err) {
			return err
		}
		refused = errors.Join(refused, err)
		st.mu.Lock()
		run.answered()
		st.mu.Unlock()
	}
	suspects := b.doubtful()
	st.mu.Lock()
	defer st.mu.Unlock()
	run.suspects, run.settles = daysOf(suspects), newestAsk(suspects).Add(st.Source.SettleAfter)
	run.left = len(spansCovering(suspects))
	return refused
}

// askDeeply asks one question of a deep run.
func (st *Proofs) askDeeply(ctx context.Context, b *bracket, location string) error {
	known := len(b.Found)
	asked := st.AskDaysBack(ctx, b.Asker(), calendar.MaxRange-1, []string{location})
	return errors.Join(asked, st.conclude(ctx, st.unhealed(b.Found[known:])))
}

// daysOf is how many days proofs are about.
func daysOf(proofs ...[]DayProof) int {
	days := map[api.Date]bool{}
	for _, some := range proofs {
		for _, p := range some {
			days[p.Day] = true
		}
	}
	return len(days)
}

// OwesDeep is true when a deep run is to come before its turn: the last one was cut short,
// its turn passed while nobody was there, or the mirror is new, and nobody has compared
// its days.
func (st *Proofs) OwesDeep() bool {
	return (st.owes() || st.isNew() || st.sleptThrough(time.Now())) && st.NotComparable() == nil
}

// isNew is true when all days have been asked for, and no deep run has compared them yet.
func (st *Proofs) isNew() bool {
	st.mu.Lock()
	never := st.proofs.deep.IsZero()
	st.mu.Unlock()
	return never && st.Filled()
}

func (st *Proofs) owes() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.proofs.owed
}

// sleptThrough is true when the turn of a deep run has passed since the last one, or
// since the mirror began. Sources that begin together make up for it one after the other.
func (st *Proofs) sleptThrough(now time.Time) bool {
	s := st.Source
	all := st.AskedSince()
	st.mu.Lock()
	last := stream.Later(st.proofs.deep, all)
	st.mu.Unlock()
	spread := min(time.Duration(s.Began)*time.Second, schedule.MaxSpread)
	settled := s.ProcessBegan.Add(time.Duration(schedule.Hash(s.Name, sinks.WalkDeep) % uint64(spread))) //nolint:gosec // above zero
	return now.After(settled) && s.Timetable().Due(schedule.ReconcileDeep, s.Name, last, now)
}

// deepDone stores that a deep run has come to its end.
func (st *Proofs) deepDone(ctx context.Context, began time.Time) error {
	st.mu.Lock()
	st.proofs.deep = began
	st.mu.Unlock()
	return st.Source.Save(ctx, st.Def.Name, sinks.Checkpoint{
		Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkDeep, Business: st.Source.Business(),
		Done: true, StartedAt: began.UTC(), UpdatedAt: time.Now().UTC(),
	}, nil)
}

// deepProgress tells how far the deep run is and how long it will take, nil when none
// is under way.
func (st *Proofs) deepProgress() *status.Progress {
	st.mu.Lock()
	defer st.mu.Unlock()
	run := st.proofs.run
	if run == nil {
		return nil
	}
	left := run.expect(st.Source.Lanes)
	if run.suspects > 0 {
		left += max(time.Until(run.settles), 0)
	}
	return &status.Progress{
		Walk: status.WalkDeep, StartedAt: run.began, Pages: uint64(run.asked), RequestsLeft: uint64(run.left),
		ExpectedLeft: status.Seconds(left), Suspects: run.suspects,
	}
}
