package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
)

// SettleAfter is when a day that differs is looked at once more. A change shows up to two
// minutes after its stamp (docs/openapi.yaml, Lists with a cursor), and a turn of the
// incremental walks may lie behind it.
const SettleAfter = list.Lookback + 30*time.Second

// maxFailedDays days in a row that fetching their orders did not help end that: they have one cause,
// and all orders are walked for it.
const maxFailedDays = 5

// settle looks at days of a stream some minutes after they differed, and heals those that differ still.
// It returns those that differ all the same, whose verdicts are stored. The caller holds Settling.
func (r *run) settle(ctx context.Context, st *Totals, differed []dayProof, fetch bool) ([]dayProof, error) {
	defer r.change(func(so *SourceReport) { so.ToHeal, so.HealedDays = 0, 0 })
	left, again, err := r.once(ctx, st, differed, fetch)
	if ctx.Err() == nil && len(again) > 0 {
		more, _, failed := r.once(ctx, st, again, false)
		left, err = append(left, more...), errors.Join(err, failed)
	}
	left, stored := r.conclude(ctx, st, left)
	return left, errors.Join(err, stored)
}

// settleTurn is settle in a turn, which has nobody who reads what it returns.
func (r *run) settleTurn(ctx context.Context, st *Totals, differed []dayProof) error {
	_, err := r.settle(ctx, st, differed, true)
	if err != nil && ctx.Err() == nil {
		st.Source.Log.Log(ctx, st.Source.LevelOf(err), "days that differ could not be looked at again; a later turn does", "stream", st.Def.Name, "err", err)
	}
	return err
}

// once returns the days that differ still, and those that are to be compared once more, since what
// was fetched has changed what they differ in, or may have.
func (r *run) once(ctx context.Context, st *Totals, differed []dayProof, fetch bool) (left, again []dayProof, err error) {
	healing := &st.shared.healing
	if !lifecycle.Pause(ctx, time.Until(newestAsk(differed).Add(st.Source.SettleAfter))) {
		return nil, nil, context.Cause(ctx)
	}
	if err := healing.Take(ctx); err != nil {
		return nil, nil, err
	}
	defer healing.Release()
	// What the key may see decides what is compared.
	if err := st.Source.Refresh(ctx); err != nil {
		return nil, nil, err
	}
	maps.DeleteFunc(healing.days, func(_ types.Date, f fetched) bool { return time.Since(f.at) > 24*time.Hour })
	found, failed := secondLook(ctx, st, differed)
	left, settled := apart(found, dayProof.differs)
	byDay := map[types.Date][]dayProof{}
	if fetch {
		var toFetch []dayProof
		left, toFetch = apart(left, func(p dayProof) bool { return p.gap.fetched })
		for _, p := range toFetch {
			byDay[p.Day] = append(byDay[p.Day], p)
		}
	}
	settled, err = st.verdicts.conclude(ctx, settled)
	if err = errors.Join(failed, err); ctx.Err() != nil {
		return left, nil, err
	}
	r.healed(st, settled, len(byDay))
	still, again, stopped := r.healDays(ctx, st, byDay)
	return append(left, still...), again, errors.Join(err, stopped)
}

// apart returns the days for which is holds, and the others.
func apart(days []dayProof, is func(dayProof) bool) (those, others []dayProof) {
	for _, p := range days {
		if is(p) {
			those = append(those, p)
		} else {
			others = append(others, p)
		}
	}
	return those, others
}

// healDays fetches the orders of days anew, the oldest first: an order is refunded on its day or a later
// one. A day whose orders cannot be fetched, or that cannot be compared after that, holds up no other. It
// returns the days that differ still, and those to compare once more: what they differ in has changed. The
// error joins what failed in comparing.
func (r *run) healDays(ctx context.Context, st *Totals, byDay map[types.Date][]dayProof) (left, again []dayProof, err error) {
	failed := 0
	for n, day := range slices.Sorted(maps.Keys(byDay)) {
		lot := byDay[day]
		if failed < maxFailedDays {
			now, failure := healDay(ctx, st, day, lot)
			if ctx.Err() != nil {
				return left, again, context.Cause(ctx)
			}
			lot, err = now, errors.Join(err, failure)
		}
		differ, settled := apart(lot, dayProof.differs)
		same, other := apart(differ, func(p dayProof) bool { return p.same })
		left, again = append(left, same...), append(again, other...)
		switch {
		case len(other) > 0 || slices.ContainsFunc(settled, func(p dayProof) bool { return isGood(p.Verdict) }):
			failed = 0
		case slices.ContainsFunc(same, func(p dayProof) bool { return !p.isExplained(st.shared.Orders) }):
			failed++
		}
		settled, stored := st.verdicts.conclude(ctx, settled)
		if stored != nil {
			return left, again, errors.Join(err, stored)
		}
		r.healed(st, settled, len(byDay)-n-1)
	}
	return left, again, err
}

// healDay fetches the orders of a day anew, unless the other stream has since the day was found,
// and looks at it again. What was known of the day is kept where it could not be compared: the error
// is about that.
func healDay(ctx context.Context, st *Totals, day types.Date, differed []dayProof) ([]dayProof, error) {
	healing := &st.shared.healing
	var removed []string
	var first time.Time
	for _, p := range differed {
		removed, first = append(removed, p.removed...), stream.Later(first, p.first)
	}
	removed = slices.Compact(slices.Sorted(slices.Values(removed)))
	if len(removed) == 0 && healing.days[day].at.After(first) {
		now := slices.Clone(differed)
		for i := range now { // the second look was after that
			now[i].gap.fetched, now[i].ids = true, healing.wrong(day, first)
		}
		return now, nil
	}
	f, err := st.shared.FetchDay(ctx, day, removed)
	if err != nil {
		st.Source.Log.Warn("the orders of a day that differs could not be fetched anew", "day", day, "err", err)
		return differed, nil
	}
	healing.days[day] = f
	ids := healing.wrong(day, first)
	now, err := lookAfter(ctx, st, differed)
	for i := range now {
		if p := &now[i]; p.requests > differed[i].requests { // it was compared
			p.requests += f.requests
			p.gap.fetched, p.ids, p.asked = true, ids, f.asked
		}
	}
	return now, err
}

// lookAfter looks at days that differed, after orders were fetched anew. What was known of a day
// is kept where it could not be compared: the error is about that.
func lookAfter(ctx context.Context, st *Totals, differed []dayProof) ([]dayProof, error) {
	found, err := compare(ctx, st, differed)
	now := slices.Clone(differed)
	for i, was := range differed {
		p, asked := found[was.key()]
		switch {
		case !asked: // any more, or the error came before
		case p.passing && err == nil:
			err = fmt.Errorf("%w: %s", errIncomparable, p.Reason)
		case !p.passing:
			if now[i] = p.after(was); now[i].Verdict == sinks.VerdictProven {
				now[i].Verdict, now[i].differences = sinks.VerdictHealed, was.differences
			}
		}
	}
	return now, err
}

// after takes over what an earlier look at the day has found.
func (p dayProof) after(was dayProof) dayProof {
	p.requests += was.requests
	p.ids, p.asked, p.first = was.ids, was.asked, was.first
	if p.same = p.gap.hash == was.gap.hash; p.same {
		p.gap = was.gap
	}
	return p
}

// conclude stores the verdicts about days that differ, whatever was done, and has the orders walked
// whole where that may help.
func (r *run) conclude(ctx context.Context, st *Totals, left []dayProof) ([]dayProof, error) {
	if ctx.Err() != nil { // some were not tried
		return left, context.Cause(ctx)
	}
	orders := st.shared.Orders
	for i, p := range left {
		left[i] = st.shared.stillDiffers(p, r.heal)
	}
	left, err := st.verdicts.conclude(ctx, left)
	mayHelp := func(p dayProof) bool { return p.Verdict == sinks.VerdictDrift && !p.gap.resynced }
	if err == nil && r.heal && orders.Held() == nil && slices.ContainsFunc(left, mayHelp) {
		err = orders.Owe(ctx)
	}
	return left, err
}

// newestAsk is when, by this machine's steady clock, the last of the days was found to differ.
func newestAsk(differed []dayProof) (at time.Time) {
	for _, p := range differed {
		at = stream.Later(at, p.found)
	}
	return at
}

// secondLook brackets the days once more. Those that show the same difference again have no
// verdict yet. The caller holds healing.
func secondLook(ctx context.Context, st *Totals, differed []dayProof) ([]dayProof, error) {
	healing := &st.shared.healing
	again, err := compare(ctx, st, differed)
	var found []dayProof
	for _, was := range differed {
		p, asked := again[was.key()]
		if !asked {
			continue
		}
		p = p.after(was)
		switch {
		case p.Verdict == sinks.VerdictProven && healing.days[p.Day].at.After(p.first):
			p.Verdict, p.differences, p.ids = sinks.VerdictHealed, was.differences, healing.wrong(p.Day, p.first)
		case p.differs() && !p.same:
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "its difference is another each time it is asked"
		}
		found = append(found, p)
	}
	return found, err
}

// The reasons of days that differ.
const (
	onlyCompared = "not healed: it was only compared; larder reconcile --heal heals it, and the daemon at its next turn"
	underWay     = "it differs, and the orders are being walked whole: it is compared again after that"
	notHelped    = "all orders were fetched anew, and they add up to other figures than the service reports"
	sweepIsHeld  = "the orders were fetched anew, and the sweep of what was not among them waits for a person: larder sync --full --confirm-sweep"
	fetchedOnly  = "fetching its orders anew did not help: the orders owe a full resync, at most one a day, which larder run makes, or larder sync --full"
	notFetched   = "its orders could not be fetched anew, or those of the days before it did not help: the orders owe a full resync, at most one a day, which larder run makes, or larder sync --full"
)

// stillDiffers is the verdict of a day that differs, after its healing or without one. A full
// resync that began after the day was found to differ, and came to its end, did not help; one
// whose sweep is held is not at its end. It explains refunds if it began after these were found.
func (d *Shared) stillDiffers(p dayProof, heal bool) dayProof {
	orders := d.Orders
	held, last := orders.Held() != nil, orders.LastResync()
	if p.explained != "" { // other refunds than before may have another explanation
		p.gap.resynced, p.gap.since = false, p.gap.found
	}
	p.gap.resynced = p.gap.resynced || last > p.gap.since && !held
	bad := d.inQuarantine(p.Day)
	p.Verdict = sinks.VerdictDrift
	switch {
	case p.explained != "" && len(bad) == 0 && (p.gap.resynced || p.isExplained(orders)): // else the refunds may be in what was not understood
		p.Verdict, p.Reason = sinks.VerdictExplained, p.explained
		return p
	case d.notComparable() != nil, orders.Resyncing():
		p.Verdict, p.passing, p.Reason = sinks.VerdictUnsettled, true, underWay
	case p.gap.resynced && len(bad) > 0:
		p.Reason = fmt.Sprintf("a full resync of the orders did not help; %s in quarantine: %s", text.Plural(len(bad), "order")+text.Verb(len(bad), " is", " are"), strings.Join(text.Few(bad), ", "))
	case p.gap.resynced:
		p.Reason = notHelped
	case held:
		p.Reason = sweepIsHeld
	case !heal:
		p.Reason = onlyCompared
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
		if updated.IsZero() || schedule.DayOf(updated.Add(list.Lookback)) >= day { // a stamp may be two minutes early
			ids = append(ids, strings.TrimPrefix(key, "\x00"))
		}
	}
	slices.Sort(ids)
	return ids
}

// isExplained reports whether the difference is the refunds of removed orders, each of which the
// service was asked for, and no order of the day was not understood.
func (p dayProof) isExplained(orders *list.List) bool {
	missing := func(id string) bool { return !slices.Contains(p.asked, id) }
	return len(p.removed) > 0 && !slices.ContainsFunc(p.removed, missing) && !slices.ContainsFunc(p.ids, orders.Writer.MaybeQuarantined)
}
