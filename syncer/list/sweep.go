package list

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// The limits of a sweep (docs/rules.md R6).
const (
	sweepShare = 5                  // more than one in so many live rows
	sweepFew   = 100                // and more than so many: a person has to confirm
	AskFirst   = 50                 // up to so many are asked for one by one
	SampleSize = status.SweepSample // of more than that, so many
	sweepChunk = 1000               // rows of a commit
)

// consent is whether an operator has confirmed a sweep, and what was shown then: the sweep that was
// held, nil when none was.
type consent struct {
	given bool
	held  *status.SweepHeld
}

// covers reports whether the confirmation is of what was found since: of the rows that were shown,
// and of as many more as need none.
func (c consent) covers(sw *sweep) bool {
	switch {
	case !c.given:
		return false
	case sw.alive > 0 && (c.held == nil || c.held.Alive == 0):
		return false // they have not been told that the service still has them
	case c.held == nil:
		return true
	}
	return !suspicious(sw.unseen-min(sw.unseen, c.held.Rows), sw.live)
}

// sweep is one sweep of a list.
type sweep struct {
	list    *List
	query   sinks.LiveQuery // the rows that were not seen
	unseen  uint64
	live    uint64
	alive   int      // of those that were not seen and are too many to be asked for: how many of a sample the service still has
	usable  []string // locations that rows may be of
	figures sinks.Run

	// The open quarantine entries of the stream, by key. A full resync stores every bad row
	// again: their versions separate those whose rows were seen from those whose rows are missing.
	seen    map[string]bool
	missing []string
}

func suspicious(unseen, live uint64) bool {
	return unseen > sweepFew && unseen*sweepShare > live
}

// sweep removes what a complete full resync has not seen, unless that is so much
// that a person has to look (docs/rules.md R6).
func (st *List) sweep(ctx context.Context, confirmed consent) error {
	cp := st.state.read().full
	if !cp.phase.Walked || cp.FirstVersion == 0 {
		return errors.New("sweep without a full resync") // it would take every row for gone
	}
	sw := &sweep{
		list: st, usable: st.Source.Usable(st.Source.Identity()), query: st.Rows(),
		figures: sinks.Run{Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkSweep, StartedAt: time.Now()},
	}
	sw.query.Below, sw.query.Limit = cp.FirstVersion, sweepChunk
	if st.Def.ByKey { // only what the key may not see any more is removed
		sw.query.Except = sw.usable
	}
	if err := sw.examine(ctx); err != nil {
		return err
	}
	if (sw.alive > 0 || suspicious(sw.unseen, sw.live)) && !confirmed.covers(sw) {
		held := &status.SweepHeld{Source: st.Source.Name, Stream: st.Def.Name, Rows: sw.unseen, Live: sw.live, Alive: sw.alive, At: st.Source.ServiceNow().UTC()}
		st.Source.Log.Error("sweep held", "stream", st.Def.Name, "unseen", held.Rows, "live", held.Live, "next", held.Confirm())
		sw.figures.Error = held.Error()
		return sw.end(ctx, held)
	}
	for rows, err := range sinks.LivePages(ctx, st.Source.Sink, sw.query) {
		if err != nil {
			return fmt.Errorf("read what the full resync did not see: %w", err)
		}
		if err := sw.remove(ctx, rows); err != nil {
			return err
		}
	}
	if err := sw.closeEntries(ctx); err != nil {
		return err
	}
	return sw.end(ctx, nil)
}

// examine counts what the resync has not seen, and reads which quarantine entries are open. When the
// rows are too many to be asked for one by one, it asks for some: the list may have ended too early.
func (sw *sweep) examine(ctx context.Context) error {
	st, sink := sw.list, sw.list.Source.Sink
	open, err := sink.Quarantine(ctx, st.Source.Name, st.Def.Name)
	if err != nil {
		return fmt.Errorf("read the quarantine of %s: %w", st.Def.Name, err)
	}
	sw.seen = map[string]bool{}
	for _, q := range open {
		if q.Version >= sw.query.Below {
			sw.seen[q.Key()] = true
		} else {
			sw.missing = append(sw.missing, q.Key())
		}
	}
	if sw.unseen, err = sink.CountLive(ctx, sw.query); err != nil {
		return fmt.Errorf("count what the full resync did not see: %w", err)
	}
	if sw.live, err = sink.CountLive(ctx, st.Rows()); err != nil {
		return fmt.Errorf("count live rows: %w", err)
	}
	if sw.unseen <= AskFirst || st.Def.One == nil {
		return nil
	}
	rows, err := sink.Live(ctx, sw.query)
	if err != nil {
		return fmt.Errorf("read what the full resync did not see: %w", err)
	}
	// Those in quarantine were seen, and are all asked for.
	rows = slices.DeleteFunc(slices.Clone(rows), func(r sinks.LiveRow) bool { return sw.reason(r) != write.ReasonGone || sw.seen[r.ID] })
	var sample []string
	for i := range min(SampleSize, len(rows)) {
		sample = append(sample, rows[i*len(rows)/min(SampleSize, len(rows))].ID)
	}
	answers, err := sw.ask(ctx, sample)
	for _, a := range answers {
		if a.reason == "" { // whether or not it is understood
			sw.alive++
		}
	}
	return err
}

// ask asks for rows one by one.
func (sw *sweep) ask(ctx context.Context, ids []string) (map[string]*answer, error) {
	sw.figures.Requests += uint64(len(ids))
	answers := map[string]*answer{}
	for _, id := range ids {
		a, err := sw.list.askFor(ctx, sw.list.Source.Lanes.Backfill, id)
		if err != nil {
			return nil, err
		}
		answers[id] = a
	}
	return answers, nil
}

// reason is why a row that was not seen is removed.
func (sw *sweep) reason(r sinks.LiveRow) string {
	if r.Location != "" && !slices.Contains(sw.usable, r.Location) {
		return write.ReasonNoAccess
	}
	return write.ReasonGone
}

// remove removes some of the rows that the resync has not seen, or brings them up to date when the
// service still has them. A row that came and could not be understood was seen, and stays. When they
// are few, the service is asked for each of them first.
func (sw *sweep) remove(ctx context.Context, rows []sinks.LiveRow) error {
	st := sw.list
	rows = slices.DeleteFunc(slices.Clone(rows), func(r sinks.LiveRow) bool { return sw.seen[r.ID] })
	var first []string
	for _, r := range rows {
		lost := sw.reason(r) == write.ReasonNoAccess && len(st.Source.OnlyLocations) > 0
		if sw.unseen <= AskFirst && st.Def.One != nil && !lost {
			first = append(first, r.ID)
		}
	}
	answers, err := sw.ask(ctx, first)
	if err != nil {
		return err
	}
	return sw.store(ctx, func(in *write.Intake) {
		for _, r := range rows {
			reason := sw.reason(r)
			if a := answers[r.ID]; a != nil {
				a.into(in, st)
				if a.reason == "" {
					continue
				}
				if a.reason != write.ReasonGone { // of a row of a lost location, 404 does not say why
					reason = a.reason
				}
			}
			if st.Writer.MaybeQuarantined(r.ID) {
				in.Release(r.ID)
			}
			// Below every row that the resync or anything since brought, whatever the order
			// in which they become visible: only rows that were there before it are removed.
			in.Remove(r.ID, reason, sw.query.Below, st.Source.ServiceNow().UTC())
		}
	})
}

// closeEntries closes the quarantine entries of rows that the service has no more:
// no walk would bring them again. Where the API has a route for them, a few are
// asked for first, each full resync.
func (sw *sweep) closeEntries(ctx context.Context) error {
	var gone, first []string
	for _, key := range sw.missing {
		if _, nameless := sinks.ContentHash(key); nameless || sw.list.Def.One == nil { // the list has the row no more as it was
			gone = append(gone, key)
		} else if len(first) < AskFirst {
			first = append(first, key)
		}
	}
	answers, err := sw.ask(ctx, first)
	if err != nil {
		return err
	}
	return sw.store(ctx, func(in *write.Intake) {
		for _, a := range answers {
			if a.into(in, sw.list); a.reason != "" {
				gone = append(gone, a.id)
			}
		}
		for _, key := range gone {
			in.Release(key)
		}
	})
}

// store stores what fill puts into an intake.
func (sw *sweep) store(ctx context.Context, fill func(*write.Intake)) error {
	return sw.list.store(ctx, func(in *write.Intake) {
		in.Rewrite = true
		fill(in)
		in.Counts.AddTo(&sw.figures)
	})
}

// end closes the full resync. A sweep that is held has removed nothing.
func (sw *sweep) end(ctx context.Context, held *status.SweepHeld) error {
	st := sw.list
	sw.figures.FinishedAt = time.Now()
	cp := st.state.read().full
	cp.Done, cp.UpdatedAt = true, st.Source.ServiceNow().UTC()
	cp.phase = phase{Held: held, AtLeast: cp.phase.AtLeast}
	if err := st.Source.Save(ctx, st.Def.Name, cp.encoded(), &sw.figures); err != nil {
		return err
	}
	st.state.moved(cp)
	st.LogDone("full resync done", cp.Checkpoint, "pages", cp.Pages, "at_least", cp.phase.AtLeast, "removed", sw.figures.Tombs, "held", held != nil)
	st.NoteWholeWalk(st.state.read().began)
	return nil
}

// Confirm asks for one row. It takes the row into the intake, or returns why it is to be
// removed. There are two reasons: the answer is 404, or the row has moved to a location that
// the configuration leaves out, where no walk brings it up to date any more.
func (st *List) Confirm(ctx context.Context, lane *api.Client, in *write.Intake, id string) (reason string, raw []byte, err error) {
	a, err := st.askFor(ctx, lane, id)
	if err != nil {
		return "", nil, err
	}
	a.into(in, st)
	return a.reason, a.raw, nil
}

// answer is what the service returned for one row.
type answer struct {
	id      string
	reason  string // why the row is to be removed; empty: it is there
	raw     []byte
	version uint64
	at      time.Time
}

// askFor asks for one row, and counts the request.
func (st *List) askFor(ctx context.Context, lane *api.Client, id string) (*answer, error) {
	// The version is taken before it is asked: see [write.VersionClock].
	a := &answer{id: id, version: st.Source.Versions.Take(1)}
	row, err := st.Def.One(ctx, lane, id)
	st.Writer.Count(write.Counts{Requests: 1})
	switch {
	case api.IsNotFound(err):
		a.reason = write.ReasonGone
	case err != nil:
		return nil, fmt.Errorf("ask for %s %q: %w", st.Def.Name, id, err)
	case st.Source.LeavesOut(row.Raw):
		a.reason = write.ReasonNoAccess
	default:
		a.raw, a.at = row.Raw, st.AnsweredAt(row.Date)
	}
	return a, nil
}

// into takes a row that is there into an intake of its list.
func (a *answer) into(in *write.Intake, st *List) {
	if a.reason == "" {
		in.Row(st.Def.Plan.NewMapper(), st.Forgotten.OrderOf(a.id, a.raw), a.version, a.at, write.RowContext{ID: a.id, Columns: st.Def.Polled})
	}
}
