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
	"github.com/larder-sync/larder/syncer/write"
)

// walk follows one cursor list from where its checkpoint stands to has_more:
// false. Each page's rows and the checkpoint behind them travel in one commit, so
// a crash loses nothing.
type walk struct {
	list   *List
	number uint64 // of the stream, for dedupe
	mapper *mapping.Mapper

	cp   checkpoint
	mark Watermark // of cp
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

// follow walks to the end and waits until all of it is durable.
func (w *walk) follow(ctx context.Context) error {
	farthest := w.cp.Since
	for refusals := 1; ; refusals++ {
		err := w.pages(ctx)
		if err == nil {
			break
		}
		if !api.IsValidation(err) || w.cp.Cursor == "" {
			return err
		}
		if err := w.window.wait(ctx, 0); err != nil {
			return err
		}
		begin := w.mark.Restart()
		if begin.After(farthest) {
			farthest, refusals = begin, 1
		}
		if refusals > MaxRefusals {
			return &StuckError{refusals, begin, err}
		}
		w.restart(begin)
	}
	if err := w.window.wait(ctx, 0); err != nil {
		return err
	}
	w.publish(true)
	return nil
}

// pages takes the pages from the checkpoint's cursor on.
func (w *walk) pages(ctx context.Context) error {
	for p, err := range api.Follow(w.cp.Cursor, func(cursor string) (Page, error) { return w.ask(ctx, cursor) }) {
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

// ask fetches one page, as soon as the window has a place for it. See [write.VersionClock] for
// when its versions are taken.
func (w *walk) ask(ctx context.Context, cursor string) (p Page, err error) {
	if err := w.window.wait(ctx, w.window.limit()-1); err != nil {
		return Page{}, err
	}
	source := w.list.Source
	reserved, versions := 0, uint64(0)
	reserve := func(rows int) { reserved, versions = rows, source.Versions.Take(rows) }
	before := w.long() || w.list.Def.Pushed != nil
	if before {
		reserve(api.PageLimit)
	}
	asked := time.Now()
	p, err = w.list.Fetch(ctx, w.cp.Walk, w.cp.Since, cursor)
	if !before {
		reserve(len(p.Rows))
	}
	p.took, p.reserved, p.versions = time.Since(asked), reserved, versions
	return p, err
}

// take maps a page, hands it to the sink together with the checkpoint behind it,
// and remembers what was written.
func (w *walk) take(ctx context.Context, p Page) error {
	st := w.list
	w.window.paged(p.took)
	if w.long() {
		st.pace.Page(time.Now())
	}
	if w.cp.Walk == sinks.WalkFull && st.state.read().indebted() {
		return errors.Join(errOvertaken, w.window.wait(ctx, 0))
	}
	if !p.PassedBy.IsZero() {
		if err := w.window.wait(ctx, 0); err != nil { // what was listed is not asked for again
			return err
		}
		if err := st.refetchOpen(ctx, p.PassedBy); err != nil {
			return err
		}
	}
	left, err := st.leftOut(ctx, p)
	if err != nil {
		return err
	}
	stored, err := st.Forgotten.Storing(ctx)
	if err != nil {
		return err
	}
	defer stored()
	in := w.read(p, left)
	if in.BadRows() > 0 && st.Writer.Full() {
		return errors.Join(errTooManyBad, w.window.wait(ctx, 0)) // whoever reads this finds the rows there
	}
	w.advance(p, in)
	if in.Empty() && !w.long() && (p.HasMore || !w.dirty) && !slices.Contains(left.rows, true) {
		in.CountRows()
		w.publish(false)
		return nil
	}
	cp := w.cp.encoded()
	in.Commit.Checkpoint = &cp
	if !p.HasMore {
		w.run.FinishedAt = time.Now()
		run := w.run
		in.Commit.Run = &run
	}
	in.Detach(p.Bytes)
	receipt, err := st.Writer.Write(ctx, in)
	if err != nil {
		return err
	}
	w.window.receipts = append(w.window.receipts, receipt)
	if left.rows != nil {
		st.handed.add(left.live, receipt)
	}
	w.dirty = true
	in.Remember()
	w.publish(false)
	return nil
}

// read maps the rows of a page but those that are left out, and moves the watermark along all
// of them: else walks would begin ever farther back while only other locations change.
func (w *walk) read(p Page, left leftOut) *write.Intake {
	st := w.list
	in := st.Writer.Begin(w.number, len(p.Rows))
	in.All, in.Rewrite = !w.long(), w.cp.Walk == sinks.WalkFull
	in.Counts.Requests, in.Counts.Pages = uint64(p.Attempts), 1
	in.Floor = st.state.read().floor()
	fetched := p.at
	if st.Def.Pushed != nil {
		fetched = p.came // as what is sent has it: it tells which of the two was first
	}
	for i, raw := range p.Rows {
		if left.rows != nil && left.rows[i] {
			w.mark.observe(write.UpdatedAt(raw), p.at)
			continue
		}
		version := p.versions + uint64(i)
		if i >= p.reserved { // the page is longer than was asked for
			version = st.Source.Versions.Take(1)
		}
		t := in.Row(w.mapper, st.Forgotten.Order(raw), version, fetched, write.RowContext{Columns: st.Def.Polled})
		switch {
		case !w.counted.IsZero() && !t.UpdatedAt.After(w.counted): // it may be in the checkpoint's counts
		case t.Tombstone && t.Fresh:
			w.cp.Tombstones++
		case !t.Bad || !t.Fresh:
			w.cp.Rows++
		}
		if w.mark.observe(t.UpdatedAt, p.at) && t.Fresh {
			st.Source.Log.Warn("a row is dated in the future: it is stored, and does not move the watermark",
				"stream", st.Def.Name, "id", t.ID, "updated_at", t.UpdatedAt, "service_clock", p.at)
		}
	}
	return in
}

// advance moves the checkpoint behind the page.
func (w *walk) advance(p Page, in *write.Intake) {
	cp := &w.cp
	if !w.long() && cp.Pages == 0 {
		w.mark.answered(p.at, p.took)
	}
	cp.Pages++
	c := in.Counts
	w.run.Pages++
	w.run.Requests += c.Requests
	w.run.Rows += c.Upserts
	w.run.Unchanged += c.Unchanged
	w.run.Tombs += c.Tombstones
	w.run.Quarantined += c.Quarantined
	cp.UpdatedAt = p.at
	cp.Cursor = p.NextCursor
	if p.HasMore {
		return
	}
	w.mark.done()
	switch lost := cp.phase.Name == phaseCursorLost; {
	case w.long() && lost:
		w.beginAgain()
		cp.phase.Name = phaseAgain
	case cp.Walk == sinks.WalkFull:
		cp.phase.Name = phaseWalked
	case cp.Walk == sinks.WalkBackfill:
		cp.Done, cp.phase.Name = true, phaseNone
	}
}

// long reports whether the walk brings the whole list.
func (w *walk) long() bool { return w.cp.Walk != sinks.WalkIncremental }

// restart prepares the walk to go on after a refused cursor (DESIGN R3): from the
// last durable watermark minus the lookback.
func (w *walk) restart(begin time.Time) {
	cp := &w.cp
	unfiltered := w.long() && cp.Since.IsZero()
	if cp.phase.Name != phaseAgain {
		cp.Since = begin
	}
	cp.Cursor, w.mark.last = "", time.Time{}
	switch {
	case !w.long():
	case cp.Since.Equal(w.list.Def.BackfillSince):
		w.beginAgain()
	default:
		if w.counted = cp.Watermark; w.mark.disordered() { // what comes again is not told apart
			w.counted, cp.Rows, cp.Tombstones = time.Time{}, 0, 0
		}
		cp.phase.AtLeast = true
		if unfiltered {
			cp.phase.Name = phaseCursorLost
		}
	}
	w.list.Source.Log.Warn("the service refused the cursor, the walk starts again",
		"stream", w.list.Def.Name, "walk", cp.Walk, "since", cp.Since)
}

// beginAgain has a long walk begin at the start of its list: it counts anew.
func (w *walk) beginAgain() {
	cp := &w.cp
	cp.Since, cp.Rows, cp.Tombstones = w.list.Def.BackfillSince, 0, 0
	cp.phase.AtLeast, w.counted = false, time.Time{}
}

// publish shows the walk's progress to the stream and to the next walk. It is done
// when all of it is durable: others then ask the sink about what it brought.
func (w *walk) publish(durable bool) {
	cp := w.cp
	if !durable {
		cp.Done = false
		if cp.phase.Name == phaseWalked {
			cp.phase.Name = phaseNone
		}
	}
	w.list.state.moved(cp)
}
