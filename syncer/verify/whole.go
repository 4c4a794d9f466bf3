package verify

import (
	"context"
	"errors"

	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/snapshot"
	"github.com/larder-sync/larder/syncer/spool"
	"github.com/larder-sync/larder/syncer/totals"
)

// wholeCheck verifies a list without a cursor, or the key.
type wholeCheck struct {
	*verification
	whole *snapshot.Stream
}

func (v *wholeCheck) verify(ctx context.Context) (err error) {
	seen := spool.New("", v.pass.limits.IDs)
	defer func() { err = errors.Join(err, seen.Close()) }()
	rows, err := v.wholeNow(ctx)
	if err != nil {
		return err
	}
	for id := range rows {
		if err := seen.Add(id); err != nil {
			return err
		}
	}
	if err := v.compareRows(ctx, rows, func(string) totals.Span { return totals.Span{} }, neverStale); err != nil {
		return err
	}
	if err := v.extras(ctx, v.ownQuery(), seen, func(string) string { return "" }); err != nil {
		return err
	}
	return v.again(ctx, opinion{ask: v.askWhole, pass: v.replaceNow})
}

// wholeNow asks for the whole list.
func (v *wholeCheck) wholeNow(ctx context.Context) (map[string]answer, error) {
	raws, _, err := v.whole.Ask(ctx, v.stream.Source.Lanes.Backfill)
	if err != nil {
		return nil, err
	}
	v.took(len(raws), 0)
	rows := make(map[string]answer, len(raws))
	for _, raw := range raws {
		row := v.shape.Read(raw)
		if row.ID == "" {
			v.unreadable = true
			continue
		}
		rows[row.ID] = answer{raw: raw, row: row}
	}
	return rows, nil
}

func (v *wholeCheck) askWhole(ctx context.Context, all []*suspect) error {
	rows, err := v.wholeNow(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		s.answer = rows[s.id]
		if s.answer.raw == nil && v.whole.Elsewhere(s.id) {
			s.answer.elsewhere = true
		}
	}
	return nil
}

// replaceNow stores the list as it is now.
func (v *wholeCheck) replaceNow(ctx context.Context, _ []*suspect) error {
	if v.visiting {
		return v.othersWalk(ctx, schedule.Snapshots)
	}
	return v.whole.Renew(ctx)
}
