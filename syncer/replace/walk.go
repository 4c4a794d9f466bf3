package replace

import (
	"context"
	"encoding/json"
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
	stream  *Stream
	started time.Time
	wanted  []string // the locations asked for
	now     parts    // what is stored when all that was handed over is durable
	number  uint64
	rewrite bool // every row is written

	mapper *mapping.Mapper
	in     *write.Intake // what is handed over next
	moved  bool          // now differs from the position that was handed over last
	handed []handed

	total write.Counts // of everything handed over
	wrote bool         // some of it were rows
}

// handed is an intake that was handed to the sink, with the receipt to wait on until it is
// durable.
type handed struct {
	in      *write.Intake
	receipt *sinks.Receipt
}

// walk makes a walk whose parts bring brings.
func (st *Stream) walk(ctx context.Context, wanted []string, bring func(*walk, context.Context) error) error {
	w := &walk{stream: st, started: time.Now(), wanted: wanted, number: st.Writer.NextWalk(), mapper: st.Def.Plan.NewMapper()}
	st.mu.Lock()
	w.now, w.rewrite = maps.Clone(st.stored), st.doubted
	checked := st.checked && !w.rewrite
	st.mu.Unlock()
	if !checked {
		if err := w.check(ctx); err != nil {
			return err
		}
	}
	st.mu.Lock()
	st.doubted = false
	st.bringing, st.withdrawing = map[string]bool{}, map[string]bool{}
	for _, l := range wanted {
		st.bringing[l] = true
	}
	st.mu.Unlock()
	complete := false
	defer func() { // also when it panics
		if w.rewrite && complete {
			st.NoteWholeWalk(w.started)
		}
		st.mu.Lock()
		defer st.mu.Unlock()
		st.bringing, st.withdrawing = nil, nil
		st.doubted = st.doubted || w.rewrite && !complete
		st.checked = st.checked || complete // else what the check has found is not stored
	}()
	w.next()
	err := errors.Join(bring(w, ctx), w.hand(ctx), w.record(ctx), w.await(ctx))
	complete = err == nil
	return err
}

// check compares what is stored of menus with the rows in the warehouse. A menu whose row is
// missing, or is not the one that was stored, is asked for without an ETag. In a full resync,
// rows of the source that no part has join them, so that they are removed unless they come.
func (w *walk) check(ctx context.Context) error {
	st := w.stream
	q := sinks.LiveQuery{Table: st.Def.Name, Business: st.Source.Business()}
	if st.Ask == nil {
		rows, err := st.Source.Sink.Live(ctx, q)
		if err != nil {
			return fmt.Errorf("read the live rows: %w", err)
		}
		live := map[string]uint64{}
		for _, r := range rows {
			live[r.ID] = r.Version
		}
		for l, is := range w.now {
			if row, there := live[l]; !there || row != is.Row {
				w.now[l] = part{}
			}
		}
	}
	if !w.rewrite {
		return nil
	}
	q.Source = st.Source.Name
	rows, err := st.Source.Sink.Live(ctx, q)
	if err != nil {
		return fmt.Errorf("read the live rows of the source: %w", err)
	}
	list := w.now[whole]
	list.IDs = slices.Clone(list.IDs)
	for _, r := range rows {
		if _, known := w.now[r.ID]; st.Ask == nil && !known {
			w.now[r.ID] = part{}
		}
		list.IDs = append(list.IDs, r.ID)
	}
	if st.Ask != nil {
		slices.Sort(list.IDs)
		list.IDs = slices.Compact(list.IDs)
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
	// Before the next one is asked for: the sink counts what it has itself.
	defer a.Release()
	at := st.Source.AnswerTime(a.Date)
	w.paged()
	switch {
	case a.Unchanged && was.confirms(a):
		w.in.Counts.Unchanged++
	case a.Unchanged: // of another version than the one that was asked about
		w.in.Counts.Unchanged++
		w.know(location, part{Digest: was.Digest, Row: was.Row})
	default:
		w.take(location, [][]byte{a.Raw}, a.ETag, at)
		return w.hand(ctx)
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
	is := part{ETag: etag, Digest: digestOf(rows), Row: was.Row, IDs: was.IDs}
	if is.Digest == was.Digest && !w.rewrite {
		w.in.Counts.Unchanged += uint64(len(rows))
		w.know(key, is)
		return
	}
	version := w.stream.Source.Versions.Take(len(rows))
	is.IDs = nil
	bad := map[string]bool{} // by key in quarantine
	for _, raw := range rows {
		row := w.row(key, raw, etag, version, at)
		if row.Fresh {
			is.Row = version
		}
		if row.Bad {
			bad[row.Key] = true
		}
		if row.ID != "" {
			is.IDs = append(is.IDs, row.ID)
		}
		version++
	}
	slices.Sort(is.IDs)
	is.IDs = slices.Compact(is.IDs)
	if key != whole {
		if is.IDs = nil; len(bad) > 0 {
			is = part{} // so that it is asked for whole the next time
		}
		w.know(key, is)
		return
	}
	is.Row = 0
	w.replaced(was.IDs, is.IDs, bad, at)
	w.know(key, is)
}

// row maps a row into the commit.
func (w *walk) row(key string, raw []byte, etag string, version uint64, at time.Time) write.Row {
	if key == whole {
		return w.in.Row(w.mapper, raw, version, at, write.RowContext{})
	}
	if other := locationOf(raw); other != "" && other != key {
		return w.in.Quarantine(key, "location_id", fmt.Sprintf("it is the menu of another location: %.200q", other), "it is the menu of another location", raw, version, at)
	}
	return w.in.Row(w.mapper, raw, version, at, write.RowContext{ID: key, Columns: []string{etag}})
}

// locationOf is the location that a menu names as its own.
func locationOf(raw []byte) string {
	var menu struct {
		LocationID json.RawMessage `json:"location_id"`
	}
	var id string
	if mapping.Unmarshal(raw, &menu) != nil || mapping.Unmarshal(menu.LocationID, &id) != nil {
		return "" // the mapping says what is wrong
	}
	return id
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
	st := w.stream
	version := st.Source.Versions.Take(1)
	st.mu.Lock()
	st.withdrawing[id] = true
	st.mu.Unlock()
	if !st.elsewhere(id) {
		w.in.Remove(id, reason, version, at)
	}
}

// withdraw removes the menu of a location.
func (w *walk) withdraw(location, reason string, at time.Time) {
	if _, known := w.now[location]; !known {
		w.stream.mu.Lock()
		defer w.stream.mu.Unlock()
		w.stream.withdrawing[location] = true
		return
	}
	delete(w.now, location)
	w.moved = true
	if w.stream.Writer.MaybeQuarantined(location) {
		w.in.Release(location)
	}
	w.remove(location, reason, at)
}

// know notes what is stored of a part from now on.
func (w *walk) know(key string, is part) {
	before, known := w.now[key]
	if !known || before.ETag != is.ETag || before.Digest != is.Digest || before.Row != is.Row || !slices.Equal(before.IDs, is.IDs) {
		w.now[key], w.moved = is, true
	}
}

// next begins an intake.
func (w *walk) next() {
	w.in = w.stream.Writer.Begin(w.number, len(w.wanted))
	w.in.All, w.in.Rewrite = true, w.rewrite
}

// hand hands over what was brought. An intake in which nothing has changed waits for the next
// one.
func (w *walk) hand(ctx context.Context) error {
	if w.in.Empty() && !w.moved {
		return nil
	}
	position, err := w.now.position()
	if err != nil {
		return err
	}
	s, c := w.stream.Source, w.in.Counts
	w.in.Commit.Checkpoint = &sinks.Checkpoint{
		Source: s.Name, Stream: w.stream.Def.Name, Walk: w.stream.walkKind(), Business: w.in.Commit.Business, Position: position,
		Done: true, Pages: c.Pages, Rows: w.rows(), Tombstones: c.Tombstones, StartedAt: w.started, UpdatedAt: s.ServiceNow().UTC(),
	}
	w.wrote = w.wrote || !w.in.Empty()
	return w.give(ctx)
}

// rows is how many rows are stored.
func (w *walk) rows() (n uint64) {
	for key := range w.now {
		n += uint64(len(w.now.idsOf(key)))
	}
	return n
}

// give hands over the intake, and begins the next one.
func (w *walk) give(ctx context.Context) error {
	w.total.Add(w.in.Counts)
	r, err := w.stream.Writer.Write(ctx, w.in)
	if err != nil {
		return err
	}
	w.handed = append(w.handed, handed{w.in, r})
	w.moved = false
	w.next()
	return nil
}

// await waits until all of it is durable.
func (w *walk) await(ctx context.Context) error {
	st := w.stream
	w.in.CountPage()
	for _, h := range w.handed {
		if err := st.Writer.Await(ctx, h.in, h.receipt); err != nil {
			return err
		}
	}
	if len(w.handed) == 0 {
		return nil
	}
	st.Writer.Prune(forever, w.number)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.stored = maps.Clone(w.now)
	return nil
}

// forever is later than any updated_at.
var forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// record stores the run of a walk that has written something.
func (w *walk) record(ctx context.Context) error {
	if !w.wrote {
		return nil
	}
	c := w.total
	c.Add(w.in.Counts)
	w.in.Commit.Run = &sinks.Run{
		Source: w.stream.Source.Name, Stream: w.stream.Def.Name, Walk: w.stream.walkKind(), StartedAt: w.started, FinishedAt: time.Now(),
		Requests: c.Requests, Pages: c.Pages, Rows: c.Upserts, Unchanged: c.Unchanged, Tombs: c.Tombstones, Quarantined: c.Quarantined,
	}
	return w.give(ctx)
}
