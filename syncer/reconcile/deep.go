package reconcile

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
	"github.com/larder-sync/larder/syncer/totals"
)

// DeepRuns compare the last 92 days, every now and then. The mu of the proofs guards what
// they know.
type DeepRuns struct {
	proofs *Proofs
	deep   stream.Slot // one at a time
	// repeat is true when the last one was cut short, or was not possible yet.
	repeat bool
	last   time.Time // when the last one that was not began
	scope  []string  // what that one asked for ([totals.Totals.Scope])
	run    *deepRun  // the one under way, nil when there is none
}

// A deep run asks for the last 92 days, overall and of each location (DESIGN §7). With
// many locations, or a small share of the limits, that takes minutes. The turns of
// yesterday and today go on meanwhile: the questions of a deep run stand in a lane below
// theirs, and between two of them the stream's guard is free.

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

// prove is the turn of the last 92 days, and of each location. The caller holds deep.
func (d *DeepRuns) prove(ctx context.Context) error {
	defer d.runs(nil)
	return d.proofs.prove(ctx, d.askDeep, true)
}

// runs notes how far a deep run is, nil when none is under way.
func (d *DeepRuns) runs(run *deepRun) {
	d.proofs.mu.Lock()
	defer d.proofs.mu.Unlock()
	d.run = run
}

// askDeep asks for the last 92 days, and for those of each location where the stream
// has them, and stores what is found after each question. A location that is refused
// holds up no other.
func (d *DeepRuns) askDeep(ctx context.Context, b *bracket) error {
	b.deep = true
	locations := d.proofs.DeepLocations()
	if !slices.Contains(locations, "") {
		if err := d.proofs.record.withdrawVerdictsOfAll(ctx); err != nil {
			return err
		}
	}
	run := &deepRun{asking: askingFor(len(locations))}
	d.runs(run)
	var refused error
	for _, l := range locations {
		if err := b.await(ctx); err != nil {
			return err
		}
		err := d.proofs.Exclusive(ctx, d.proofs.Guard, func(ctx context.Context) error { return d.askDeeply(ctx, b, l) })
		if err != nil && !totals.Refuses(l, err) {
			return err
		}
		refused = errors.Join(refused, err)
		d.proofs.mu.Lock()
		run.answered()
		d.proofs.mu.Unlock()
	}
	suspects := b.doubtful()
	d.proofs.mu.Lock()
	defer d.proofs.mu.Unlock()
	run.suspects, run.settles = daysOf(suspects), newestAsk(suspects).Add(d.proofs.Source.SettleAfter)
	run.left = len(spansCovering(suspects))
	return refused
}

// askDeeply asks one question of a deep run.
func (d *DeepRuns) askDeeply(ctx context.Context, b *bracket, location string) error {
	known := len(b.Found)
	asked := d.proofs.AskDaysBack(ctx, b.Asker(), calendar.MaxRange-1, []string{location})
	return errors.Join(asked, d.proofs.record.conclude(ctx, d.proofs.unhealed(b.Found[known:])))
}

// daysOf is how many days proofs are about.
func daysOf(proofs ...[]DayProof) int {
	days := map[types.Date]bool{}
	for _, some := range proofs {
		for _, p := range some {
			days[p.Day] = true
		}
	}
	return len(days)
}

// owed is true when a deep run is to come before its turn: the last one was cut short,
// its turn passed while the daemon was stopped, or no deep run has compared the days of what
// is asked for now.
func (d *DeepRuns) owed() bool {
	return (d.mustRepeat() || d.isNew() || d.sleptThrough(time.Now())) && d.proofs.NotComparable() == nil
}

// isNew reports whether all days have been asked for, and no deep run has compared them yet.
func (d *DeepRuns) isNew() bool {
	scope := d.proofs.Scope()
	d.proofs.mu.Lock()
	compared := !d.last.IsZero() && slices.Equal(d.scope, scope)
	d.proofs.mu.Unlock()
	return !compared && d.proofs.Filled()
}

// mustRepeat is true when the last deep run was cut short, or was not possible yet.
func (d *DeepRuns) mustRepeat() bool {
	d.proofs.mu.Lock()
	defer d.proofs.mu.Unlock()
	return d.repeat
}

// sleptThrough is true when the turn of a deep run has passed since the last one, or
// since the mirror began. Sources that begin together make up for it one after the other.
func (d *DeepRuns) sleptThrough(now time.Time) bool {
	s := d.proofs.Source
	all := d.proofs.AskedSince()
	d.proofs.mu.Lock()
	last := stream.Later(d.last, all)
	d.proofs.mu.Unlock()
	spread := min(time.Duration(s.Began)*time.Second, schedule.MaxSpread)
	settled := s.ProcessBegan.Add(time.Duration(schedule.Hash(s.Name, sinks.WalkDeep) % uint64(spread))) //nolint:gosec // above zero
	return now.After(settled) && s.Timetable().Due(schedule.ReconcileDeep, s.Name, last, now)
}

// done stores that a deep run of a scope has come to its end.
func (d *DeepRuns) done(ctx context.Context, began time.Time, scope []string) error {
	text, err := json.Marshal(scope)
	if err != nil {
		return fmt.Errorf("what the deep run has asked for: %w", err)
	}
	d.proofs.mu.Lock()
	d.last, d.scope = began, scope
	d.proofs.mu.Unlock()
	return d.proofs.Source.Save(ctx, d.proofs.Def.Name, sinks.Checkpoint{
		Source: d.proofs.Source.Name, Stream: d.proofs.Def.Name, Walk: sinks.WalkDeep, Business: d.proofs.Source.Business(),
		Position: string(text), Done: true, StartedAt: began.UTC(), UpdatedAt: time.Now().UTC(),
	}, nil)
}

// progress is how far the deep run is and how long it will take, nil when none is under way.
func (d *DeepRuns) progress() *status.Progress {
	d.proofs.mu.Lock()
	defer d.proofs.mu.Unlock()
	run := d.run
	if run == nil {
		return nil
	}
	left := run.expect(d.proofs.Source.Lanes)
	if run.suspects > 0 {
		left += max(time.Until(run.settles), 0)
	}
	return &status.Progress{
		Walk: status.WalkDeep, StartedAt: run.began, Pages: uint64(run.asked), RequestsLeft: uint64(run.left),
		ExpectedLeft: status.Seconds(left), Suspects: run.suspects,
	}
}

// noteRepeat notes whether a deep run has to be repeated: the service did not answer, or
// there was nothing yet to compare with.
func (d *DeepRuns) noteRepeat(err error) {
	d.proofs.mu.Lock()
	defer d.proofs.mu.Unlock()
	d.repeat = err != nil && (api.IsTemporary(err) || errors.Is(err, ErrIncomparable))
}
