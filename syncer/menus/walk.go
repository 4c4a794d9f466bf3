package menus

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

// Walk asks for the menu of each location, and stores what has changed.
func (st *Stream) Walk(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkMenus, func(ctx context.Context) error {
		w, err := st.begin(ctx)
		if err != nil {
			return err
		}
		defer w.end()
		err = errors.Join(w.locations(ctx), w.hand(ctx), w.recordRest(ctx), w.await(ctx))
		w.complete = err == nil
		return err
	})
}

// walk is one walk under way.
type walk struct {
	stream   *Stream
	started  time.Time
	wanted   []string           // the locations asked for
	now      map[string]version // what is stored when all that was handed over is durable
	number   uint64
	rewrite  bool // every row is written
	complete bool // it came to its end

	mapper *mapping.Mapper
	in     *write.Intake // what is handed over next
	moved  bool          // now differs from the position that was handed over last
	handed []handed

	total write.Counts // of everything handed over
	ran   bool         // a run of the walk was handed over
}

// handed is an intake that was handed to the sink, with the receipt to wait on until it is
// durable.
type handed struct {
	in      *write.Intake
	receipt *sinks.Receipt
}

// begin begins a walk.
func (st *Stream) begin(ctx context.Context) (*walk, error) {
	w := &walk{
		stream: st, started: time.Now(), wanted: st.Source.Usable(st.Source.Identity()), number: st.Writer.NextWalk(), mapper: st.Def.Plan.NewMapper(),
	}
	st.mu.Lock()
	w.now, w.rewrite = maps.Clone(st.stored), st.doubted
	checked := st.checked && !w.rewrite
	st.mu.Unlock()
	if !checked {
		if err := w.check(ctx); err != nil {
			return nil, err
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.checked, st.doubted = true, false
	st.bringing, st.withdrawing = map[string]bool{}, map[string]bool{}
	for _, l := range w.wanted {
		st.bringing[l] = true
	}
	w.next()
	return w, nil
}

// end notes in the stream how the walk has ended.
func (w *walk) end() {
	st := w.stream
	st.mu.Lock()
	defer st.mu.Unlock()
	st.bringing, st.withdrawing = nil, nil
	switch {
	case w.rewrite && w.complete:
		st.brought = w.started
	case w.rewrite:
		st.doubted = true
	}
}

// check compares the stored versions with the rows in the warehouse. A menu whose row is
// missing, or is not the one that the stored version names, is asked for without an ETag. In a
// full resync, a row without a stored version joins them, so that it is removed when its
// location is not asked for.
func (w *walk) check(ctx context.Context) error {
	q := sinks.LiveQuery{Table: w.stream.Def.Name, Business: w.stream.Source.Business()}
	rows, err := w.stream.Source.Sink.Live(ctx, q)
	if err != nil {
		return fmt.Errorf("read the live rows: %w", err)
	}
	live := map[string]uint64{}
	for _, r := range rows {
		live[r.ID] = r.Version
	}
	for l, is := range w.now {
		if row, there := live[l]; !there || row != is.Row {
			w.now[l] = version{}
		}
	}
	if !w.rewrite {
		return nil
	}
	q.Source = w.stream.Source.Name
	if rows, err = w.stream.Source.Sink.Live(ctx, q); err != nil {
		return fmt.Errorf("read the live rows of the source: %w", err)
	}
	for _, r := range rows {
		if _, known := w.now[r.ID]; !known {
			w.now[r.ID] = version{}
		}
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

// ofOneLocation is true of an error that need not meet the next location too.
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
	a, err := st.Def.Menu(ctx, st.Source.Lanes.Backfill, location, etag)
	w.in.Counts.Requests++
	if api.IsNotFound(err) {
		e, _ := errors.AsType[*api.Error](err)
		w.withdraw(location, write.ReasonGone, st.Source.AnswerTime(e.Date))
		return nil
	}
	if err != nil {
		return err
	}
	// Before the next one is asked for: the sink counts what it has itself.
	defer a.Release()
	at := st.Source.AnswerTime(a.Date)
	st.Source.Metrics.Paged(st.Source.Name, st.Def.Name, sinks.WalkMenus)
	w.in.Counts.Pages++
	switch {
	case a.Unchanged && was.confirms(a):
		w.in.Counts.Unchanged++
	case a.Unchanged: // of another version than the one that was asked about
		w.in.Counts.Unchanged++
		w.know(location, version{Digest: was.Digest, Row: was.Row})
	default:
		w.take(location, a, at)
		return w.hand(ctx)
	}
	return nil
}

// take takes a menu in, unless it is the one that is stored.
func (w *walk) take(location string, a api.MenuAnswer, at time.Time) {
	is := version{ETag: a.ETag, Digest: digestOf(a.Raw), Row: w.now[location].Row}
	if is.Digest == w.now[location].Digest && !w.rewrite {
		w.in.Counts.Unchanged++
		w.know(location, is)
		return
	}
	v := w.stream.Source.Versions.Take(1)
	if other := locationOf(a.Raw); other != "" && other != location {
		w.in.Quarantine(location, "location_id", fmt.Sprintf("it is the menu of another location: %.200q", other), "it is the menu of another location", a.Raw, v, at)
		w.know(location, version{})
		return
	}
	row := w.in.Row(w.mapper, a.Raw, v, at, write.RowContext{ID: location, Columns: []string{a.ETag}})
	switch {
	case row.Bad:
		is = version{}
	case row.Fresh:
		is.Row = v
	}
	w.know(location, is)
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

// know notes what is stored of a location from now on.
func (w *walk) know(location string, is version) {
	if before, known := w.now[location]; !known || before != is {
		w.now[location], w.moved = is, true
	}
}

// withdraw removes the menu of a location. It marks that first, where other sources of the
// restaurant look: of two that find the menu gone at the same time, one removes it.
func (w *walk) withdraw(location, reason string, at time.Time) {
	st := w.stream
	v := st.Source.Versions.Take(1)
	st.mu.Lock()
	st.withdrawing[location] = true
	st.mu.Unlock()
	if _, known := w.now[location]; !known {
		return
	}
	delete(w.now, location)
	w.moved = true
	if st.Writer.MaybeQuarantined(location) {
		w.in.Release(location)
	}
	if !st.elsewhere(location) {
		w.in.Remove(location, reason, v, at)
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
	if err := w.note(); err != nil {
		return err
	}
	return w.give(ctx)
}

func (w *walk) give(ctx context.Context) error {
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
		if err := h.receipt.Wait(ctx); err != nil {
			return fmt.Errorf("wait for the warehouse: %w", err)
		}
		h.in.Remember()
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

// note adds the checkpoint, and the run of a walk that brought something.
func (w *walk) note() error {
	text, err := json.Marshal(position{w.now})
	if err != nil {
		return fmt.Errorf("versions of menus: %w", err)
	}
	s, c := w.stream.Source, w.in.Counts
	w.in.Commit.Checkpoint = &sinks.Checkpoint{
		Source: s.Name, Stream: w.stream.Def.Name, Walk: sinks.WalkMenus, Business: w.in.Commit.Business, Position: string(text),
		Done: true, Pages: c.Pages, Rows: uint64(len(w.now)), Tombstones: c.Tombstones, StartedAt: w.started, UpdatedAt: s.ServiceNow().UTC(),
	}
	w.run(!w.in.Empty())
	return nil
}

// run adds the run of the walk so far to what is handed over next, once something was written.
// A walk is one run: the last version of it counts.
func (w *walk) run(writes bool) {
	w.total.Add(w.in.Counts)
	if w.ran = w.ran || writes; !w.ran {
		return
	}
	c := w.total
	w.in.Commit.Run = &sinks.Run{
		Source: w.stream.Source.Name, Stream: w.stream.Def.Name, Walk: sinks.WalkMenus, StartedAt: w.started, FinishedAt: time.Now(),
		Requests: c.Requests, Pages: c.Pages, Rows: c.Upserts, Unchanged: c.Unchanged, Tombs: c.Tombstones, Quarantined: c.Quarantined,
	}
}

// recordRest stores the run once more, with the locations that were asked for behind the last
// one that was written.
func (w *walk) recordRest(ctx context.Context) error {
	if !w.ran || w.in.Counts == (write.Counts{}) {
		return nil
	}
	w.run(false)
	return w.give(ctx)
}
