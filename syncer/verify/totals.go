package verify

import (
	"context"
	"slices"

	"github.com/larder-sync/larder/syncer/proof"
)

// totalsKind verifies a stream of the service's own totals: the days that were asked for are
// asked for again, in the longest ranges that the service answers.
type totalsKind struct {
	*verification
	totals *proof.Totals
	asked  []proof.Span
	// unclear are days with a line that cannot be told apart, by [proof.DayKey]: they keep the lines they had.
	unclear map[string]bool
}

// notAsked reports whether a row is of other locations and days than are asked for, or of one that is unclear.
func (k *totalsKind) notAsked(id string) bool {
	day, location := proof.LocationOf(k.stream.Def, id)
	return k.unclear[proof.DayKey(day, location)] || !slices.ContainsFunc(k.asked, func(sp proof.Span) bool {
		return sp.Location == location && sp.Covers(day)
	})
}

func (k *totalsKind) all(ctx context.Context, take func(map[string]answer) error) error {
	return k.spans(ctx, k.asked, take)
}

// spans asks for spans. Lines of other days than were asked for are in quarantine, and days without
// anything need not be stored.
func (k *totalsKind) spans(ctx context.Context, spans []proof.Span, take func(map[string]answer) error) error {
	st := k.totals
	for _, sp := range spans {
		if st.NotAskedFor(sp.Location) {
			continue
		}
		r, err := st.AskReport(ctx, st.Source.Lanes.Backfill, sp)
		if err != nil {
			return err
		}
		wanted := slices.Contains(st.Asked(), sp.Location)
		answers := map[string]answer{}
		for i, row := range proof.PlaceRows(r.Rows, k.stream.Def.LinesMayVanish) {
			if !sp.Covers(row.Date) || row.Unplaced {
				k.unclear[proof.DayKey(row.Date, sp.Location)] = true
				continue
			}
			id := proof.LineID(st.Def, row, sp.Location)
			answers[id] = answer{
				id: id, raw: r.Rows[i], context: st.Def.Columns(sp.Location),
				optional: !wanted || !st.Def.LinesMayVanish && row.Empty(),
			}
		}
		k.took(len(answers))
		if err := take(answers); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for the days of the suspects anew.
func (k *totalsKind) ask(ctx context.Context, all []*suspect) (map[string]answer, error) {
	answers, days := map[string]answer{}, []proof.Span{}
	for _, s := range all {
		day, location := proof.LocationOf(k.stream.Def, s.id)
		days = append(days, proof.Span{From: day, To: day, Location: location})
		answers[s.id] = answer{elsewhere: k.totals.NotAskedFor(location)}
	}
	return answers, k.spans(ctx, proof.Covering(days), keep(answers, all))
}
