package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
)

// verdicts stores what is found of days, one lot after the other: while one becomes
// durable the next day is healed.
type verdicts struct {
	totals  *Proofs
	how     settling
	all     []DayProof
	handed  []DayProof
	receipt *sinks.Receipt // of what was handed; nil: nothing of it was news
}

func (st *Proofs) verdictsFor(how settling) *verdicts { return &verdicts{totals: st, how: how} }

// found hands verdicts to the sink.
func (v *verdicts) found(ctx context.Context, found []DayProof) error {
	if err := v.end(ctx); err != nil {
		return err
	}
	v.all = append(v.all, found...)
	v.handed = v.totals.unhealed(found)
	var err error
	v.receipt, err = v.totals.record.hand(ctx, v.handed)
	return err
}

// end waits until what was handed is durable.
func (v *verdicts) end(ctx context.Context) error {
	handed := v.handed
	v.handed = nil
	if len(handed) == 0 {
		return nil
	}
	if err := v.totals.record.handed(ctx, v.receipt, handed); err != nil {
		return err
	}
	if v.how.stored != nil {
		v.how.stored(slices.DeleteFunc(handed, DayProof.suspect))
	}
	return nil
}

// warn logs which days differ, when that is found: a day once, unless it
// differs otherwise than before.
func (st *Proofs) warn(found []DayProof) {
	byDay := map[types.Date][]DayProof{}
	st.mu.Lock()
	news := map[types.Date]bool{}
	for _, p := range found {
		if p.Verdict != sinks.VerdictDrift || p.explained != "" {
			continue
		}
		byDay[p.Day] = append(byDay[p.Day], p)
		sum := gapSum(st.record.seed, p.differences)
		news[p.Day] = news[p.Day] || st.record.logged[p.key()] != sum
		st.record.logged[p.key()] = sum
	}
	st.mu.Unlock()
	for _, day := range newestFirst(byDay) {
		if !news[day] {
			continue
		}
		var places []string
		for _, p := range byDay[day] {
			places = append(places, cmp.Or(p.Location, "all"))
		}
		st.Source.Log.Warn("a day differs from what the service reports", "stream", st.Def.Name, "day", day, "locations", places, "differences", shown(byDay[day][0].differences))
	}
}

// gapSum hashes the differences of a day.
func gapSum(seed maphash.Seed, all []sinks.Difference) uint64 {
	return maphash.String(seed, fmt.Sprint(gaps(all)))
}

// report logs the outcome of days that differed.
func (st *Proofs) report(found []DayProof) {
	for _, p := range found {
		log := st.Source.Log.With("stream", st.Def.Name, "day", p.Day, "location", p.Location)
		switch p.Verdict {
		case sinks.VerdictDrift:
			log.Error("a day differs still from what the service reports", "differences", shown(p.differences), "orders", text.Few(p.ids), "reason", p.Reason,
				"next", "docs/operations.md, \"A day differs\"")
		case sinks.VerdictExplained:
			log.Info("a day differs by what the API leaves open, and counts as proven", "differences", shown(p.differences), "reason", p.Reason)
		case sinks.VerdictHealed:
			log.Info("a day that differed is healed", "differences", shown(p.differences), "orders", text.Few(p.ids), "requests", p.requests)
		}
	}
}

// shown are differences in words, the first few of them.
func shown(all []sinks.Difference) []string {
	const most = 5
	var texts []string
	for i, d := range all {
		if i == most {
			return append(texts, "…")
		}
		texts = append(texts, d.Figure+": service "+d.Service+", mirror "+d.Mirror)
	}
	return texts
}
