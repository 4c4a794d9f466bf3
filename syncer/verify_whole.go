package syncer

import (
	"context"
	"errors"

	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/spool"
)

// whole verifies a list without a cursor, or the key.
func (v *verification) whole(ctx context.Context) (err error) {
	seen := spool.New("", v.pass.limits.ids)
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
	if err := v.compareRows(ctx, rows, func(string) span { return span{} }); err != nil {
		return err
	}
	if err := v.extras(ctx, v.ownRows(), seen); err != nil {
		return err
	}
	return v.again(ctx, opinion{ask: v.askWhole, pass: v.replaceNow})
}

// wholeNow asks for the whole list.
func (v *verification) wholeNow(ctx context.Context) (map[string]told, error) {
	raws, err := v.fetchWhole(ctx)
	if err != nil {
		return nil, err
	}
	v.took(len(raws), 0)
	rows := make(map[string]told, len(raws))
	for _, raw := range raws {
		row := v.shape.Read(raw)
		if row.ID == "" {
			v.unreadable = true
			continue
		}
		rows[row.ID] = told{raw: raw, row: row}
	}
	return rows, nil
}

func (v *verification) fetchWhole(ctx context.Context) ([][]byte, error) {
	lane := v.stream.source.link.backfill
	if v.stream.def.Kind == registry.KeyKind {
		me, err := lane.Me(ctx)
		if len(me.Raw) == 0 && err != nil {
			return nil, err
		}
		return [][]byte{me.Raw}, nil
	}
	list, err := v.stream.def.Whole(ctx, lane)
	if err != nil {
		return nil, err
	}
	return v.stream.mine(list.Rows), nil
}

func (v *verification) askWhole(ctx context.Context, all []*suspect) error {
	rows, err := v.wholeNow(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		s.told = rows[s.id]
		if s.told.raw == nil && v.stream.source.siblingLists(v.stream.def.Name, s.id) {
			s.told.elsewhere = true
		}
	}
	return nil
}

// replaceNow stores the list as it is now.
func (v *verification) replaceNow(ctx context.Context, _ []*suspect) error {
	st := v.stream
	if st.source.visiting {
		return v.othersWalk(ctx, schedule.Snapshots)
	}
	if st.def.Kind != registry.KeyKind {
		return st.exclusive(ctx, st.guard, st.replace)
	}
	return st.exclusive(ctx, st.source.opening, st.source.askKey)
}
