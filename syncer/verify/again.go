package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/compare"
	"github.com/larder-sync/larder/syncer/totals"
)

// verifyRounds is how often a row that moves is looked at again.
const verifyRounds = 4

// opinion is how suspects are looked at again.
type opinion struct {
	// ask asks the API for each of them anew.
	ask func(ctx context.Context, all []*suspect) error
	// pass runs the walk that brings what has changed, from its beginning to its
	// end.
	pass func(ctx context.Context, all []*suspect) error
}

// again looks at the suspects again. Where the API shows a row in the same way before and
// after a walk, that walk should have brought it. So if the mirror then holds another row, or
// none, that is a difference.
func (v *verification) again(ctx context.Context, o opinion) error {
	pending := slices.SortedFunc(maps.Values(v.suspects), bySuspectID)
	// The entries of those set aside may have been closed since.
	pending = append(pending, slices.SortedFunc(maps.Values(v.aside), bySuspectID)...)
	if len(pending) == 0 {
		return nil
	}
	if err := o.ask(ctx, pending); err != nil {
		return err
	}
	pending, _, err := v.unsettled(ctx, pending) // many have been brought meanwhile
	for range verifyRounds {
		if err != nil || len(pending) == 0 {
			return err
		}
		pending, err = v.round(ctx, o, pending)
	}
	if err != nil {
		return err
	}
	for _, s := range pending {
		v.count(func(r *StreamReport) { r.Moving++ })
		v.pass.tell(v.finding(FoundMoving, s.id))
	}
	return nil
}

func bySuspectID(a, b *suspect) int {
	switch {
	case a.id < b.id:
		return -1
	case a.id > b.id:
		return 1
	default:
		return 0
	}
}

// round runs one walk and judges what stood still; it returns what moved.
func (v *verification) round(ctx context.Context, o opinion, pending []*suspect) ([]*suspect, error) {
	if err := o.pass(ctx, pending); err != nil {
		return nil, err
	}
	pending, stored, err := v.unsettled(ctx, pending)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	before := make([]answer, len(pending))
	for i, s := range pending {
		before[i] = s.answer
	}
	if err := o.ask(ctx, pending); err != nil {
		return nil, err
	}
	var moving []*suspect
	for i, s := range pending {
		row := stored[s.id]
		switch {
		case v.settled(s, row):
		case s.answer.same(before[i]):
			v.differs(s.id, v.differences(s.answer, row))
		default:
			moving = append(moving, s)
		}
	}
	return moving, nil
}

// unsettled are the suspects that still differ from what is stored now, and are not
// in quarantine.
func (v *verification) unsettled(ctx context.Context, pending []*suspect) ([]*suspect, map[string]*sinks.StoredRow, error) {
	if err := v.readQuarantine(ctx); err != nil {
		return nil, nil, err
	}
	pending = slices.DeleteFunc(pending, func(s *suspect) bool { _, open := v.open[s.id]; return open })
	stored, err := v.storedOf(ctx, pending)
	if err != nil {
		return nil, nil, err
	}
	pending = slices.DeleteFunc(pending, func(s *suspect) bool { return v.settled(s, stored[s.id]) })
	return pending, stored, nil
}

// settled is true when a suspect does not differ any more.
func (v *verification) settled(s *suspect, row *sinks.StoredRow) bool {
	if s.answer.unsure || len(v.differences(s.answer, row)) > 0 {
		return false
	}
	v.count(func(r *StreamReport) { r.Settled++ })
	return true
}

// storedOf reads what is stored of the suspects.
func (v *verification) storedOf(ctx context.Context, all []*suspect) (map[string]*sinks.StoredRow, error) {
	ids := make([]string, len(all))
	for i, s := range all {
		ids[i] = s.id
	}
	return v.storedRows(ctx, ids)
}

// storedRows reads stored rows by id.
func (v *verification) storedRows(ctx context.Context, ids []string) (map[string]*sinks.StoredRow, error) {
	rows, err := sinks.RowsByID(ctx, v.sink(), v.stream.Def.Name, v.business(), ids)
	if err != nil {
		return nil, fmt.Errorf("read the stored rows: %w", err)
	}
	return rows, nil
}

// compareRows compares rows of the API with the stored ones, in order of id, which
// is how they lie in the warehouse. stale is true of a row that is behind by schedule alone.
func (v *verification) compareRows(ctx context.Context, rows map[string]answer, place func(id string) totals.Span, stale func(id string, found []compare.Difference, place totals.Span) bool) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(rows)), sinks.MaxRowIDs) {
		stored, err := v.storedRows(ctx, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			t := rows[id]
			found := v.differences(t, stored[id])
			if len(found) > 0 && !stale(id, found, place(id)) {
				v.suspect(&suspect{id: id, answer: t.own(), place: place(id)})
			}
		}
	}
	return nil
}

// neverStale is for streams that are walked often: no row of theirs is behind by schedule.
func neverStale(string, []compare.Difference, totals.Span) bool { return false }
