package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/replace"
)

// wholeKind verifies a list without a cursor, the key, or the menus of a source's locations.
type wholeKind struct {
	*verification
	list *replace.Stream
}

func (k *wholeKind) all(ctx context.Context, take func(map[string]answer) error) error {
	if k.list.Ask == nil {
		return k.menus(ctx, take)
	}
	raws, _, err := k.list.Ask(ctx, k.stream.Source.Lanes.Backfill)
	if err != nil {
		return err
	}
	k.took(len(raws))
	rows := make(map[string]answer, len(raws))
	for _, raw := range raws {
		a := k.read(raw)
		if k.unreadable = k.unreadable || a.id == ""; a.id != "" {
			rows[a.id] = a
		}
	}
	return take(rows)
}

// menus asks for each menu whole: a walk believes the ETag, and this compares whether it was right to.
func (k *wholeKind) menus(ctx context.Context, take func(map[string]answer) error) error {
	for _, location := range k.stream.Source.Usable(k.stream.Source.Identity()) {
		m, err := k.stream.Source.Lanes.Backfill.Menu(ctx, location, "")
		if api.IsNotFound(err) {
			continue // the service has none
		}
		if err != nil {
			return fmt.Errorf("location %s: %w", location, err)
		}
		k.took(1)
		err = take(map[string]answer{location: {id: location, raw: m.Raw, context: k.stream.Def.Columns(location)}})
		if m.Release(); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for all rows, and marks the suspects that the API does not show to this source, and another
// source of the restaurant lists.
func (k *wholeKind) ask(ctx context.Context, all []*suspect) (map[string]answer, error) {
	answers := map[string]answer{}
	if err := k.all(ctx, keep(answers, all)); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(s *suspect) bool { return answers[s.id].raw == nil }) {
		return answers, nil
	}
	elsewhere, err := k.source.Elsewhere(ctx, k.stream.Def.Name)
	if err != nil {
		return nil, fmt.Errorf("read what other sources of the restaurant list: %w", err)
	}
	for _, s := range all {
		if answers[s.id].raw == nil && elsewhere[s.id] {
			answers[s.id] = answer{id: s.id, elsewhere: true}
		}
	}
	return answers, nil
}
