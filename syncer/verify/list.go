package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// listKind verifies a cursor list.
type listKind struct {
	*verification
	list *list.List
}

func (k *listKind) all(ctx context.Context, take func(map[string]answer) error) error {
	return k.walk(ctx, k.stream.Def.BackfillSince, take)
}

// walk walks the list to its end, handing its rows on in bounded parts, each row of a part as it came
// last. After a refused cursor it begins anew.
func (k *listKind) walk(ctx context.Context, since time.Time, take func(map[string]answer) error) error {
	unjudged := k.snapshot().Unjudged
	for refusals := 0; ; refusals++ {
		pages, err := k.walkOnce(ctx, since, take)
		if err == nil {
			return nil
		}
		if !api.IsValidation(err) || pages == 0 || refusals == list.MaxRefusals {
			return fmt.Errorf("%s: %w", k.stream.Def.Name, err)
		}
		k.stream.Source.Log.Warn("the service refused the cursor of a verification, its walk begins anew", "stream", k.stream.Def.Name)
		k.locked(func() { k.result.Unjudged = unjudged })
	}
}

func (k *listKind) walkOnce(ctx context.Context, since time.Time, take func(map[string]answer) error) (pages int, err error) {
	// A page is asked for while the one before it is compared.
	ask := func(ctx context.Context, cursor string) (api.Page, error) {
		p, err := k.list.Fetch(ctx, status.WalkVerify, since, cursor)
		p.Release() // the rows of a part are bounded by the part
		return p, err
	}
	place := func(context.Context) error { return nil }
	part, size := map[string]answer{}, 0
	for p, err := range api.Follow(ctx, "", ask, place) {
		if err != nil {
			return pages, err
		}
		pages++
		live := 0
		for _, raw := range p.Rows {
			if k.stream.Source.LeavesOut(raw) {
				continue
			}
			a := k.read(raw)
			if a.tombstone == nil {
				live++
			}
			if k.unreadable = k.unreadable || a.id == ""; a.id != "" {
				part[a.id] = a
				size += len(raw)
			}
		}
		k.took(live)
		if len(part) >= k.pass.limits.Rows || size >= k.pass.limits.Bytes {
			if err := take(part); err != nil {
				return pages, err
			}
			part, size = map[string]answer{}, 0
		}
	}
	return pages, take(part)
}

// ask asks for each suspect by its route, or for the whole list where that is less to ask or
// there is no route. The route does not show tombstones: what rows that are not live were removed for,
// the list says from where it had the first of them on, or all of it where one has no updated_at.
func (k *listKind) ask(ctx context.Context, all []*suspect) (map[string]answer, error) {
	answers := make(map[string]answer, len(all))
	var pages uint64
	k.locked(func() { pages = k.pages })
	if k.stream.Def.One == nil || uint64(len(all)) > pages {
		return answers, k.all(ctx, keep(answers, all))
	}
	var tombstones []*suspect
	var since time.Time
	for _, s := range all {
		row, err := k.stream.Def.One(ctx, k.stream.Source.Lanes.Backfill, s.id)
		switch {
		case api.IsNotFound(err) && s.tombstone == nil:
		case api.IsNotFound(err):
			if at := s.tombstone.UpdatedAt; len(tombstones) == 0 || at.Before(since) {
				since = at
			}
			tombstones = append(tombstones, s)
		case err != nil:
			return nil, fmt.Errorf("ask for %s %q: %w", k.stream.Def.Name, s.id, err)
		case k.stream.Source.LeavesOut(row.Raw): // it is not shown by the list, too
		default:
			answers[s.id] = k.read(row.Raw) // a row that does not fit its type is compared as it is
		}
	}
	if len(tombstones) == 0 {
		return answers, nil
	}
	return answers, k.walk(ctx, stream.Later(since, k.stream.Def.BackfillSince), keep(answers, tombstones))
}
