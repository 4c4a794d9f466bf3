package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/menus"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/spool"
	"github.com/larder-sync/larder/syncer/totals"
)

// menuCheck verifies the menus of a source's locations. It asks for each of them whole: a
// walk believes the ETag, and this is what looks whether it was right to.
type menuCheck struct {
	*verification
	menus *menus.Stream
}

func (v *menuCheck) verify(ctx context.Context) (err error) {
	seen := spool.New("", v.pass.limits.IDs)
	defer func() { err = errors.Join(err, seen.Close()) }()
	for _, l := range v.wanted() {
		row, err := v.menuOf(ctx, l)
		if err != nil {
			return err
		}
		if row.raw == nil {
			continue
		}
		if err := seen.Add(l); err != nil {
			return err
		}
		if err := v.compareRows(ctx, map[string]answer{l: row}, func(string) totals.Span { return totals.Span{} }, neverStale); err != nil {
			return err
		}
	}
	if err := v.extras(ctx, v.ownQuery(), seen, func(string) string { return "" }); err != nil {
		return err
	}
	return v.again(ctx, opinion{ask: v.askAgain, pass: v.walkNow})
}

func (v *menuCheck) wanted() []string {
	return v.stream.Source.Usable(v.stream.Source.Identity())
}

// menuOf asks for the menu of a location; it is no row when the service has none, or
// answers with that of another location.
func (v *menuCheck) menuOf(ctx context.Context, location string) (answer, error) {
	a, err := v.stream.Def.Menu(ctx, v.stream.Source.Lanes.Backfill, location, "")
	if api.IsNotFound(err) {
		return answer{}, nil
	}
	if err != nil {
		return answer{}, fmt.Errorf("location %s: %w", location, err)
	}
	defer a.Release()
	v.took(1, 0)
	row := v.shape.Read(a.Raw)
	row.ID = location
	return answer{raw: a.Raw, row: row}, nil
}

func (v *menuCheck) askAgain(ctx context.Context, all []*suspect) error {
	wanted := map[string]bool{}
	for _, l := range v.wanted() {
		wanted[l] = true
	}
	for _, s := range all {
		s.answer = answer{}
		if wanted[s.id] {
			row, err := v.menuOf(ctx, s.id)
			if err != nil {
				return err
			}
			s.answer = row.own()
		}
		if s.answer.raw == nil && v.menus.Elsewhere(s.id) {
			s.answer.elsewhere = true
		}
	}
	return nil
}

// walkNow has the menus walked.
func (v *menuCheck) walkNow(ctx context.Context, _ []*suspect) error {
	if v.visiting {
		return v.othersWalk(ctx, schedule.Snapshots)
	}
	return v.menus.Exclusive(ctx, v.menus.Guard, v.menus.Walk)
}
