package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/compare"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/menus"
	"github.com/larder-sync/larder/syncer/reconcile"
	"github.com/larder-sync/larder/syncer/snapshot"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// walkVerify names the walks of a verification in metrics and progress. They have
// no checkpoint.
const walkVerify = "verify"

// errNotFilled means that there is nothing to compare with yet.
var errNotFilled = errors.New("its backfill has not reached its end: let larder run or larder sync finish it, then verify")

// verification is one stream being compared with the API.
type verification struct {
	pass    *Pass
	stream  *stream.Stream
	filled  func() bool
	kind    interface{ verify(context.Context) error }
	shape   *compare.Shape
	started time.Time

	suspects   map[string]*suspect
	aside      map[string]*suspect // in quarantine when they were seen
	open       map[string]sinks.Quarantined
	unreadable bool // rows came whose id cannot be read
	visiting   bool // another process serves the source
	most       int  // suspects that are looked at again
	hints      bool // a full resync may heal what differs

	mu        sync.Mutex
	result    StreamReport
	pages     uint64
	pace      stream.Pace
	walked    bool   // the rows of the API have all been compared
	compared  uint64 // rows of the API so far, those that came twice included
	tombs     uint64 // tombstones among them
	expecting uint64 // live rows of the mirror at the start
}

// suspect is a row that differed at first sight.
type suspect struct {
	id     string
	answer answer
	extra  bool        // live in the mirror, and not in the list
	place  totals.Span // where it is asked for: the list's location, the line's day
}

// answer is what the API says of one row: a live row, a tombstone, or nothing.
type answer struct {
	raw []byte // nil: it does not show the row
	row compare.Row
	// unsure: the row moved while it was looked for.
	unsure bool
	// optional: the mirror need not have it.
	optional bool
	// elsewhere: another source of the restaurant answers for the row.
	elsewhere bool
	context   map[string]string
}

func (t answer) live() bool { return t.raw != nil && !t.row.Deleted }

// same is true when the API gives the same answer as before.
func (t answer) same(before answer) bool {
	if t.unsure || before.unsure || (t.raw == nil) != (before.raw == nil) {
		return false
	}
	return t.raw == nil || compare.Equal(t.raw, before.raw)
}

func (v *verification) run(ctx context.Context) error {
	st := v.stream
	if st.Off() {
		why, lacks := st.Why(), st.LacksScope(st.Source.Identity())
		v.count(func(r *StreamReport) { r.Off, r.NoScope = why, lacks })
		return nil
	}
	if v.kind == nil {
		return fmt.Errorf("nothing compares streams of the kind of %s (newVerification)", st.Def.Name)
	}
	if !v.filled() {
		return v.unfilled(ctx)
	}
	shape, ok := compare.Of(st.Def.Name)
	if !ok {
		return fmt.Errorf("no shape is known for the rows of %s", st.Def.Name)
	}
	v.shape, v.suspects, v.aside = shape, map[string]*suspect{}, map[string]*suspect{}
	if err := v.readQuarantine(ctx); err != nil {
		return err
	}
	if err := v.kind.verify(ctx); err != nil {
		return err
	}
	return v.tellQuarantine(ctx)
}

// newVerification makes what verifies a stream of its kind.
func newVerification(p *Pass, f verified, visiting bool) *verification {
	v := &verification{pass: p, stream: f.Common(), started: time.Now(), most: p.limits.Suspects, visiting: visiting}
	v.result.Stream = v.stream.Def.Name
	switch f := f.(type) {
	case *list.List:
		v.kind, v.filled, v.hints = &listCheck{v, f}, f.Filled, true
	case *reconcile.Proofs:
		v.kind, v.filled, v.most = &totalsCheck{verification: v, totals: f}, f.Filled, p.limits.lines
	case *snapshot.Stream:
		v.kind, v.filled = &wholeCheck{v, f}, f.Filled
	case *menus.Stream:
		v.kind, v.filled = &menuCheck{v, f}, f.Filled
		v.hints = true
	}
	return v
}

func (v *verification) business() string { return v.stream.Source.Business() }

// ownQuery selects the live rows that the source wrote last.
func (v *verification) ownQuery() sinks.LiveQuery {
	return sinks.LiveQuery{Table: v.stream.Def.Name, Business: v.business(), Source: v.stream.Source.Name}
}

func (v *verification) sink() sinks.Sink { return v.stream.Source.Sink }

// count changes the result.
func (v *verification) count(change func(*StreamReport)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.result)
}

// snapshot is the result so far.
func (v *verification) snapshot() StreamReport {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.result
	if !v.walked {
		r.Rows = v.compared
	}
	r.Took = status.Seconds(time.Since(v.started))
	return r
}

// took counts a page of the API.
func (v *verification) took(rows, tombstones int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.walked {
		return
	}
	v.pages++
	v.pace.Page(time.Now())
	v.compared += uint64(rows)
	v.tombs += uint64(tombstones)
}

// expect notes how many rows are to come.
func (v *verification) expect(rows uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.expecting = rows
}

// ended notes that all rows of the API have been compared, n different ones.
func (v *verification) ended(n uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.walked, v.result.Rows = true, n
}

// progress is how far the comparison is; the rows to come are those that the
// mirror has.
func (v *verification) progress() *status.Progress {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := &status.Progress{Walk: walkVerify, StartedAt: v.started, Pages: v.pages, Rows: v.compared - v.tombs, TotalRows: v.expecting}
	if p.TotalRows > 0 {
		p.RequestsLeft = stream.RequestsLeft(p.TotalRows, p.Rows, v.tombs)
		p.ExpectedLeft = status.Seconds(max(v.stream.Source.Lanes.Expect(int(p.RequestsLeft)), v.pace.Left(p.RequestsLeft)))
	}
	return p
}

// suspect notes a row to look at again, as many as there is room for.
func (v *verification) suspect(s *suspect) {
	if _, open := v.open[s.id]; open {
		v.aside[s.id] = s
		return
	}
	if _, known := v.suspects[s.id]; !known && len(v.suspects) >= v.most {
		v.count(func(r *StreamReport) { r.Unjudged++ })
		return
	}
	v.suspects[s.id] = s
}

// readQuarantine reads the open entries of the stream.
func (v *verification) readQuarantine(ctx context.Context) error {
	entries, err := v.sink().Quarantine(ctx, v.stream.Source.Name, v.stream.Def.Name)
	if err != nil {
		return fmt.Errorf("read the quarantine: %w", err)
	}
	v.open = map[string]sinks.Quarantined{}
	for _, q := range entries {
		v.open[q.Key()] = q
	}
	return nil
}

// tellQuarantine lists the open entries as they are at the end.
func (v *verification) tellQuarantine(ctx context.Context) error {
	entries, err := v.sink().Quarantine(ctx, v.stream.Source.Name, v.stream.Def.Name)
	if err != nil {
		return fmt.Errorf("read the quarantine: %w", err)
	}
	anonymous := false
	for _, q := range entries {
		anonymous = anonymous || q.ID == ""
		f := v.finding(FoundQuarantined, q.ID)
		f.Field, f.Reason = q.Field, q.Reason
		v.pass.tell(f)
	}
	v.count(func(r *StreamReport) { r.InQuarantine = uint64(len(entries)) })
	if v.unreadable && !anonymous {
		v.differs("", wholeRow("a row whose id cannot be read", "no entry in quarantine"))
	}
	return nil
}

func (v *verification) finding(kind, id string) Finding {
	return Finding{Kind: kind, Source: v.stream.Source.Name, Stream: v.stream.Def.Name, ID: id}
}

// The bounds of what is reported of one row.
const (
	maxFields = 20
	maxBytes  = 2000
)

// differs reports the differences of one row.
func (v *verification) differs(id string, found []compare.Difference) {
	v.count(func(r *StreamReport) { r.Differences++ })
	v.tellDifferences(FoundDifference, id, found, v.hint(found))
}

func (v *verification) tellDifferences(kind, id string, found []compare.Difference, hint string) {
	for i, d := range found {
		f := v.finding(kind, id)
		f.Field, f.Column, f.API, f.Mirror, f.Hint = d.Field, d.Column, excerptJSON(d.API), excerptJSON(d.Mirror), hint
		if i == maxFields {
			f.Field, f.Column, f.API, f.Mirror = fmt.Sprintf("%d more fields", len(found)-i), false, nil, nil
		}
		v.pass.tell(f)
		if i == maxFields {
			return
		}
	}
}

// hint says what heals a difference that stood through an incremental walk.
func (v *verification) hint(found []compare.Difference) string {
	if !v.hints {
		return ""
	}
	for _, d := range found {
		if !d.Column {
			return hintResync
		}
	}
	return hintColumns
}

const (
	hintResync  = "no incremental walk brings this; a full resync does: larder sync --full"
	hintColumns = "the typed columns are not what the stored row says; a full resync writes them anew (larder sync --full), and what differs then is a mistake of Larder: please report it"
)

// excerptJSON cuts a long value, which becomes a text.
func excerptJSON(value string) json.RawMessage {
	if len(value) > maxBytes {
		value = textJSON(value[:maxBytes] + "…")
	}
	if value == "" {
		return nil
	}
	return json.RawMessage(value)
}

// instantIn reads an instant as columns show it, zero for none.
func instantIn(text string) time.Time {
	t, err := time.Parse(instantColumn, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

func textJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""` // cannot be: it is a text
	}
	return string(b)
}

// differences compares what the API says of a row with what is stored.
func (v *verification) differences(t answer, stored *sinks.StoredRow) []compare.Difference {
	switch {
	case stored == nil && (t.raw == nil || t.optional):
		return nil
	case stored == nil:
		return wholeRow(stateOf(t), absent)
	case t.live() && stored.Removed:
		return wholeRow(stateOf(t), removed(stored.Reason))
	case t.live():
		return v.shape.Live(t.raw, stored.Raw, stored.Columns, t.context)
	case t.elsewhere:
		return nil
	case !stored.Removed:
		return wholeRow(stateOf(t), "live")
	case t.raw == nil:
		return nil // live on neither side
	default:
		return tombstoneDifferences(t.row, stored)
	}
}

const absent = "absent"

func removed(reason string) string { return "removed: " + reason }

func stateOf(t answer) string {
	switch {
	case t.raw == nil:
		return absent
	case t.row.Deleted:
		return removed(t.row.Reason)
	default:
		return "live"
	}
}

func wholeRow(api, mirror string) []compare.Difference {
	return []compare.Difference{{API: textJSON(api), Mirror: textJSON(mirror)}}
}

// tombstoneDifferences compares a tombstone with the removed row.
func tombstoneDifferences(row compare.Row, stored *sinks.StoredRow) []compare.Difference {
	var found []compare.Difference
	if row.Reason != stored.Reason {
		found = append(found, compare.Difference{Field: "reason", API: textJSON(row.Reason), Mirror: textJSON(stored.Reason)})
	}
	at := ""
	if !stored.DeletedAt.IsZero() {
		at = stored.DeletedAt.UTC().Format(instantColumn)
	}
	if row.DeletedAt != at {
		found = append(found, compare.Difference{Field: "deleted_at", API: instantJSON(row.DeletedAt), Mirror: instantJSON(at)})
	}
	return found
}

// instantColumn is how columns show instants.
const instantColumn = "2006-01-02T15:04:05.000000Z"

func instantJSON(text string) string {
	if text == "" {
		return "null"
	}
	return textJSON(text)
}
