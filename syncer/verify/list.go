package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/compare"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/spool"
	"github.com/larder-sync/larder/syncer/totals"
)

// own is a copy that does not hold the memory of a whole page.
func (t answer) own() answer {
	t.raw = bytes.Clone(t.raw)
	return t
}

// listCheck verifies a cursor list: what its walk shows, and then whether the mirror
// has anything more.
type listCheck struct {
	*verification
	list *list.List
}

func (v *listCheck) verify(ctx context.Context) (err error) {
	seen := spool.New("", v.pass.limits.IDs)
	defer func() { err = errors.Join(err, seen.Close()) }()
	query := v.list.Rows()
	expecting, err := v.countLive(ctx, query)
	if err != nil {
		return err
	}
	v.expect(expecting)
	for _, t := range v.list.Followed() {
		if err := v.follow(ctx, t, func(ctx context.Context, rows map[string]answer) error {
			for id := range rows {
				if err := seen.Add(id); err != nil {
					return err
				}
			}
			return v.compareRows(ctx, rows, func(string) totals.Span { return totals.Span{Location: t.Location} }, neverStale)
		}); err != nil {
			return err
		}
	}
	if v.list.Def.ByKey {
		query.Below = 1 // no row: those of a key that was replaced are not shown any more, and stay
	}
	if err := v.extras(ctx, query, seen, v.listLocation); err != nil {
		return err
	}
	return v.again(ctx, opinion{ask: v.askList, pass: v.walkOn})
}

// walkOn runs an incremental walk of every location, from beginning to end.
func (v *listCheck) walkOn(ctx context.Context, _ []*suspect) error {
	if v.visiting {
		return v.othersWalk(ctx, v.list.Def.Job)
	}
	return v.list.CatchUpNow(ctx)
}

// unfilled is why a stream has nothing to be compared with yet. Orders placed through the
// key have no backfill while online ordering is off: the service then says so.
func (v *verification) unfilled(ctx context.Context) error {
	if l, ok := v.kind.(*listCheck); ok && v.stream.Def.ByKey {
		for _, t := range l.list.Followed() {
			page, err := t.Fetch(ctx, walkVerify, v.stream.Source.ServiceNow(), "")
			if err != nil {
				return err
			}
			page.Release()
		}
	}
	return errNotFilled
}

func (v *verification) countLive(ctx context.Context, q sinks.LiveQuery) (uint64, error) {
	n, err := v.sink().CountLive(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("count the live rows: %w", err)
	}
	return n, nil
}

// follow walks a location's list from its beginning to its end, handing its rows on in
// bounded parts, each row of a part as it came last. After a refused cursor it
// begins anew: rows that are compared twice do no harm.
func (v *listCheck) follow(ctx context.Context, t *list.LocationWalks, take func(context.Context, map[string]answer) error) error {
	for refusals := 0; ; refusals++ {
		w := &listWalk{listCheck: v, walks: t, take: take}
		err := w.follow(ctx)
		if err == nil || !api.IsValidation(err) || w.pages == 0 || refusals == list.MaxRefusals {
			return err
		}
		v.stream.Source.Log.Warn("the service refused the cursor of a verification, its walk begins anew", "stream", t.Name())
	}
}

// listWalk is one walk of a list that compares instead of writing.
type listWalk struct {
	*listCheck
	walks *list.LocationWalks
	take  func(context.Context, map[string]answer) error

	pages int
	part  map[string]answer
	bytes int
}

func (w *listWalk) follow(ctx context.Context) error {
	w.part = map[string]answer{}
	room := func(context.Context) error { return nil }
	for p, err := range api.Follow(ctx, "", w.ask, room) {
		if err == nil {
			err = w.add(ctx, p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.walks.Name(), err)
		}
	}
	return w.hand(ctx)
}

// ask fetches a page while the one before it is compared.
func (w *listWalk) ask(ctx context.Context, cursor string) (list.Page, error) {
	p, err := w.walks.Fetch(ctx, walkVerify, w.stream.Def.BackfillSince, cursor)
	p.Release() // the rows of a part are bounded by the part
	return p, err
}

// add takes a page into the part, and hands the part on when it is large enough.
func (w *listWalk) add(ctx context.Context, p list.Page) error {
	w.pages++
	tombstones := 0
	for _, raw := range p.Rows {
		row := w.shape.Read(raw)
		if row.Deleted {
			tombstones++
		}
		if row.ID == "" {
			w.unreadable = true
			continue
		}
		w.part[row.ID] = answer{raw: raw, row: row}
		w.bytes += len(raw)
	}
	w.took(len(p.Rows), tombstones)
	if len(w.part) >= w.pass.limits.Rows || w.bytes >= w.pass.limits.Bytes {
		return w.hand(ctx)
	}
	return nil
}

func (w *listWalk) hand(ctx context.Context) error {
	part := w.part
	w.part, w.bytes = map[string]answer{}, 0
	return w.take(ctx, part)
}

// extras finds the live rows of the mirror that the API did not show. Both sides
// come in order of id. list is the location whose list would show a row.
func (v *verification) extras(ctx context.Context, q sinks.LiveQuery, seen *spool.Set, list func(location string) string) error {
	shown, err := seen.Sorted()
	if err != nil {
		return err
	}
	q.Limit = v.pass.limits.Page
	for rows, err := range sinks.LivePages(ctx, v.sink(), q) {
		if err != nil {
			return fmt.Errorf("read the live rows: %w", err)
		}
		for _, r := range rows {
			if found, err := shown.Has(r.ID); err != nil {
				return err
			} else if !found {
				v.suspect(&suspect{id: r.ID, extra: true, place: totals.Span{Location: list(r.Location)}})
			}
		}
	}
	n, err := shown.Rest()
	v.ended(n)
	return err
}

// trackLocation is the location whose list would show a row, empty where lists are
// asked for whole.
func (v *listCheck) listLocation(location string) string {
	for _, t := range v.list.Followed() {
		if t.Location == location {
			return location
		}
	}
	return ""
}

// askList asks for the suspects of a list: for each by its route, or for the whole
// list where that is less to ask or there is no route.
func (v *listCheck) askList(ctx context.Context, all []*suspect) error {
	if v.stream.Def.One == nil || uint64(len(all)) > v.listPages() {
		return v.askWholeList(ctx, all)
	}
	for _, s := range all {
		t, err := v.askOne(ctx, s)
		if err != nil {
			return fmt.Errorf("ask for %s %q: %w", v.stream.Def.Name, s.id, err)
		}
		s.answer = t
	}
	return nil
}

// listPages is how many pages the list has.
func (v *verification) listPages() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.pages
}

func (v *listCheck) askWholeList(ctx context.Context, all []*suspect) error {
	byID := make(map[string]*suspect, len(all))
	for _, s := range all {
		byID[s.id], s.answer = s, answer{}
	}
	for _, t := range v.list.Followed() {
		if err := v.follow(ctx, t, func(_ context.Context, rows map[string]answer) error {
			for id, t := range rows {
				if s := byID[id]; s != nil {
					s.answer = t.own()
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// askOne asks for one row. The route does not show tombstones: what a row that is
// not live was removed for, the list says.
func (v *listCheck) askOne(ctx context.Context, s *suspect) (answer, error) {
	raw, _, err := v.stream.Def.One(ctx, v.stream.Source.Lanes.Backfill, s.id)
	switch {
	case api.IsNotFound(err) && s.answer.row.Deleted:
		return v.findTombstone(ctx, s)
	case api.IsNotFound(err):
		return answer{}, nil
	case len(raw) == 0 && err != nil:
		return answer{}, err
	}
	return answer{raw: raw, row: v.shape.Read(raw)}, nil // a row that does not fit its type is compared as it is
}

// tombstonePages is how far a tombstone is looked for behind its updated_at, which
// hundreds of rows can share.
const tombstonePages = 3

// findTombstone looks for a tombstone where the list has it while it is unchanged.
// One without updated_at has no such place, and is taken to be what it was.
func (v *listCheck) findTombstone(ctx context.Context, s *suspect) (answer, error) {
	since := instantIn(s.answer.row.UpdatedAt)
	t := v.list.WalksAt(s.place.Location)
	if since.IsZero() || t == nil {
		return s.answer, nil
	}
	raw, far, err := Tombstone(ctx, t, v.shape, s.id, since)
	switch {
	case err != nil || raw == nil && !far:
		return answer{}, err
	case far:
		moved := s.answer
		moved.unsure = true
		return moved, nil
	}
	return answer{raw: raw, row: v.shape.Read(raw)}.own(), nil
}

// Tombstone looks for a tombstone behind its updated_at; far is true when more rows have
// changed since than are looked at. It is nil when it is not there.
func Tombstone(ctx context.Context, t *list.LocationWalks, shape *compare.Shape, id string, since time.Time) (raw []byte, far bool, err error) {
	ask := func(ctx context.Context, cursor string) (list.Page, error) {
		return t.Fetch(ctx, walkVerify, since, cursor)
	}
	pages := 0
	for p, err := range api.Follow(ctx, "", ask, nil) {
		if err != nil {
			return nil, false, err
		}
		for _, raw := range p.Rows {
			if shape.Read(raw).ID == id {
				return raw, false, nil
			}
		}
		if pages++; pages == tombstonePages {
			return nil, p.HasMore, nil
		}
	}
	return nil, false, nil
}
