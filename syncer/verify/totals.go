package verify

import (
	"context"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/proof"
)

// totalsKind verifies a stream of the service's own totals: the days that were asked for are
// asked for again, in the longest ranges that the service answers.
type totalsKind struct {
	*verification
	totals *proof.Totals
}

func (k *totalsKind) compare(ctx context.Context) (rows uint64, err error) {
	spans, err := k.totals.TotalSpans(ctx)
	if err != nil {
		return 0, err
	}
	for _, sp := range spans {
		n, err := k.compareSpan(ctx, sp)
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// compareSpan compares the lines of one range of days. A day with a line that cannot be told
// apart keeps the lines it had.
func (k *totalsKind) compareSpan(ctx context.Context, sp proof.Span) (rows uint64, err error) {
	if k.totals.NotAskedFor(sp.Location) {
		return 0, nil
	}
	lines, err := k.askSpan(ctx, sp)
	if err != nil {
		return 0, err
	}
	k.took(len(lines.answers), 0)
	at := func(day types.Date) proof.Span { return proof.Span{From: day, To: day, Location: sp.Location} }
	if err := k.compareRows(ctx, lines.answers, func(id string) proof.Span { return at(lines.days[id]) }); err != nil {
		return 0, err
	}
	for _, month := range months(sp) { // ids begin with their day
		err := k.totals.EachLive(ctx, month, k.pass.limits.Page, func(id string) {
			day, location := k.totals.LocationOf(id)
			_, shown := lines.answers[id]
			if !shown && location == sp.Location && sp.Covers(day) && !lines.unplaced[day] {
				k.suspect(id, at(day))
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return uint64(len(lines.answers)), nil
}

// months are the months of a span, as "2006-01-".
func months(sp proof.Span) []string {
	var all []string
	for _, day := range sp.Days() {
		if month := string(day[:len("2006-01-")]); !slices.Contains(all, month) {
			all = append(all, month)
		}
	}
	return all
}

// lines are what the service says of a span, by id.
type lines struct {
	answers  map[string]answer
	days     map[string]types.Date
	unplaced map[types.Date]bool // days with a line that cannot be told apart
}

// askSpan asks for a span. Lines of other days than were asked for are in
// quarantine, and days without anything need not be stored.
func (k *totalsKind) askSpan(ctx context.Context, sp proof.Span) (lines, error) {
	st := k.totals
	l := lines{answers: map[string]answer{}, days: map[string]types.Date{}, unplaced: map[types.Date]bool{}}
	r, err := st.AskReport(ctx, st.Source.Lanes.Backfill, sp)
	if err != nil {
		return l, err
	}
	wanted := slices.Contains(st.Asked(), sp.Location)
	for i, row := range proof.PlaceRows(r.Rows, st.Def.LinesMayVanish) {
		if !sp.Covers(row.Date) || row.Unplaced {
			l.unplaced[row.Date] = true
			continue
		}
		id := st.LineID(row, sp.Location)
		l.days[id] = row.Date
		l.answers[id] = answer{
			id: id, raw: r.Rows[i], context: st.Def.Columns(sp.Location),
			optional: !wanted || !st.Def.LinesMayVanish && row.Empty(),
		}
	}
	return l, nil
}

// ask asks for the days of the suspects anew.
func (k *totalsKind) ask(ctx context.Context, all []*suspect) (map[string]answer, error) {
	answers := map[string]answer{}
	places := make([]proof.Span, len(all))
	wanted := map[string]bool{}
	for i, s := range all {
		places[i], wanted[s.id] = s.place, true
		answers[s.id] = answer{elsewhere: k.totals.NotAskedFor(s.place.Location)}
	}
	for _, sp := range proof.Covering(places) {
		if k.totals.NotAskedFor(sp.Location) {
			continue
		}
		lines, err := k.askSpan(ctx, sp)
		if err != nil {
			return nil, err
		}
		for id, a := range lines.answers {
			if wanted[id] {
				answers[id] = a
			}
		}
	}
	return answers, nil
}
