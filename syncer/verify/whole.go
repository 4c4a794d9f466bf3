package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/replace"
)

// wholeKind verifies a list without a cursor, or the key.
type wholeKind struct {
	*verification
	list *replace.Stream
}

func (k *wholeKind) compare(ctx context.Context) (uint64, error) {
	rows, err := k.rows(ctx)
	if err != nil {
		return 0, err
	}
	if err := k.compareRows(ctx, rows, nowhere); err != nil {
		return 0, err
	}
	return uint64(len(rows)), k.extras(ctx, k.ownQuery(), func(id string) bool { return rows[id].raw != nil })
}

// rows asks for the whole list.
func (k *wholeKind) rows(ctx context.Context) (map[string]answer, error) {
	raws, _, err := k.list.Ask(ctx, k.stream.Source.Lanes.Backfill)
	if err != nil {
		return nil, err
	}
	k.took(len(raws), 0)
	rows := make(map[string]answer, len(raws))
	for _, raw := range raws {
		a := k.read(raw)
		if k.unreadable = k.unreadable || a.id == ""; a.id != "" {
			rows[a.id] = a
		}
	}
	return rows, nil
}

func (k *wholeKind) ask(ctx context.Context, all []*suspect) (map[string]answer, error) {
	rows, err := k.rows(ctx)
	if err != nil {
		return nil, err
	}
	return rows, k.markElsewhere(ctx, rows, all)
}

// markElsewhere marks the suspects that the API does not show to this source, and another
// source of the restaurant lists.
func (v *verification) markElsewhere(ctx context.Context, answers map[string]answer, all []*suspect) error {
	if !slices.ContainsFunc(all, func(s *suspect) bool { return answers[s.id].raw == nil }) {
		return nil
	}
	elsewhere, err := v.source.Elsewhere(ctx, v.stream.Def.Name)
	if err != nil {
		return fmt.Errorf("read what other sources of the restaurant list: %w", err)
	}
	for _, s := range all {
		if answers[s.id].raw == nil && elsewhere[s.id] {
			answers[s.id] = answer{id: s.id, elsewhere: true}
		}
	}
	return nil
}

// menuKind verifies the menus of a source's locations. It asks for each of them whole: a
// walk believes the ETag, and this is what looks whether it was right to.
type menuKind struct{ *verification }

func (k *menuKind) compare(ctx context.Context) (uint64, error) {
	shown := map[string]bool{}
	for _, location := range k.wanted() {
		a, err := k.menuOf(ctx, location)
		if err != nil {
			return 0, err
		}
		if a.raw == nil {
			continue
		}
		shown[location] = true
		if err := k.compareRows(ctx, map[string]answer{location: a}, nowhere); err != nil {
			return 0, err
		}
	}
	return uint64(len(shown)), k.extras(ctx, k.ownQuery(), func(id string) bool { return shown[id] })
}

func (k *menuKind) wanted() []string {
	return k.stream.Source.Usable(k.stream.Source.Identity())
}

// menuOf asks for the menu of a location; it is no row when the service has none.
func (k *menuKind) menuOf(ctx context.Context, location string) (answer, error) {
	m, err := k.stream.Source.Lanes.Backfill.Menu(ctx, location, "")
	if api.IsNotFound(err) {
		return answer{}, nil
	}
	if err != nil {
		return answer{}, fmt.Errorf("location %s: %w", location, err)
	}
	defer m.Release()
	k.took(1, 0)
	return answer{id: location, raw: m.Raw, context: k.stream.Def.Columns(location)}, nil
}

func (k *menuKind) ask(ctx context.Context, all []*suspect) (map[string]answer, error) {
	answers, wanted := map[string]answer{}, k.wanted()
	for _, s := range all {
		if !slices.Contains(wanted, s.id) {
			continue
		}
		a, err := k.menuOf(ctx, s.id)
		if err != nil {
			return nil, err
		}
		answers[s.id] = a
	}
	return answers, k.markElsewhere(ctx, answers, all)
}
