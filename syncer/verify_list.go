package syncer

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/spool"
)

// own is a copy that does not hold the memory of a whole page.
func (t told) own() told {
	t.raw = bytes.Clone(t.raw)
	return t
}

// verifyList verifies a cursor list: what its walk shows, and then whether the mirror
// has anything more.
type verifyList struct {
	*verification
	list *list
}

func (v *verifyList) verify(ctx context.Context) (err error) {
	seen := spool.New("", v.pass.limits.ids)
	defer func() { err = errors.Join(err, seen.Close()) }()
	query := v.ownRows()
	expecting, err := v.countLive(ctx, query)
	if err != nil {
		return err
	}
	v.expect(expecting)
	for _, t := range v.list.followed() {
		if err := v.follow(ctx, t, func(ctx context.Context, rows map[string]told) error {
			for id := range rows {
				if err := seen.Add(id); err != nil {
					return err
				}
			}
			return v.compareRows(ctx, rows, func(string) span { return span{location: t.location} }, neverStale)
		}); err != nil {
			return err
		}
	}
	if err := v.extras(ctx, query, seen, v.trackLocation); err != nil {
		return err
	}
	return v.again(ctx, opinion{ask: v.askList, pass: v.walkOn})
}

// walkOn runs an incremental walk of every track, from beginning to end.
func (v *verifyList) walkOn(ctx context.Context, _ []*suspect) error {
	if v.visiting {
		return v.othersWalk(ctx, schedule.Incremental)
	}
	return v.list.catchUpNow(ctx)
}

func (v *verification) countLive(ctx context.Context, q sinks.LiveQuery) (uint64, error) {
	n, err := v.sink().CountLive(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("count the live rows: %w", err)
	}
	return n, nil
}

// ownRows selects the live rows that the source answers for.
func (v *verifyList) ownRows() sinks.LiveQuery {
	s := v.stream.source
	q := sinks.LiveQuery{Table: v.stream.def.Name, Business: v.business()}
	s.scope(s.identity(), &q)
	return q
}

// follow walks a track's list from its beginning to its end, handing its rows on in
// bounded parts, each row of a part as it came last. After a refused cursor it
// begins anew: rows that are compared twice do no harm.
func (v *verifyList) follow(ctx context.Context, t *track, take func(context.Context, map[string]told) error) error {
	for refusals := 0; ; refusals++ {
		w := &verifyWalk{verifyList: v, track: t, take: take}
		err := w.follow(ctx)
		if err == nil || !api.IsValidation(err) || w.pages == 0 || refusals == maxRefusals {
			return err
		}
		v.stream.source.log.Warn("the service refused the cursor of a verification, its walk begins anew", "stream", t.name())
	}
}

// verifyWalk is one walk of a list that compares instead of writing.
type verifyWalk struct {
	*verifyList
	track *track
	take  func(context.Context, map[string]told) error

	cycle cycle
	again repetition
	pages int
	part  map[string]told
	bytes int
}

func (w *verifyWalk) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var next <-chan verifyPage
	defer func() {
		cancel()
		if next != nil {
			<-next // it was asked for in vain
		}
	}()
	w.part = map[string]told{}
	a, cursor := <-w.ask(ctx, ""), ""
	for {
		if a.err != nil {
			return fmt.Errorf("%s: %w", w.track.name(), a.err)
		}
		if a.more {
			if err := w.leads(cursor, a.next, a.rows); err != nil {
				return fmt.Errorf("%s: %w", w.track.name(), err)
			}
			next = w.ask(ctx, a.next)
		}
		if err := w.add(ctx, a.page); err != nil {
			return err
		}
		if !a.more {
			return w.hand(ctx)
		}
		cursor = a.next
		a, next = <-next, nil
	}
}

// leads fails a page that leads nowhere (DESIGN R3).
func (w *verifyWalk) leads(cursor, next string, rows [][]byte) error {
	switch {
	case next == "":
		return errNoCursor
	case w.cycle.repeats(cursor, next):
		return errRepeatedCursor
	case w.again.endless(rows):
		return errEndless
	}
	return nil
}

type verifyPage struct {
	page
	err error
}

// ask fetches a page while the one before it is compared.
func (w *verifyWalk) ask(ctx context.Context, cursor string) <-chan verifyPage {
	answer := make(chan verifyPage, 1)
	go func() {
		var p page
		err := w.stream.source.protected(ctx, "verify "+w.track.name(), func(ctx context.Context) (err error) {
			p, err = w.track.fetch(ctx, walkVerify, w.stream.def.BackfillSince, cursor)
			p.done() // the rows of a part are bounded by the part
			return err
		})
		answer <- verifyPage{p, err}
	}()
	return answer
}

// add takes a page into the part, and hands the part on when it is large enough.
func (w *verifyWalk) add(ctx context.Context, p page) error {
	w.pages++
	tombstones := 0
	for _, raw := range p.rows {
		row := w.shape.Read(raw)
		if row.Deleted {
			tombstones++
		}
		if row.ID == "" {
			w.unreadable = true
			continue
		}
		w.part[row.ID] = told{raw: raw, row: row}
		w.bytes += len(raw)
	}
	w.took(len(p.rows), tombstones)
	if len(w.part) >= w.pass.limits.rows || w.bytes >= w.pass.limits.bytes {
		return w.hand(ctx)
	}
	return nil
}

func (w *verifyWalk) hand(ctx context.Context) error {
	part := w.part
	w.part, w.bytes = map[string]told{}, 0
	return w.take(ctx, part)
}

// extras finds the live rows of the mirror that the API did not show. Both sides
// come in order of id. list is the location whose list would show a row.
func (v *verification) extras(ctx context.Context, q sinks.LiveQuery, seen *spool.Set, list func(location string) string) error {
	shown, err := seen.Sorted()
	if err != nil {
		return err
	}
	q.Limit = v.pass.limits.page
	for {
		rows, err := v.sink().Live(ctx, q)
		if err != nil {
			return fmt.Errorf("read the live rows: %w", err)
		}
		for _, r := range rows {
			if found, err := shown.Has(r.ID); err != nil {
				return err
			} else if !found {
				v.suspect(&suspect{id: r.ID, extra: true, place: span{location: list(r.Location)}})
			}
		}
		if len(rows) < q.Limit {
			break
		}
		q.After = rows[len(rows)-1].ID
	}
	n, err := shown.Rest()
	v.ended(n)
	return err
}

// trackLocation is the location whose list would show a row, empty where lists are
// asked for whole.
func (v *verifyList) trackLocation(location string) string {
	for _, t := range v.list.followed() {
		if t.location == location {
			return location
		}
	}
	return ""
}

// askList asks for the suspects of a list: for each by its route, or for the whole
// list where that is less to ask or there is no route.
func (v *verifyList) askList(ctx context.Context, all []*suspect) error {
	if v.stream.def.One == nil || uint64(len(all)) > v.listPages() {
		return v.askWholeList(ctx, all)
	}
	for _, s := range all {
		t, err := v.askOne(ctx, s)
		if err != nil {
			return fmt.Errorf("ask for %s %q: %w", v.stream.def.Name, s.id, err)
		}
		s.told = t
	}
	return nil
}

// listPages is how many pages the list has.
func (v *verification) listPages() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.pages
}

func (v *verifyList) askWholeList(ctx context.Context, all []*suspect) error {
	byID := make(map[string]*suspect, len(all))
	for _, s := range all {
		byID[s.id], s.told = s, told{}
	}
	for _, t := range v.list.followed() {
		if err := v.follow(ctx, t, func(_ context.Context, rows map[string]told) error {
			for id, t := range rows {
				if s := byID[id]; s != nil {
					s.told = t.own()
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
func (v *verifyList) askOne(ctx context.Context, s *suspect) (told, error) {
	raw, _, err := v.stream.def.One(ctx, v.stream.source.lanes.backfill, s.id)
	switch {
	case api.IsNotFound(err) && s.told.row.Deleted:
		return v.findTombstone(ctx, s)
	case api.IsNotFound(err):
		return told{}, nil
	case len(raw) == 0 && err != nil:
		return told{}, err
	}
	return told{raw: raw, row: v.shape.Read(raw)}, nil // a row that does not fit its type is compared as it is
}

// tombstonePages is how far a tombstone is looked for behind its updated_at, which
// hundreds of rows can share.
const tombstonePages = 3

// findTombstone looks for a tombstone where the list has it while it is unchanged.
// One without updated_at has no such place, and is taken to be what it was.
func (v *verifyList) findTombstone(ctx context.Context, s *suspect) (told, error) {
	since := instantIn(s.told.row.UpdatedAt)
	if since.IsZero() {
		return s.told, nil
	}
	t := v.list.trackAt(s.place.location)
	if t == nil {
		return s.told, nil
	}
	cursor := ""
	for range tombstonePages {
		p, err := t.fetch(ctx, walkVerify, since, cursor)
		if err != nil {
			return told{}, err
		}
		p.done()
		for _, raw := range p.rows {
			if row := v.shape.Read(raw); row.ID == s.id {
				return told{raw: raw, row: row}.own(), nil
			}
		}
		if !p.more || p.next == "" {
			return told{}, nil
		}
		cursor = p.next
	}
	moved := s.told
	moved.unsure = true
	return moved, nil
}

// trackAt is the track of a location, nil when there is none any more.
func (st *list) trackAt(location string) *track {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.trackOf(location)
}
