package proof

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/larder-sync/larder/sinks"
)

// proveRecent is the turn of yesterday and today. The caller holds recent, which is free again
// when they have been asked for. Days that differ while others are being settled are left to the
// next turn, which finds them again.
func (st *Totals) proveRecent(ctx context.Context) error {
	free := sync.OnceFunc(st.recent.Release)
	defer free()
	b, err := st.firstLook(ctx, false, func(ctx context.Context, b *bracket) error {
		defer free()
		return st.Guard.Run(ctx, func(ctx context.Context) error {
			asked := st.askRecent(ctx, b.ask)
			_, stored := st.verdicts.conclude(ctx, b.found)
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
	b := &bracket{totals: st, broken: st.shared.notComparable()}
	err := st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		if err := st.shared.readFirstDay(ctx, deep); err != nil {
			return err
		}
		unsettled, err := st.verdicts.restoreLastDays(ctx)
		if err != nil {
			return err
		}
		if unsettled {
			st.deep.repeatNow()
		}
		b = st.newBracket(ctx, deep)
		return ask(ctx, b)
	})
	return b, err
}

// settleTurn settles the days that differed in a turn. The caller holds Settling. It reports
// whether some of them moved that the next turn does not ask for.
func (st *Totals) settleTurn(ctx context.Context, differed []dayProof) (moved bool, err error) {
	r := recheck{totals: st, fetch: true, heal: true, report: func(found []dayProof, _ int) {
		moved = moved || slices.ContainsFunc(found, func(p dayProof) bool {
			return p.Verdict == sinks.VerdictUnsettled && !p.passing && !st.shared.isRecent(p.Day)
		})
	}}
	if _, err = r.run(ctx, differed); err != nil && ctx.Err() == nil {
		st.Source.Log.Log(ctx, st.Source.LevelOf(err), "days that differ could not be looked at again; a later turn does", "stream", st.Def.Name, "err", err)
	}
	return moved, err
}
