package reconcile

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// SettleAfter is when a suspect is looked at once more. A change shows up to two
// minutes after its stamp (api.md, "Pagination and sync rules" 2), and a turn of the
// incremental walks may lie behind it.
const SettleAfter = list.Lookback + 30*time.Second

// settleRounds is how often a day is asked again after it was healed, when orders of
// it change meanwhile.
const settleRounds = 3

// MaxFailedHeals in a row end the healing of a run: what they cannot mend has one cause,
// and asking for more days would only spend requests.
const MaxFailedHeals = 5

// prove runs a turn of reconciliation: the days that ask brings, and after a while
// those of them that differed.
func (st *Proofs) prove(ctx context.Context, ask func(context.Context, *bracket) error, deep bool) error {
	began, scope := time.Now(), st.Scope()
	b, err := st.firstLook(ctx, ask, deep)
	missed := errors.Join(err, b.broken)
	if b.silent {
		missed = errors.Join(missed, st.NotComparable())
	}
	if deep {
		st.Deep.noteRepeat(missed)
	}
	settled := st.SettleOnce(ctx, b.doubtful(), deep)
	if deep {
		st.Deep.noteRepeat(errors.Join(missed, settled))
	}
	if deep && ctx.Err() == nil && !st.Deep.mustRepeat() {
		settled = errors.Join(settled, st.Deep.done(ctx, began, scope))
	}
	return errors.Join(err, settled)
}

// ProveRecent is the turn of yesterday and today. The caller holds the stream's turn,
// which is free again when they have been asked for.
func (st *Proofs) ProveRecent(ctx context.Context) error {
	free := sync.OnceFunc(st.Turn.Release)
	defer free()
	return st.prove(ctx, func(ctx context.Context, b *bracket) error {
		defer free()
		return st.Exclusive(ctx, st.Guard, func(ctx context.Context) error {
			asked := st.AskRecent(ctx, b.Asker())
			return errors.Join(asked, st.record.conclude(ctx, st.unhealed(b.Found)))
		})
	}, false)
}

// firstLook has ask bring days and store what is found of them.
func (st *Proofs) firstLook(ctx context.Context, ask func(context.Context, *bracket) error, deep bool) (*bracket, error) {
	b := &bracket{totals: st, silent: true}
	err := st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		if err := errors.Join(st.beside.readFirstDay(ctx, deep), st.record.readLastDays(ctx)); err != nil {
			return err
		}
		b = st.NewBracket(ctx, true)
		return ask(ctx, b)
	})
	return b, err
}

// unhealed leaves out the suspects among days whose difference stands already: what
// is found of them is known after the second look.
func (st *Proofs) unhealed(found []DayProof) []DayProof {
	return slices.DeleteFunc(slices.Clone(found), func(p DayProof) bool {
		old, _ := st.record.standingOf(p)
		return p.suspect() && (old.verdict == sinks.VerdictDrift || old.explained())
	})
}

// NotHealed is why a day that differs is not healed; zero for a day that is healed.
type NotHealed int

// All but the first leave the day to the next deep run.
const (
	OnlyCompared NotHealed = iota + 1
	healedInVain
	CutTooOften
	stoppedHeals
)

// String is the reason that the verdict has.
func (n NotHealed) String() string {
	return map[NotHealed]string{
		OnlyCompared: "not healed: it was only compared; larder reconcile --heal heals it, and the daemon at its next turn",
		healedInVain: "not healed once more: it was, and differed still; the next deep run tries again",
		CutTooOften:  "not healed: that was cut short several times in a row; the next deep run tries again",
		stoppedHeals: "not healed: days before it could not be, so this run has stopped healing; the next deep run tries again",
	}[n]
}

// MaxInterruptedHeals healings of a day that were cut short in a row leave it to a deep run.
const MaxInterruptedHeals = 3

// SettleOnce settles suspects. While others are being settled, a turn leaves its suspects to
// the next turn, which finds them again. A deep run waits, since the next one is a day away. A
// day that a healing did not help is healed again only by a deep run.
func (st *Proofs) SettleOnce(ctx context.Context, suspects []DayProof, deep bool) error {
	switch {
	case len(suspects) == 0:
		return nil
	case deep:
		if err := st.Prover.Take(ctx); err != nil {
			return err
		}
	case !st.Prover.Try():
		return nil
	}
	defer st.Prover.Release()
	before := map[string]standing{}
	for _, p := range suspects {
		before[p.key()], _ = st.record.standingOf(p)
	}
	found, err := st.settle(ctx, suspects, settling{whyNot: func(p DayProof) NotHealed {
		if deep {
			return 0
		}
		return before[p.key()].whyNotHealed()
	}})
	if err != nil && ctx.Err() == nil {
		st.Source.Log.Log(ctx, st.Source.LevelOf(err), "days that differ could not be looked at again; the next turn does", "stream", st.Def.Name, "err", err)
	}
	st.report(slices.DeleteFunc(found, func(p DayProof) bool { return p.notHealed == healedInVain })) // those were reported before
	return err
}

// whyNotHealed is why a turn leaves a day that differs to the deep run; zero when it
// does not.
func (s standing) whyNotHealed() NotHealed {
	switch {
	case s.cuts >= MaxInterruptedHeals:
		return CutTooOften
	case s.verdict == sinks.VerdictDrift && s.tried:
		return healedInVain
	}
	return 0
}

// settling is how suspects are settled, and who hears of it; all but whyNot may be nil.
type settling struct {
	whyNot func(DayProof) NotHealed // not to heal a day
	asked  func()                   // a question was answered
	differ func(days int)           // so many days differ still, and are healed
	healed func(still bool)         // one of them is done; still: it differs all the same
	stored func([]DayProof)         // verdicts that are durable
}

// settle looks at suspects once more and heals those that differ, unless told why not. It
// returns the verdicts, each of which is stored when its day is done: a process that ends
// in the middle has lost nothing of the days before. A day whose difference is another
// than before is looked at again: a day beside it was healed, or orders of it changed.
func (st *Proofs) settle(ctx context.Context, suspects []DayProof, how settling) ([]DayProof, error) {
	var settled []DayProof
	for range settleRounds {
		found, err := st.settleRound(ctx, suspects, how)
		suspects = suspects[:0]
		for _, p := range found {
			if p.suspect() {
				suspects = append(suspects, p)
			} else {
				settled = append(settled, p)
			}
		}
		if err != nil || len(suspects) == 0 {
			return settled, err
		}
	}
	for i := range suspects {
		p := &suspects[i]
		p.Verdict, p.Reason, p.cut = sinks.VerdictUnsettled, "its difference is another each time it is asked", p.tried
	}
	v := st.verdictsFor(how)
	return append(settled, suspects...), errors.Join(v.found(ctx, suspects), v.end(ctx))
}

func (st *Proofs) settleRound(ctx context.Context, suspects []DayProof, how settling) ([]DayProof, error) {
	if !lifecycle.Pause(ctx, time.Until(newestAsk(suspects).Add(st.Source.SettleAfter))) {
		return nil, context.Cause(ctx)
	}
	if err := st.beside.healing.Take(ctx); err != nil {
		return nil, err
	}
	defer st.beside.healing.Release()
	// What the key may see decides what is compared.
	if err := st.Source.Refresh(ctx); err != nil {
		return nil, err
	}
	v := st.verdictsFor(how)
	found, err := st.secondLook(ctx, suspects, how.asked)
	st.warn(found)
	if err == nil {
		err = st.healAll(ctx, found, how, v)
	} else {
		err = errors.Join(err, v.found(ctx, found))
	}
	return v.all, errors.Join(err, v.end(ctx))
}

// newestAsk is when, by this machine's steady clock, the last of the suspects was
// found.
func newestAsk(suspects []DayProof) (at time.Time) {
	for _, p := range suspects {
		at = stream.Later(at, p.Found)
	}
	return at
}

// secondLook brackets the suspects once more. What shows the same difference again
// has the verdict drift.
func (st *Proofs) secondLook(ctx context.Context, suspects []DayProof, asked func()) ([]DayProof, error) {
	first := map[string]DayProof{}
	for _, p := range suspects {
		first[p.key()] = p
	}
	again, err := st.look(ctx, spansCovering(suspects), false, asked)
	var found []DayProof
	for _, p := range again {
		before, ok := first[p.key()]
		if !ok {
			continue
		}
		p.requests += before.requests
		done := st.beside.Healed[p.Day]
		switch {
		case p.suspect():
			p.tried = before.tried
			p.Verdict, p.Reason = st.driftOr(before, p)
		case p.Verdict == sinks.VerdictProven && done.at.After(before.Found): // the other stream's healing
			p.Verdict, p.differences, p.ids = sinks.VerdictHealed, before.differences, slices.Clone(done.IDs)
		}
		found = append(found, p)
	}
	return found, err
}

// driftOr is the verdict of a day that differed twice, with its reason. It is empty when the
// two looks differed in different figures: such a day is looked at again.
func (st *Proofs) driftOr(before, now DayProof) (verdict, reason string) {
	switch {
	case !sameGap(before.differences, now.differences):
		return "", "" // the day stays a suspect
	case st.NotComparable() != nil, st.beside.Orders.ResyncVersion() != 0:
		return sinks.VerdictUnsettled, "it differs, and the orders are being walked whole: it is asked again after that"
	}
	return sinks.VerdictDrift, ""
}

// look brackets some spans, and leaves the stream's guard free between two of them. It fails
// when there is nothing to compare with.
func (st *Proofs) look(ctx context.Context, spans []totals.Span, deep bool, asked func()) ([]DayProof, error) {
	if err := st.NotComparable(); err != nil {
		return nil, err
	}
	b := st.NewBracket(ctx, true)
	b.deep = deep
	for _, sp := range spans {
		if err := b.await(ctx); err != nil {
			return b.Found, err
		}
		err := st.Exclusive(ctx, st.Guard, func(ctx context.Context) error { return b.ask(ctx, b.lane(), sp) })
		if err != nil {
			return b.Found, err
		}
		if asked != nil {
			asked()
		}
	}
	return b.Found, nil
}

// spansCovering returns the fewest ranges that cover the days.
func spansCovering(days []DayProof) []totals.Span {
	places := make([]totals.Span, len(days))
	for i, p := range days {
		places[i] = totals.Span{From: p.Day, To: p.Day, Location: p.Location}
	}
	return totals.Covering(places)
}

// healAll heals the days that differ, day by day, the newest first, and stores what is
// found of each when it is done.
func (st *Proofs) healAll(ctx context.Context, found []DayProof, how settling, v *verdicts) error {
	byDay := map[types.Date][]DayProof{}
	var settled []DayProof
	for _, p := range found {
		if p.Verdict != sinks.VerdictDrift {
			settled = append(settled, p)
		} else if why := how.whyNot(p); why != 0 {
			p.leave(why)
			settled = append(settled, p)
		} else {
			byDay[p.Day] = append(byDay[p.Day], p)
		}
	}
	if err := v.found(ctx, settled); err != nil {
		return err
	}
	if how.differ != nil {
		how.differ(len(byDay))
	}
	var earlier []string
	futile := 0
	for _, day := range newestFirst(byDay) {
		healed := byDay[day]
		if futile >= MaxFailedHeals {
			for i := range healed {
				healed[i].leave(stoppedHeals)
			}
		} else {
			var err error
			if healed, err = st.healDay(ctx, day, healed, earlier); err != nil {
				return errors.Join(err, v.found(ctx, healed))
			}
			earlier = fewIDs(append(earlier, st.beside.Healed[day].IDs...))
			if futile++; !slices.ContainsFunc(healed, DayProof.inVain) {
				futile = 0
			}
		}
		if err := v.found(ctx, healed); err != nil {
			return err
		}
		if how.healed != nil {
			how.healed(slices.ContainsFunc(healed, DayProof.inVain))
		}
	}
	return nil
}

// leave notes why the day is not healed. Only a healing that did not help explains it.
func (p *DayProof) leave(why NotHealed) {
	p.notHealed, p.Reason, p.tried = why, why.String(), why != OnlyCompared
	if p.explained != "" {
		p.Reason += "; if that does not help, it is explained: " + p.explained
	}
}

// inVain is true when the day is a drift after its healing, or the healing was cut short.
func (p DayProof) inVain() bool { return p.cut || p.Verdict == sinks.VerdictDrift }

func newestFirst(byDay map[types.Date][]DayProof) []types.Date {
	var days []types.Date
	for day := range byDay {
		days = append(days, day)
	}
	slices.Sort(days)
	slices.Reverse(days)
	return days
}
