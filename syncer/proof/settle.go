package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/phrase"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/stream"
)

// SettleAfter is when a day that differs is looked at once more. A change shows up to two
// minutes after its stamp (api.md, "Pagination and sync rules" 2), and a turn of the
// incremental walks may lie behind it.
const SettleAfter = list.Lookback + 30*time.Second

// proveRecent is the turn of yesterday and today. The caller holds recent, which is free again
// when they have been asked for. Days that differ while others are being settled are left to the
// next turn, which finds them again.
func (st *Totals) proveRecent(ctx context.Context) error {
	free := sync.OnceFunc(st.recent.Release)
	defer free()
	b, err := st.firstLook(ctx, false, func(ctx context.Context, b *bracket) error {
		defer free()
		return st.Exclusive(ctx, st.Guard, func(ctx context.Context) error {
			asked := st.askRecent(ctx, b.Ask)
			_, stored := st.conclude(ctx, b.Found)
			return errors.Join(asked, stored)
		})
	})
	if !st.Settling.Try() {
		return err
	}
	defer st.Settling.Release()
	_, settled := st.settleTurn(ctx, b.doubtful())
	return errors.Join(err, settled)
}

// firstLook has ask bring days and store what is found of them.
func (st *Totals) firstLook(ctx context.Context, deep bool, ask func(context.Context, *bracket) error) (*bracket, error) {
	b := &bracket{totals: st, silent: true}
	err := st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		if err := errors.Join(st.shared.readFirstDay(ctx, deep), st.readLastDays(ctx)); err != nil {
			return err
		}
		b = st.NewBracket(ctx, deep)
		return ask(ctx, b)
	})
	return b, err
}

// settleTurn settles the days that differed in a turn. The caller holds Settling. It reports whether some of them moved.
func (st *Totals) settleTurn(ctx context.Context, differed []DayProof) (moved bool, err error) {
	err = st.settle(ctx, differed, true, func(found []DayProof, _ int) {
		moved = moved || slices.ContainsFunc(found, func(p DayProof) bool { return p.Verdict == sinks.VerdictUnsettled && !p.Passing })
	})
	if err != nil && ctx.Err() == nil {
		st.Source.Log.Log(ctx, st.Source.LevelOf(err), "days that differ could not be looked at again; the next turn does", "stream", st.Def.Name, "err", err)
	}
	return moved, err
}

// settle looks at days that differed once more, some minutes after that. It heals those that
// differ still when it is asked to, day by day, the newest first. What that did not help owes a
// full resync of the orders, which begins at once. tell is called with each lot of verdicts that
// is durable, and how many days are still to be healed.
func (st *Totals) settle(ctx context.Context, differed []DayProof, heal bool, tell func(found []DayProof, toHeal int)) error {
	if len(differed) == 0 {
		return nil
	}
	if !lifecycle.Pause(ctx, time.Until(newestAsk(differed).Add(st.Source.SettleAfter))) {
		return context.Cause(ctx)
	}
	// What the key may see decides what is compared.
	if err := st.Source.Refresh(ctx); err != nil {
		return err
	}
	found, failed := st.secondLook(ctx, differed)
	byDay := map[types.Date][]DayProof{}
	var settled, left []DayProof
	for _, p := range found {
		switch {
		case !p.differs():
			settled = append(settled, p)
		case heal && !st.wasHealed(p):
			byDay[p.Day] = append(byDay[p.Day], p)
		default:
			left = append(left, p)
		}
	}
	settled, err := st.conclude(ctx, settled)
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	tell(settled, len(byDay))
	healed := false
	for i, day := range newestFirst(byDay) {
		lot, cut := st.healDay(ctx, day, byDay[day])
		left = append(left, slices.DeleteFunc(slices.Clone(lot), func(p DayProof) bool { return !p.differs() })...)
		lot, err := st.conclude(ctx, slices.DeleteFunc(lot, DayProof.differs))
		if err = errors.Join(cut, err); err != nil {
			return err
		}
		healed = healed || len(lot) > 0
		tell(lot, len(byDay)-i-1)
	}
	if healed && len(left) > 0 { // orders of one day may have been refunded on another
		if left, err = st.lookAfter(ctx, left); err != nil {
			return err
		}
	}
	return st.leave(ctx, left, heal, tell)
}

// leave concludes about days that differ, whatever was done, and has the orders walked whole
// where that may help.
func (st *Totals) leave(ctx context.Context, left []DayProof, heal bool, tell func([]DayProof, int)) error {
	for i, p := range left {
		if p.differs() {
			left[i] = st.stillDiffers(p, heal)
		}
	}
	left, err := st.conclude(ctx, left)
	if err != nil {
		return err
	}
	tell(left, 0)
	if heal && slices.ContainsFunc(left, st.owesResync) {
		return st.shared.Orders.Owe(ctx)
	}
	return nil
}

// healDay fetches the orders of a day anew and looks at it again. The error ends the healing of
// the run: it says nothing about the day.
func (st *Totals) healDay(ctx context.Context, day types.Date, differed []DayProof) ([]DayProof, error) {
	ids, requests, err := st.FetchDay(ctx, day)
	for i := range differed {
		differed[i].ids, differed[i].walked = ids, true
		differed[i].requests += requests
	}
	if err == nil {
		differed, err = st.lookAfter(ctx, differed)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil:
		return differed, nil
	case !cutShort(err):
		st.Source.Log.Warn("the orders of a day that differs could not be fetched anew", "day", day, "err", err)
		return differed, nil
	}
	for i := range differed {
		p := &differed[i]
		p.Verdict, p.Reason = sinks.VerdictUnsettled, "it differs, and its healing was cut short, so it is tried again: "+err.Error()
	}
	return differed, err
}

// lookAfter looks at days that differed once more, after orders were fetched anew.
func (st *Totals) lookAfter(ctx context.Context, differed []DayProof) ([]DayProof, error) {
	now, err := st.look(ctx, spansCovering(differed), false)
	if err != nil {
		return differed, err
	}
	for i, was := range differed {
		at := slices.IndexFunc(now, func(p DayProof) bool { return p.key() == was.key() })
		if at < 0 {
			continue // it is not asked for any more
		}
		p := now[at]
		p.ids, p.walked, p.requests = was.ids, was.walked, p.requests+was.requests
		switch {
		case p.Verdict == sinks.VerdictProven:
			p.Verdict, p.differences = sinks.VerdictHealed, was.differences
		case p.differs() && !sameGap(was.differences, p.differences):
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "its difference is another each time it is asked"
		}
		differed[i] = p
	}
	return differed, nil
}

// newestAsk is when, by this machine's steady clock, the last of the days was found to differ.
func newestAsk(differed []DayProof) (at time.Time) {
	for _, p := range differed {
		at = stream.Later(at, p.Found)
	}
	return at
}

// secondLook brackets the days once more. Those that show the same difference again have no
// verdict yet.
func (st *Totals) secondLook(ctx context.Context, differed []DayProof) ([]DayProof, error) {
	first := map[string]DayProof{}
	for _, p := range differed {
		first[p.key()] = p
	}
	again, err := st.look(ctx, spansCovering(differed), false)
	var found []DayProof
	for _, p := range again {
		before, asked := first[p.key()]
		if !asked {
			continue
		}
		p.requests += before.requests
		switch {
		case !p.differs():
		case !sameGap(before.differences, p.differences):
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "its difference is another each time it is asked"
		case st.NotComparable() != nil, st.shared.walkedWhole():
			p.Verdict, p.Passing = sinks.VerdictUnsettled, true
			p.Reason = "it differs, and the orders are being walked whole: it is asked again after that"
		}
		found = append(found, p)
	}
	return found, err
}

// wasHealed reports whether a healing was tried of a day that differs, and did not help.
func (st *Totals) wasHealed(p DayProof) bool {
	old, _ := st.verdictAbout(p)
	return (old.walked || old.resynced) && sameGap(old.differences, p.differences)
}

// OnlyCompared is the reason of a day that differs, and that nobody was asked to heal.
const OnlyCompared = "not healed: it was only compared; larder reconcile --heal heals it, and the daemon at its next turn"

// stillDiffers is the verdict of a day that differs, after its healing or without one. A full
// resync that began after the difference was found did not help.
func (st *Totals) stillDiffers(p DayProof, heal bool) DayProof {
	orders := st.shared.Orders
	old, _ := st.verdictAbout(p)
	same := old.verdict == sinks.VerdictDrift && sameGap(old.differences, p.differences)
	last := orders.LastResync().StartedAt
	p.resynced = same && (old.resynced || !last.IsZero() && !last.Before(old.asked))
	p.walked = p.walked || same && old.walked
	if same && len(p.ids) == 0 {
		p.ids = old.ids
	}
	bad := orders.Writer.Quarantined()
	p.Verdict = sinks.VerdictDrift
	switch {
	case p.resynced && p.explained != "" && len(bad) == 0: // the refunds may be in what was not understood
		p.Verdict, p.Reason = sinks.VerdictExplained, p.explained
	case p.resynced && len(bad) > 0:
		p.Reason = fmt.Sprintf("a full resync of the orders did not help; %s in quarantine: %s", phrase.Plural(len(bad), "order")+phrase.Verb(len(bad), " is", " are"), strings.Join(phrase.Few(bad), ", "))
	case p.resynced:
		p.Reason = "all orders were fetched anew, and they add up to other figures than the service reports"
	case !heal:
		p.Reason = OnlyCompared
	case p.Day < st.shared.today():
		p.Reason = "fetching its orders anew did not help: the orders owe a full resync, which larder run makes at once, or larder sync --full"
	default:
		p.Reason = "fetching its orders anew did not help: the orders are walked whole when the day is over"
	}
	if p.explained != "" && p.Verdict == sinks.VerdictDrift && !p.resynced {
		p.Reason += "; if that does not help, it is explained: " + p.explained
	}
	return p
}

// owesResync reports whether a full resync may help a day that differs. A day that is not over
// waits until it is: its figures go on, and each of them would owe another resync.
func (st *Totals) owesResync(p DayProof) bool {
	return p.Verdict == sinks.VerdictDrift && !p.resynced && p.Day < st.shared.today()
}

// walkedWhole reports whether a full resync of the orders is under way, or owed.
func (d *Shared) walkedWhole() bool { return d.Orders.ResyncVersion() != 0 || d.Orders.Indebted() }

func newestFirst(byDay map[types.Date][]DayProof) []types.Date {
	var days []types.Date
	for day := range byDay {
		days = append(days, day)
	}
	slices.Sort(days)
	slices.Reverse(days)
	return days
}

// cutShort reports whether an error says nothing about the day that was to be healed.
func cutShort(err error) bool { return api.IsTemporary(err) || errors.Is(err, ErrIncomparable) }
