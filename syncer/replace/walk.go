package replace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/write"
)

// Walk asks for each part, and stores what has changed.
func (st *Stream) Walk(ctx context.Context) error {
	return st.Attempt(ctx, st.walkKind(), func(ctx context.Context) error {
		if st.Ask == nil {
			return st.walk(ctx, st.Source.Usable(st.Source.Identity()), (*walk).locations)
		}
		rows, at, err := st.Ask(ctx, st.Source.Lanes.Fresh)
		if err != nil {
			return err
		}
		return st.ReplaceWith(ctx, rows, st.Source.AnswerTime(at))
	})
}

// ReplaceWith replaces what is stored by a whole list, as it was at an instant of the service's
// clock.
func (st *Stream) ReplaceWith(ctx context.Context, rows [][]byte, at time.Time) error {
	return st.walk(ctx, nil, func(w *walk, _ context.Context) error {
		w.in.Counts.Requests++
		w.paged()
		w.take(whole, rows, "", at)
		return nil
	})
}

// walk is one walk under way.
type walk struct {
	stream   *Stream
	wanted   []string // the locations asked for
	now      parts    // what is stored when all that was handed over is durable
	position string   // as it was handed over last
	number   uint64
	rewrite  bool // every row is written

	mapper *mapping.Mapper
	in     *write.Intake // what is handed over next
	run    sinks.Run
	wrote  bool // rows were handed over
	failed bool // and one of them is not durable: what is brought after it is not stored
}

// walk makes a walk whose parts bring brings.
func (st *Stream) walk(ctx context.Context, wanted []string, bring func(*walk, context.Context) error) error {
	w := &walk{stream: st, wanted: wanted, number: st.Writer.NextWalk(), mapper: st.Def.Plan.NewMapper()}
	w.run = sinks.Run{Source: st.Source.Name, Stream: st.Def.Name, Walk: st.walkKind(), StartedAt: time.Now()}
	st.mu.Lock()
	w.now, w.rewrite = maps.Clone(st.stored), st.doubted
	checked := st.checked && !w.rewrite
	st.mu.Unlock()
	w.position = w.now.position()
	if !checked {
		if err := w.check(ctx); err != nil {
			return err
		}
	}
	st.mu.Lock()
	st.doubted, st.bringing, st.withdrawing = false, wanted, map[string]bool{}
	st.mu.Unlock()
	complete := false
	defer func() { // also when it panics
		if w.rewrite && complete {
			st.NoteWholeWalk(w.run.StartedAt)
		}
		st.mu.Lock()
		defer st.mu.Unlock()
		st.bringing, st.withdrawing = nil, nil
		st.doubted = st.doubted || w.rewrite && !complete
		st.checked = st.checked || complete // else what the check has found is not stored
	}()
	w.next()
	err := bring(w, ctx)
	if !w.failed {
		err = errors.Join(err, w.hand(ctx, true))
	}
	w.in.CountPage() // of what is not stored
	complete = err == nil
	return err
}

// check compares what is stored of menus with the rows in the warehouse. A menu whose row is
// missing, or is not the one that was stored, is asked for without an ETag. In a full resync, which
// sends none, rows of the source that no part has join them instead, so that they are removed unless
// they come.
func (w *walk) check(ctx context.Context) error {
	st := w.stream
	q := sinks.LiveQuery{Table: st.Def.Name, Business: st.Source.Business()}
	if w.rewrite {
		q.Source = st.Source.Name
	} else if st.Ask != nil {
		return nil
	}
	rows, err := st.Source.Sink.Live(ctx, q)
	if err != nil {
		return fmt.Errorf("read the live rows: %w", err)
	}
	live := map[string]uint64{}
	for _, r := range rows {
		live[r.ID] = r.Version
	}
	switch {
	case !w.rewrite:
		for l, is := range w.now {
			if row, there := live[l]; !there || row != is.Row {
				w.now[l] = part{}
			}
		}
	case st.Ask == nil:
		for l := range live {
			if _, known := w.now[l]; !known {
				w.now[l] = part{}
			}
		}
	default:
		list := w.now[whole]
		for _, id := range list.IDs {
			live[id] = 0
		}
		list.IDs = slices.Sorted(maps.Keys(live))
		w.now[whole] = list
	}
	return nil
}

// locations removes the menus of locations that the key has lost, and asks for all others.
func (w *walk) locations(ctx context.Context) error {
	for _, l := range slices.Sorted(maps.Keys(w.now)) {
		if !slices.Contains(w.wanted, l) {
			w.withdraw(l, write.ReasonNoAccess, w.stream.Source.ServiceNow().UTC())
		}
	}
	var failed []error
	for _, l := range w.wanted {
		err := w.ask(ctx, l)
		if err != nil {
			failed = append(failed, fmt.Errorf("location %s: %w", l, err))
		}
		if err != nil && !ofOneLocation(err) {
			break
		}
	}
	if n := len(failed) - 1; n > 0 {
		return fmt.Errorf("%w (and menus of %d locations more)", failed[0], n)
	}
	return errors.Join(failed...)
}

// ofOneLocation reports whether an error need not meet the next location too.
func ofOneLocation(err error) bool {
	if e, ok := errors.AsType[*api.Error](err); ok {
		return e.Status == http.StatusInternalServerError || e.Status == http.StatusNotModified || api.IsLocationForbidden(err)
	}
	_, ok := errors.AsType[*api.BodyError](err)
	return ok
}

// ask asks for the menu of a location.
func (w *walk) ask(ctx context.Context, location string) error {
	st, was := w.stream, w.now[location]
	etag := was.ETag
	if w.rewrite {
		etag = ""
	}
	// Many locations at once hold up nothing else: whatever is more urgent goes first.
	a, err := st.Source.Lanes.Backfill.Menu(ctx, location, etag)
	w.in.Counts.Requests++
	if e, _ := errors.AsType[*api.Error](err); api.IsNotFound(err) {
		w.withdraw(location, write.ReasonGone, st.Source.AnswerTime(e.Date))
		return nil
	}
	if err != nil {
		return err
	}
	defer a.Release()
	at := st.Source.AnswerTime(a.Date)
	w.paged()
	if !a.Unchanged {
		w.take(location, [][]byte{a.Raw}, a.ETag, at)
		a.Release() // the sink counts what it has itself, and may be long in storing it
		return w.hand(ctx, false)
	}
	w.in.Counts.Unchanged++
	if !was.confirms(a) { // it is of another version than the one that was asked about
		w.now[location] = part{Digest: was.Digest, Row: was.Row}
	}
	return nil
}

func (w *walk) paged() {
	st := w.stream
	st.Source.Metrics.Paged(st.Source.Name, st.Def.Name, st.walkKind())
	w.in.Counts.Pages++
}

// take takes a part in, unless it is the one that is stored.
func (w *walk) take(key string, rows [][]byte, etag string, at time.Time) {
	was := w.now[key]
	is := part{ETag: etag, Digest: digestOf(rows), Row: was.Row}
	if is.Digest == was.Digest && !w.rewrite {
		w.in.Counts.Unchanged += uint64(len(rows))
		is.IDs = was.IDs
		w.now[key] = is
		return
	}
	version := w.stream.Source.Versions.Take(len(rows))
	bad := map[string]bool{} // by key in quarantine
	for _, raw := range rows {
		row := w.row(key, raw, etag, version, at)
		if row.Bad {
			bad[row.Key] = true
		}
		if row.ID != "" && key == whole {
			is.IDs = append(is.IDs, row.ID)
		}
		if row.Fresh && key != whole {
			is.Row = version
		}
		version++
	}
	switch {
	case key == whole:
		slices.Sort(is.IDs)
		is.IDs = slices.Compact(is.IDs)
		w.replaced(was.IDs, is.IDs, bad, at)
	case len(bad) > 0:
		is = part{} // so that it is asked for whole the next time
	}
	w.now[key] = is
}

// row maps a row into the commit.
func (w *walk) row(key string, raw []byte, etag string, version uint64, at time.Time) write.Row {
	if key == whole {
		return w.in.Row(w.mapper, raw, version, at, write.RowContext{})
	}
	var menu struct {
		LocationID string `json:"location_id"`
	}
	known := mapping.Unmarshal(raw, &menu) == nil // else the mapping says what is wrong
	if other := menu.LocationID; known && other != "" && other != key {
		return w.in.Quarantine(key, "location_id", fmt.Sprintf("it is the menu of another location: %.200q", other), "it is the menu of another location", raw, version, at)
	}
	return w.in.Row(w.mapper, raw, version, at, write.RowContext{ID: key, Columns: []string{etag}})
}

// replaced removes what a list had and has no more, and closes the open entries whose rows are
// not bad in it: they are good now, or are not there any more.
func (w *walk) replaced(before, now []string, bad map[string]bool, at time.Time) {
	for key := range w.stream.Writer.Quarantined() {
		if !bad[key] && !slices.Contains(w.in.Commit.Released, key) {
			w.in.Release(key)
		}
	}
	for _, id := range before {
		if _, still := slices.BinarySearch(now, id); !still {
			w.remove(id, write.ReasonGone, at)
		}
	}
}

// remove removes a row, unless another source of the restaurant has it. It marks that first,
// where those look: of two that find a row gone at the same time, one removes it.
func (w *walk) remove(id, reason string, at time.Time) {
	version := w.stream.Source.Versions.Take(1)
	w.mark(id)
	if !w.stream.elsewhere(id) {
		w.in.Remove(id, reason, version, at)
	}
}

// mark has the source not have a row any more.
func (w *walk) mark(id string) {
	w.stream.mu.Lock()
	defer w.stream.mu.Unlock()
	w.stream.withdrawing[id] = true
}

// withdraw removes the menu of a location, where one is stored.
func (w *walk) withdraw(location, reason string, at time.Time) {
	if _, known := w.now[location]; !known {
		w.mark(location)
		return
	}
	delete(w.now, location)
	if w.stream.Writer.MaybeQuarantined(location) {
		w.in.Release(location)
	}
	w.remove(location, reason, at)
}

// next begins an intake.
func (w *walk) next() {
	w.in = w.stream.Writer.Begin(w.number, len(w.wanted))
	w.in.All, w.in.Rewrite = true, w.rewrite
}

// hand stores what was brought, and the last one the run of a walk that has written something. An
// intake in which nothing has changed waits for the next one.
func (w *walk) hand(ctx context.Context, last bool) error {
	st, in, position, rows := w.stream, w.in, w.now.position(), 0
	w.wrote = w.wrote || !in.Empty()
	last = last && w.wrote
	if in.Empty() && position == w.position && !last {
		return nil
	}
	for key := range w.now {
		rows += len(w.now.idsOf(key))
	}
	in.Commit.Checkpoint = &sinks.Checkpoint{
		Source: st.Source.Name, Stream: st.Def.Name, Walk: st.walkKind(), Business: in.Commit.Business, Position: position,
		Done: true, Pages: in.Counts.Pages, Rows: uint64(rows), Tombstones: in.Counts.Tombstones,
		StartedAt: w.run.StartedAt, UpdatedAt: st.Source.ServiceNow().UTC(),
	}
	if in.Counts.AddTo(&w.run); last {
		w.run.FinishedAt = time.Now()
		in.Commit.Run = &w.run
	}
	w.next()
	if err := st.Writer.Store(ctx, in); err != nil {
		w.failed = true
		return err
	}
	w.position = position
	st.Writer.Prune(forever, w.number)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.stored = maps.Clone(w.now)
	return nil
}

// forever is later than any updated_at.
var forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
