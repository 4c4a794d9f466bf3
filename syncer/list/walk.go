package list

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/write"
)

// walk follows one cursor list from where its checkpoint stands to has_more:
// false. Each page's rows and the checkpoint behind them travel in one commit, so
// a crash loses nothing; the next page is asked for while this one is mapped.
type walk struct {
	walks  *LocationWalks
	kind   string // sinks.WalkIncremental, sinks.WalkBackfill, sinks.WalkFull
	number uint64 // of the stream, for dedupe
	mapper *mapping.Mapper

	// begun is when the walk was at the start of its list; zero when another run of it
	// was.
	begun time.Time

	progress Progress
	tally    tally        // of a long walk
	again    write.Counts // of the page at hand: rows that the tally has counted
	asks     *api.Asks    // requests that no page has told of yet
	window   window
	run      sinks.Run
	// dirty: the sink holds a checkpoint of this walk that its end must replace.
	dirty bool
	// durable: all that the walk brought is.
	durable bool
}

// MaxRefusals is how many times in a row one run goes on after a refused cursor and
// comes no further by it.
const MaxRefusals = 3

// errTooManyBad stops a walk in front of a page with more bad rows.
var errTooManyBad = fmt.Errorf("%d rows in quarantine, and still more cannot be understood: the walk waits in front of them, so that none is passed by; look at the view quarantine, and show it to the service", write.MaxEntries)

// follow walks to the end and waits until all of it is durable.
func (w *walk) follow(ctx context.Context) error {
	farthest := w.progress.Cp.Since
	for refusals := 1; ; refusals++ {
		err := w.pages(ctx)
		if err == nil {
			break
		}
		if !api.IsValidation(err) || w.progress.Cp.Cursor == "" {
			return err
		}
		if err := w.window.drain(ctx); err != nil {
			return err
		}
		if begin := w.progress.Restart(); begin.After(farthest) {
			farthest, refusals = begin, 1
		}
		if refusals > MaxRefusals {
			return &StuckError{refusals, w.progress.Restart(), err}
		}
		w.restart()
	}
	if err := w.window.drain(ctx); err != nil {
		return err
	}
	w.durable = true
	w.publish()
	return nil
}

// pages takes the pages from the checkpoint's cursor on. The next one is asked for while one
// is taken, as far as the window reaches.
func (w *walk) pages(ctx context.Context) error {
	for p, err := range api.Follow(ctx, w.progress.Cp.Cursor, w.ask, w.window.next) {
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
func (w *walk) ask(ctx context.Context, cursor string) (p Page, err error) {
	source := w.walks.stream.Source
	reserved, versions := 0, uint64(0)
	reserve := func(rows int) { reserved, versions = rows, source.Versions.Take(rows) }
	before := w.kind != sinks.WalkIncremental || w.walks.stream.Def.Pushed != nil
	if before {
		reserve(api.PageLimit)
	}
	asked := time.Now()
	p, err = w.walks.Fetch(ctx, w.kind, w.progress.Cp.Since, cursor)
	if !before {
		reserve(len(p.Rows))
	}
	p.took, p.reserved, p.versions = time.Since(asked), reserved, versions
	return p, err
}

// version of the i-th row of a page; a page longer than was asked for gets
// versions of its own.
func (w *walk) version(p Page, i int) uint64 {
	if i < p.reserved {
		return p.versions + uint64(i)
	}
	return w.walks.stream.Source.Versions.Take(1)
}

// take maps a page, hands it to the sink together with the checkpoint behind it,
// and remembers what was written.
func (w *walk) take(ctx context.Context, p Page) error {
	w.paged(p)
	if !p.PassedBy.IsZero() {
		if err := w.window.drain(ctx); err != nil { // what was listed is not asked for again
			return err
		}
		if err := w.walks.stream.refetchOpen(ctx, p.PassedBy); err != nil {
			return err
		}
	}
	stored, err := w.walks.stream.Forgotten.Storing(ctx)
	if err != nil {
		return err
	}
	defer stored()
	in := w.read(p)
	if in.BadRows() > 0 && w.walks.stream.Writer.Full() {
		return errors.Join(errTooManyBad, w.window.drain(ctx)) // whoever reads this finds the rows there
	}
	in.Sighted(write.Sighting{List: w.walks.Name()})
	if !p.HasMore {
		w.releaseUnseen(in)
	}
	w.advance(p, in)
	if in.Empty() && w.kind == sinks.WalkIncremental && (p.HasMore || !w.dirty) {
		in.CountRows()
		w.publish()
		return nil
	}
	w.checkpoint(in.Commit, p)
	in.Detach(p.Bytes)
	receipt, err := w.walks.stream.Writer.Write(ctx, in)
	if err != nil {
		return err
	}
	w.window.add(receipt)
	w.dirty = true
	in.Remember()
	w.publish()
	return nil
}

// releaseUnseen closes the entries of rows without an id that the walk, whose last page is at
// hand, has not brought again.
func (w *walk) releaseUnseen(in *write.Intake) {
	since := w.progress.Cp.Since
	if w.begun.IsZero() {
		return // it began in another run, which saw its first pages
	}
	in.ReleaseUnseen(w.begun, func(s write.Sighting) bool {
		return s.List == w.walks.Name() && (since.IsZero() || !s.Updated.IsZero() && !s.Updated.Before(since))
	})
}

// paged notes at what pace pages come.
func (w *walk) paged(p Page) {
	w.window.paged(p.took)
	if w.long() {
		w.walks.stream.NotePage()
	}
}

// read maps the rows of a page.
func (w *walk) read(p Page) *write.Intake {
	st := w.walks.stream
	in := st.Writer.Begin(w.number, len(p.Rows))
	in.All = w.kind == sinks.WalkIncremental
	in.Rewrite = w.kind == sinks.WalkFull || w.kind == sinks.WalkBackfill && st.Full.Version() != 0
	in.Counts.Requests, in.Counts.Pages = w.asks.Take(), 1
	st.mu.Lock()
	in.Floor = w.walks.floor()
	st.mu.Unlock()
	w.again = write.Counts{}
	fetched := p.at
	if st.Def.Pushed != nil {
		fetched = p.came // as what is sent has it: it tells which of the two was first
	}
	for i, raw := range p.Rows {
		t := in.Row(w.mapper, st.Forgotten.Order(raw), w.version(p, i), fetched, write.RowContext{Columns: st.Def.Polled})
		before := w.progress.Cp.Watermark
		if w.progress.stamped(t.UpdatedAt, p.at) && t.Fresh {
			st.Source.Log.Warn("a row is dated in the future: it is stored, and does not move the watermark",
				"stream", st.Def.Name, "id", t.ID, "updated_at", t.UpdatedAt, "service_clock", p.at)
		}
		if w.long() && w.walks.came.repeats(t.UpdatedAt) {
			in.Repeated.Add(t.Counts())
		}
		if w.tally.repeats(t.UpdatedAt) {
			w.again.Add(t.Counts())
		} else {
			w.tally.count(t.UpdatedAt, before, w.progress.Cp.Watermark)
		}
	}
	return in
}

// advance moves the checkpoint behind the page.
func (w *walk) advance(p Page, in *write.Intake) {
	cp := &w.progress.Cp
	if w.kind == sinks.WalkIncremental && cp.Pages == 0 {
		w.progress.began(p.at, p.took)
	}
	first := in.Counts.Minus(w.again)
	cp.Pages++
	cp.Rows += first.Upserts + first.Unchanged
	cp.Tombstones += first.Tombstones
	w.run.Pages++
	w.run.Requests += in.Counts.Requests
	ran := in.Net()
	w.run.Rows += ran.Upserts
	w.run.Unchanged += ran.Unchanged
	w.run.Tombs += ran.Tombstones
	w.run.Quarantined += ran.Quarantined
	if w.long() {
		w.tally.Requests += in.Counts.Requests + w.walks.unrecorded.Swap(0)
		w.tally.in(cp)
	}
	cp.UpdatedAt = p.at
	cp.Cursor = p.NextCursor
	if !p.HasMore {
		w.finish()
	}
}

// checkpoint adds to a commit what is stored about the walk.
func (w *walk) checkpoint(c *sinks.Commit, p Page) {
	cp := w.progress.Cp
	c.Checkpoint = &cp
	if !p.HasMore {
		w.run.FinishedAt = time.Now()
		run := w.run
		c.Run = &run
	}
}

// finish closes the checkpoint of a walk whose last page is at hand.
func (w *walk) finish() {
	cp := &w.progress.Cp
	again := w.long() && phaseCursorLost.Is(*cp)
	w.progress.end()
	switch {
	case again:
		cp.Since = time.Time{}
		w.beginAgain(true, true)
		w.tally.in(cp)
		phaseAgain.in(cp)
	case w.kind == sinks.WalkFull:
		phaseWalked.in(cp)
	case w.kind == sinks.WalkBackfill:
		cp.Done, cp.Position = true, ""
		tally{Requests: w.tally.Requests}.in(cp)
	}
}

// long is true when the walk brings the whole list.
func (w *walk) long() bool { return w.kind != sinks.WalkIncremental }

// restart prepares the walk to go on after a refused cursor (DESIGN R3): from the
// last durable watermark minus the lookback.
func (w *walk) restart() {
	cp := &w.progress.Cp
	unfiltered, ordered := w.long() && cp.Since.IsZero(), !w.progress.disordered()
	if !phaseAgain.Is(*cp) {
		cp.Since = w.progress.Restart()
	}
	cp.Cursor, w.progress.last, w.begun = "", time.Time{}, time.Now()
	if unfiltered && !cp.Since.IsZero() {
		phaseCursorLost.in(cp)
	}
	if w.long() {
		w.beginAgain(cp.Since.Equal(w.walks.stream.Def.BackfillSince), ordered)
	}
	w.walks.stream.Source.Log.Warn("the service refused the cursor, the walk starts again",
		"stream", w.walks.Name(), "walk", w.kind, "since", cp.Since)
}

// beginAgain counts what comes from here on in a walk that begins again.
func (w *walk) beginAgain(whole, ordered bool) {
	mark := w.tally.AtMark
	if w.walks.came.Again.Equal(w.progress.Cp.Watermark) {
		mark = max(mark, w.walks.came.AtMark)
	}
	w.walks.came = tally{Again: w.progress.Cp.Watermark, AtMark: mark, Left: mark}
	w.tally.beginAgain(&w.progress.Cp, whole, ordered)
}

// publish shows the walk's progress to the stream and to the next walk. It is done
// when all of it is durable: others then ask the sink about what it brought.
func (w *walk) publish() {
	cp := w.progress.Cp
	if !w.durable {
		cp.Done = false
		if phaseWalked.Is(cp) {
			phaseNone.in(&cp)
		}
	}
	w.walks.moved(w.kind, cp)
}
