package list

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// page is one page of a list, and what its walk notes beside it.
type page struct {
	api.Page
	at time.Time // when it was answered: see [stream.Stream.AnsweredAt]

	versions uint64 // the first of the versions reserved for its rows
	reserved int
	took     time.Duration
}

// walk follows one cursor list from where its checkpoint stands to has_more:
// false. Each page's rows and the checkpoint behind them travel in one commit, so
// a crash loses nothing; the next page is asked for while this one is mapped.
type walk struct {
	list   *List
	number uint64          // of the stream, for dedupe
	mapper *mapping.Mapper // nil until there is a row

	cp Checkpoint
	// counted: rows up to this instant may be in the counts of cp; zero when none are.
	counted time.Time
	window  window
	run     sinks.Run
	// dirty: the sink holds a checkpoint of this walk that its end must replace.
	dirty bool
}

// MaxRefusals is how many times in a row one run goes on after a refused cursor and
// comes no further by it.
const MaxRefusals = 3

// errTooManyBad stops a walk in front of a page with more bad rows.
var errTooManyBad = fmt.Errorf("%d rows in quarantine, and still more cannot be understood: the walk waits in front of them, so that none is passed by; look at the view quarantine, and show it to the service", sinks.MaxOpen)

// errOvertaken stops a full resync that has begun before another became owed.
var errOvertaken = errors.New("another full resync is owed since this one began")

// follow walks to the end and waits until all of it is durable. After a refused cursor it goes on from
// the watermark (docs/rules.md R3).
func (w *walk) follow(ctx context.Context) error {
	cp, st := &w.cp, w.list
	farthest := cp.Since
	for refusals := 1; ; refusals++ {
		err := w.pages(ctx)
		if err == nil {
			break
		}
		if !api.IsValidation(err) || cp.Cursor == "" {
			return err
		}
		if err := w.window.wait(ctx, 0); err != nil {
			return err
		}
		begin := cp.Restart()
		if begin.After(farthest) {
			farthest, refusals = begin, 1
		}
		if refusals > MaxRefusals {
			return &StuckError{refusals, begin, err}
		}
		if cp.Walk == sinks.WalkBackfill && cp.Since.IsZero() && !begin.IsZero() {
			// Rows without updated_at come in no walk from an instant.
			if err := st.Owe(ctx); err != nil {
				return err
			}
		}
		cp.Since, cp.Cursor, cp.last = begin, "", time.Time{}
		if w.long() {
			w.counted, cp.phase.AtLeast = cp.Watermark, !begin.Equal(st.Def.BackfillSince)
			// At its start again it counts anew, and so does a walk whose rows came in no order: rows
			// that repeat cannot be recognized.
			if !cp.phase.AtLeast || cp.disordered() {
				w.counted, cp.Pages, cp.Rows, cp.Tombstones = time.Time{}, 0, 0, 0
			}
		}
		st.Source.Log.Warn("the service refused the cursor, the walk starts again", "stream", st.Def.Name, "walk", cp.Walk, "since", begin)
	}
	w.window.patience = w.patience()
	if err := w.window.wait(ctx, 0); err != nil {
		return err
	}
	w.publish(true)
	return nil
}

// pages takes the pages from the checkpoint's cursor on. The next one is asked for while one
// is taken, as far as the window reaches.
func (w *walk) pages(ctx context.Context) error {
	since := w.cp.Since
	ask := func(ctx context.Context, cursor string) (page, error) { return w.ask(ctx, since, cursor) }
	// One more page may be asked for while one of this walk has not been handed to the sink.
	place := func(ctx context.Context) error { return w.window.wait(ctx, w.window.limit()-2) }
	for p, err := range api.Follow(ctx, w.cp.Cursor, ask, place) {
		if err == nil {
			err = w.take(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// StuckError ends a walk whose cursors the service refuses one after the other.
type StuckError struct {
	refusals int
	Since    time.Time
	err      error
}

func (e *StuckError) Error() string {
	from := "the start of the list"
	if e.Since.After(registry.MirrorStart) {
		from = "what changed since " + e.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("the service has refused %d cursors of this walk, and it came no further in between; it is tried again from %s. "+
		"If that goes on, ask the service how long its cursors are valid, and give Larder a larger budget_share if it is a small one: %v", e.refusals, from, e.err)
}

func (e *StuckError) Unwrap() error { return e.err }

// ask fetches one page. See [write.VersionClock] for when its versions are taken.
func (w *walk) ask(ctx context.Context, since time.Time, cursor string) (p page, err error) {
	versions, asked := w.list.Source.Versions, time.Now()
	if w.long() || w.list.Def.Pushed != nil {
		p.versions, p.reserved = versions.Take(api.PageLimit), api.PageLimit
	}
	if p.Page, err = w.list.Fetch(ctx, w.cp.Walk, since, cursor); err != nil {
		return p, err
	}
	if p.reserved == 0 {
		p.versions, p.reserved = versions.Take(len(p.Rows)), len(p.Rows)
	}
	p.at, p.took = w.list.AnsweredAt(p.Date), time.Since(asked)
	return p, nil
}

// take maps a page, hands it to the sink together with the checkpoint behind it,
// and remembers what was written.
func (w *walk) take(ctx context.Context, p page) error {
	st := w.list
	w.window.pace = p.took
	if w.long() {
		st.pace.Page(time.Now())
	}
	if w.cp.Walk == sinks.WalkFull && st.state.read().indebted() {
		return errors.Join(errOvertaken, w.window.wait(ctx, 0))
	}
	if !p.PassedBy.IsZero() {
		if err := w.refetchOpen(ctx, p.PassedBy); err != nil {
			return err
		}
	}
	left, err := w.leftOut(ctx, p)
	if err != nil {
		return err
	}
	if err := w.recall(ctx, p); err != nil {
		return err
	}
	stored, err := st.Forgotten.Storing(ctx)
	if err != nil {
		return err
	}
	defer stored()
	in := w.read(p, left)
	if in.Opens() > 0 && st.Writer.Full() {
		return errors.Join(errTooManyBad, w.window.wait(ctx, 0)) // whoever reads this finds the rows there
	}
	w.advance(p, in)
	if in.Empty() && !w.long() && (p.HasMore || !w.dirty) && !slices.Contains(left, true) {
		in.CountRows()
		w.publish(false)
		return nil
	}
	cp := w.cp.encoded()
	in.Commit.Checkpoint = &cp
	if !p.HasMore {
		w.run.FinishedAt = time.Now()
		in.Commit.Run = &w.run
	}
	in.Detach(p.Bytes)
	receipt, err := st.Writer.Write(ctx, in)
	if err != nil {
		return err
	}
	w.window.receipts = append(w.window.receipts, receipt)
	w.dirty = true
	in.Remember()
	w.publish(false)
	return nil
}

// recall remembers which rows of a page are stored just like this. The lookback of the first incremental
// walk brings rows that the process before this one has written.
func (w *walk) recall(ctx context.Context, p page) error {
	st := w.list
	if w.long() || st.lookback.IsZero() {
		return nil
	}
	rows, ids := map[string][]byte{}, []string(nil)
	for _, raw := range p.Rows {
		var row struct {
			ID string `json:"id"`
		}
		if write.UpdatedAt(raw).After(st.lookback) || mapping.Unmarshal(raw, &row) != nil || st.Writer.MaybeQuarantined(row.ID) {
			continue
		}
		if _, twice := rows[row.ID]; !twice {
			ids = append(ids, row.ID)
		}
		rows[row.ID] = st.Forgotten.Order(raw)
	}
	if len(ids) == 0 {
		return nil
	}
	hashes, err := st.Source.Sink.Hashes(ctx, sinks.HashQuery{Table: st.Def.Name, Business: st.Source.Business(), IDs: ids})
	if err != nil {
		return fmt.Errorf("compare the rows of the lookback with those stored: %w", err)
	}
	for _, h := range hashes {
		if raw := rows[h.ID]; h.Hash == sinks.HashOf(raw) {
			st.Writer.Recall(h.ID, raw, h.Version, w.number)
		}
	}
	return nil
}

// read maps the rows of a page but those that are left out, and moves the watermark along all
// of them: else walks would begin ever farther back while only other locations change.
func (w *walk) read(p page, left []bool) *write.Intake {
	st := w.list
	in := st.Writer.Begin(w.number, len(p.Rows))
	in.All, in.Rewrite = !w.long(), w.cp.Walk == sinks.WalkFull
	in.Counts.Requests, in.Counts.Pages = uint64(p.Attempts), 1
	in.Floor = st.state.read().floor()
	if w.mapper == nil && len(p.Rows) > 0 {
		w.mapper = st.Def.Plan.NewMapper()
	}
	for i, raw := range p.Rows {
		if left != nil && left[i] {
			w.cp.observe(write.UpdatedAt(raw), p.at)
			continue
		}
		version := p.versions + uint64(i)
		if i >= p.reserved { // the page is longer than was asked for
			version = st.Source.Versions.Take(1)
		}
		t := in.Row(w.mapper, st.Forgotten.Order(raw), version, p.at, write.RowContext{Columns: st.Def.Polled})
		switch {
		case !w.counted.IsZero() && !t.UpdatedAt.After(w.counted): // it may be in the checkpoint's counts
		case t.Tombstone && t.Fresh:
			w.cp.Tombstones++
		case !t.Bad || !t.Fresh:
			w.cp.Rows++
		}
		if w.cp.observe(t.UpdatedAt, p.at) && t.Fresh {
			st.Source.Log.Warn("a row is dated in the future: it is stored, and does not move the watermark",
				"stream", st.Def.Name, "id", t.ID, "updated_at", t.UpdatedAt, "service_clock", p.at)
		}
	}
	return in
}

// advance moves the checkpoint behind the page.
func (w *walk) advance(p page, in *write.Intake) {
	cp := &w.cp
	if !w.long() && cp.Pages == 0 {
		cp.answered(stream.Earlier(p.at, p.Date), p.took)
	}
	cp.Pages++
	in.Counts.AddTo(&w.run)
	cp.UpdatedAt = p.at
	cp.Cursor = p.NextCursor
	if p.HasMore {
		return
	}
	cp.ended()
	cp.phase.Walked, cp.Done = cp.Walk == sinks.WalkFull, cp.Walk == sinks.WalkBackfill
}

// patience is how long after the last flush that of the walk's end may be. For the walk of a turn nobody
// waits: of a fleet that changes all the time it lets the sink write less often. It ends well before the
// next turn all the same.
func (w *walk) patience() time.Duration {
	st := w.list
	if w.long() || st.Hurried() {
		return 0
	}
	return min(4*st.Source.FlushInterval, 4*time.Second, st.Source.Timetable().Interval(st.Def.Job, time.Now())/3)
}

// long reports whether the walk brings the whole list.
func (w *walk) long() bool { return w.cp.Walk != sinks.WalkIncremental }

// publish shows the walk's progress to the stream and to the next walk. It is done
// when all of it is durable: others then ask the sink about what it brought.
func (w *walk) publish(durable bool) {
	cp := w.cp
	if !durable {
		cp.Done, cp.phase.Walked = false, false
	}
	w.list.state.moved(cp)
}
