package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/stream"
)

// SettleAfter is when a day that differs is looked at once more. A change shows up to two
// minutes after its stamp (api.md, "Pagination and sync rules" 2), and a turn of the
// incremental walks may lie behind it.
const SettleAfter = list.Lookback + 30*time.Second

// maxFailedDays days in a row that fetching their orders did not help end that: they have one cause,
// and all orders are walked for it.
const maxFailedDays = 5

// proveRecent is the turn of yesterday and today. The caller holds recent, which is free again
// when they have been asked for. Days that differ while others are being settled are left to the
// next turn, which finds them again.
func (st *Totals) proveRecent(ctx context.Context) error {
	free := sync.OnceFunc(st.recent.Release)
	defer free()
	b, err := st.firstLook(ctx, false, func(ctx context.Context, b *bracket) error {
		defer free()
		return st.Guard.Run(ctx, func(ctx context.Context) error {
			asked := st.askRecent(ctx, b.Ask)
			_, stored := st.conclude(ctx, b.Found)
			return errors.Join(asked, stored)
		})
	})
	differed := b.doubtful()
	if len(differed) == 0 || !st.Settling.Try() {
		return err
	}
	defer st.Settling.Release()
	_, settled := st.settleTurn(ctx, differed)
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

// settleTurn settles the days that differed in a turn. The caller holds Settling. It reports
// whether some of them moved that the next turn does not ask for.
func (st *Totals) settleTurn(ctx context.Context, differed []DayProof) (moved bool, err error) {
	left, err := st.settle(ctx, differed, true, func(found []DayProof, _ int) {
		moved = moved || slices.ContainsFunc(found, func(p DayProof) bool {
			return p.Verdict == sinks.VerdictUnsettled && !p.Passing && !st.isRecent(p.Day)
		})
	})
	_, stored := st.leave(ctx, left, true)
	if err = errors.Join(err, stored); err != nil && ctx.Err() == nil {
		st.Source.Log.Log(ctx, st.Source.LevelOf(err), "days that differ could not be looked at again; a later turn does", "stream", st.Def.Name, "err", err)
	}
	return moved, err
}

// settle looks at days that differed once more, some minutes after that. Where it is to heal, it
// fetches the orders of those that differ still anew, day by day, the newest first. It returns the
// days that differ all the same. report is called with each lot of other verdicts that is durable,
// and how many days are still to be healed.
func (st *Totals) settle(ctx context.Context, differed []DayProof, heal bool, report func(found []DayProof, toHeal int)) (left []DayProof, err error) {
	left, again, err := st.settleOnce(ctx, differed, heal, report)
	if ctx.Err() != nil || len(again) == 0 {
		return left, err
	}
	more, _, failed := st.settleOnce(ctx, again, false, report)
	return append(left, more...), errors.Join(err, failed)
}

// settleOnce returns the days that differ still, and those that are to be compared once more,
// since what was fetched has changed what they differ in, or may have.
func (st *Totals) settleOnce(ctx context.Context, differed []DayProof, heal bool, report func([]DayProof, int)) (left, again []DayProof, err error) {
	if len(differed) == 0 {
		return nil, nil, nil
	}
	if !lifecycle.Pause(ctx, time.Until(newestAsk(differed).Add(st.Source.SettleAfter))) {
		return nil, nil, context.Cause(ctx)
	}
	if err := st.shared.healing.Take(ctx); err != nil {
		return nil, nil, err
	}
	defer st.shared.healing.Release()
	// What the key may see decides what is compared.
	if err := st.Source.Refresh(ctx); err != nil {
		return nil, nil, err
	}
	maps.DeleteFunc(st.shared.fetched, func(_ types.Date, f fetched) bool { return time.Since(f.at) > 24*time.Hour })
	found, failed := st.secondLook(ctx, differed)
	settled, left := split(found)
	byDay := map[types.Date][]DayProof{}
	if heal {
		left = slices.DeleteFunc(left, func(p DayProof) bool {
			if !p.gap.fetched {
				byDay[p.Day] = append(byDay[p.Day], p)
			}
			return !p.gap.fetched
		})
	}
	settled, err = st.conclude(ctx, settled)
	if err = errors.Join(failed, err); ctx.Err() != nil {
		return left, nil, err
	}
	report(settled, len(byDay))
	still, again, stopped := st.healDays(ctx, byDay, report)
	return append(left, still...), again, errors.Join(err, stopped)
}

// split returns the days that have a verdict, and those that differ.
func split(found []DayProof) (settled, differ []DayProof) {
	differ, settled = apart(found, DayProof.differs)
	return settled, differ
}

// apart returns the days for which is holds, and the others.
func apart(days []DayProof, is func(DayProof) bool) (those, others []DayProof) {
	for _, p := range days {
		if is(p) {
			those = append(those, p)
		} else {
			others = append(others, p)
		}
	}
	return those, others
}

// healDays fetches the orders of days anew. A day whose orders cannot be fetched, or that cannot be
// compared after that, holds up no other. It returns the days that differ still, and those to compare
// once more: what they differ in has changed, or another day was healed, whose orders may have been
// refunded on theirs. The error joins what failed in comparing.
func (st *Totals) healDays(ctx context.Context, byDay map[types.Date][]DayProof, report func([]DayProof, int)) (left, again []DayProof, err error) {
	healed, failed := false, 0
	for i, day := range newestFirst(byDay) {
		lot := byDay[day]
		if failed < maxFailedDays {
			now, failure := st.healDay(ctx, day, lot)
			if ctx.Err() != nil {
				return left, again, context.Cause(ctx)
			}
			lot, err = now, errors.Join(err, failure)
		}
		settled, differ := split(lot)
		was := byDay[day]
		same, other := apart(differ, func(p DayProof) bool {
			return slices.ContainsFunc(was, func(was DayProof) bool { return was.key() == p.key() && was.gap.hash == p.gap.hash })
		})
		left, again = append(left, same...), append(again, other...)
		healed = healed || len(settled)+len(other) > 0
		switch {
		case len(other) > 0 || slices.ContainsFunc(settled, DayProof.isRight):
			failed = 0
		case slices.ContainsFunc(same, func(p DayProof) bool { return !p.isExplained(st.shared.Orders) }):
			failed++
		}
		settled, stored := st.conclude(ctx, settled)
		if stored != nil {
			return left, again, errors.Join(err, stored)
		}
		report(settled, len(byDay)-i-1)
	}
	if healed {
		again, left = append(again, left...), nil
	}
	return left, again, err
}

// healDay fetches the orders of a day anew, unless the other stream has since the day was found,
// and looks at it again. What was known of the day stays where nobody could compare it: the error is
// about that.
func (st *Totals) healDay(ctx context.Context, day types.Date, differed []DayProof) ([]DayProof, error) {
	var removed []string
	var first time.Time
	for _, p := range differed {
		removed, first = append(removed, p.removed...), stream.Later(first, p.first)
	}
	removed = slices.Compact(slices.Sorted(slices.Values(removed)))
	if len(removed) == 0 && st.shared.fetched[day].at.After(first) {
		now := slices.Clone(differed)
		for i := range now { // the second look was after that
			now[i].gap.fetched, now[i].ids = true, st.shared.wrong(day, first)
		}
		return now, nil
	}
	ids, asked, requests, err := st.FetchDay(ctx, day, removed)
	if err != nil {
		st.Source.Log.Warn("the orders of a day that differs could not be fetched anew", "day", day, "err", err)
		return differed, nil
	}
	st.shared.fetched[day] = fetched{time.Now(), ids}
	ids = st.shared.wrong(day, first)
	now, err := st.lookAfter(ctx, differed)
	for i := range now {
		if p := &now[i]; p.requests > differed[i].requests { // it was compared
			p.requests += requests
			p.gap.fetched, p.ids, p.asked = true, ids, asked
		}
	}
	return now, err
}

// lookAfter looks at days that differed, after orders were fetched anew. What was known of a day
// stays where it could not be compared: the error is about that.
func (st *Totals) lookAfter(ctx context.Context, differed []DayProof) ([]DayProof, error) {
	found, err := st.look(ctx, spansCovering(differed), false)
	now := slices.Clone(differed)
	for i, was := range differed {
		at := slices.IndexFunc(found, func(p DayProof) bool { return p.key() == was.key() })
		switch {
		case at < 0: // it is not asked for any more, or the error came before
		case found[at].Passing && err == nil:
			err = fmt.Errorf("%w: %s", ErrIncomparable, found[at].Reason)
		case !found[at].Passing:
			if now[i] = found[at].after(was); now[i].Verdict == sinks.VerdictProven {
				now[i].Verdict, now[i].differences = sinks.VerdictHealed, was.differences
			}
		}
	}
	return now, err
}

// after takes over what an earlier look at the day has found.
func (p DayProof) after(was DayProof) DayProof {
	p.requests += was.requests
	p.ids, p.asked, p.first = was.ids, was.asked, was.first
	if p.first.IsZero() {
		p.first = was.Found
	}
	if p.gap.hash == was.gap.hash {
		p.gap = was.gap
	}
	return p
}

// leave concludes about days that differ, whatever was done, and has the orders walked whole
// where that may help.
func (st *Totals) leave(ctx context.Context, left []DayProof, heal bool) ([]DayProof, error) {
	if ctx.Err() != nil { // some were not tried
		return left, context.Cause(ctx)
	}
	for i, p := range left {
		left[i] = st.stillDiffers(p, heal)
	}
	left, err := st.conclude(ctx, left)
	if err == nil && heal && slices.ContainsFunc(left, st.owesResync) {
		err = st.shared.Orders.Owe(ctx)
	}
	return left, err
}

// newestAsk is when, by this machine's steady clock, the last of the days was found to differ.
func newestAsk(differed []DayProof) (at time.Time) {
	for _, p := range differed {
		at = stream.Later(at, p.Found)
	}
	return at
}

// secondLook brackets the days once more. Those that show the same difference again have no
// verdict yet. The caller holds healing.
func (st *Totals) secondLook(ctx context.Context, differed []DayProof) ([]DayProof, error) {
	before := map[string]DayProof{}
	for _, p := range differed {
		before[p.key()] = p
	}
	again, err := st.look(ctx, spansCovering(differed), false)
	var found []DayProof
	for _, p := range again {
		was, asked := before[p.key()]
		if !asked {
			continue
		}
		same := p.gap.hash == was.gap.hash
		p = p.after(was)
		switch {
		case p.Verdict == sinks.VerdictProven && st.shared.fetched[p.Day].at.After(p.first):
			p.Verdict, p.differences, p.ids = sinks.VerdictHealed, was.differences, st.shared.wrong(p.Day, p.first)
		case p.differs() && !same:
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "its difference is another each time it is asked"
		}
		found = append(found, p)
	}
	return found, err
}

// OnlyCompared is the reason of a day that differs, and that nobody was asked to heal.
const OnlyCompared = "not healed: it was only compared; larder reconcile --heal heals it, and the daemon at its next turn"

// The other reasons of days that differ.
const (
	underWay    = "it differs, and the orders are being walked whole: it is compared again after that"
	notHelped   = "all orders were fetched anew, and they add up to other figures than the service reports"
	sweepIsHeld = "the orders were fetched anew, and the sweep of what was not among them waits for a person: larder sync --full --confirm-sweep"
	fetchedOnly = "fetching its orders anew did not help: the orders owe a full resync, at most one a day, which larder run makes, or larder sync --full"
	notFetched  = "its orders could not be fetched anew, or those of the days before it did not help: the orders owe a full resync, at most one a day, which larder run makes, or larder sync --full"
)

// stillDiffers is the verdict of a day that differs, after its healing or without one. A full
// resync that began after the day was found to differ, and came to its end, did not help; one
// whose sweep is held is not at its end. It explains refunds if it began after these were found.
func (st *Totals) stillDiffers(p DayProof, heal bool) DayProof {
	orders := st.shared.Orders
	held, last := orders.Held() != nil, orders.LastResync()
	if p.explained != "" { // other refunds than before may have another explanation
		p.gap.resynced, p.gap.since = false, p.gap.found
	}
	p.gap.resynced = p.gap.resynced || last > p.gap.since && !held
	bad := st.shared.inQuarantine(p.Day)
	p.Verdict = sinks.VerdictDrift
	switch {
	case p.explained != "" && len(bad) == 0 && (p.gap.resynced || p.isExplained(orders)): // else the refunds may be in what was not understood
		p.Verdict, p.Reason = sinks.VerdictExplained, p.explained
		return p
	case st.NotComparable() != nil, st.shared.walkedWhole():
		p.Verdict, p.Passing, p.Reason = sinks.VerdictUnsettled, true, underWay
	case p.gap.resynced && len(bad) > 0:
		p.Reason = fmt.Sprintf("a full resync of the orders did not help; %s in quarantine: %s", text.Plural(len(bad), "order")+text.Verb(len(bad), " is", " are"), strings.Join(text.Few(bad), ", "))
	case p.gap.resynced:
		p.Reason = notHelped
	case held:
		p.Reason = sweepIsHeld
	case !heal:
		p.Reason = OnlyCompared
	case p.gap.fetched:
		p.Reason = fetchedOnly
	default:
		p.Reason = notFetched
	}
	if p.explained != "" && p.Verdict == sinks.VerdictDrift && !p.gap.resynced {
		p.Reason += "; if that does not help, it is explained: " + p.explained
	}
	return p
}

// inQuarantine returns the orders in quarantine that may count on a day, or have refunds of it: those
// that have changed since.
func (d *Shared) inQuarantine(day types.Date) (ids []string) {
	for key, updated := range d.Orders.Writer.Quarantined() {
		if updated.IsZero() || calendar.DayOf(updated.Add(list.Lookback)) >= day { // a stamp may be two minutes early
			ids = append(ids, strings.TrimPrefix(key, "\x00"))
		}
	}
	slices.Sort(ids)
	return ids
}

// isExplained reports whether the difference is the refunds of removed orders, each of which the
// service was asked for, and no order of the day was not understood.
func (p DayProof) isExplained(orders *list.List) bool {
	missing := func(id string) bool { return !slices.Contains(p.asked, id) }
	return len(p.removed) > 0 && !slices.ContainsFunc(p.removed, missing) && !slices.ContainsFunc(p.ids, orders.Writer.MaybeQuarantined)
}

// owesResync reports whether a full resync may help a day that differs.
func (st *Totals) owesResync(p DayProof) bool {
	return p.Verdict == sinks.VerdictDrift && !p.gap.resynced && st.shared.Orders.Held() == nil
}

// walkedWhole reports whether a full resync of the orders is under way, or owed.
func (d *Shared) walkedWhole() bool { return d.Orders.Resyncing() }

func newestFirst(byDay map[types.Date][]DayProof) []types.Date {
	days := slices.Sorted(maps.Keys(byDay))
	slices.Reverse(days)
	return days
}
