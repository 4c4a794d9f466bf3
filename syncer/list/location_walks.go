package list

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// LocationWalks is a cursor list as one pair of walks follows it: the whole list, or that
// of one configured location. Rows, quarantine and drift are the stream's; only
// the checkpoints are the location's own.
type LocationWalks struct {
	stream   *List
	Location string // empty: no location_id is sent
	opening  bool   // only a backfill, of a location that the key has gained

	starting stream.Slot
	// unrecorded counts the requests of the long walk under way that its checkpoint does not hold
	// yet: they led to no page.
	unrecorded atomic.Uint64
	// came is up to where its rows have come in this process, however it began again.
	came  tally
	ahead atomic.Bool // it was said that the stored watermark is ahead of the service's clock
	// Guarded by the list's lock.
	incr     sinks.Checkpoint
	back     sinks.Checkpoint
	full     sinks.Checkpoint
	lastWalk uint64 // number of the last incremental walk
}

func newLocationWalks(st *List, location string) *LocationWalks {
	t := &LocationWalks{stream: st, Location: location, starting: stream.NewSlot()}
	t.incr, t.back, t.full = t.fresh(sinks.WalkIncremental), t.fresh(sinks.WalkBackfill), t.fresh(sinks.WalkFull)
	return t
}

// fresh is the checkpoint of a walk that has not begun.
func (t *LocationWalks) fresh(kind string) sinks.Checkpoint {
	return sinks.Checkpoint{Source: t.stream.Source.Name, Stream: t.Name(), Walk: kind, Business: t.stream.Source.Business()}
}

// Name is the walks' stream in checkpoints: "sales_orders", or
// "sales_orders@<location>" where the configuration names locations.
func (t *LocationWalks) Name() string {
	if t.Location == "" {
		return t.stream.Def.Name
	}
	return t.stream.Def.Name + "@" + t.Location
}

// holdsCheckpoint is true when a name in checkpoints is the stream's, or that of one of its
// locations.
func (st *List) holdsCheckpoint(name string) bool {
	return name == st.Def.Name || strings.HasPrefix(name, st.Def.Name+"@")
}

// restore takes a stored checkpoint; the caller holds the list's lock.
func (t *LocationWalks) restore(cp sinks.Checkpoint) {
	switch cp.Walk {
	case sinks.WalkIncremental:
		t.incr = cp
	case sinks.WalkBackfill:
		t.back = cp
	case sinks.WalkFull:
		t.full = cp
	}
	t.inherit()
}

// restoreFrom takes over what is stored of the walks.
func (t *LocationWalks) restoreFrom(all []sinks.Checkpoint) {
	for _, cp := range all {
		if cp.Stream == t.Name() {
			t.restore(cp)
		}
	}
}

// inherit lets the incremental walks go on from where a finished backfill ended:
// together they have brought everything up to there. The caller holds the list's lock.
func (t *LocationWalks) inherit() {
	if t.back.Done {
		t.incr.Watermark = stream.Later(t.incr.Watermark, t.back.Watermark)
	}
}

// moved takes over the checkpoint of a walk under way.
func (t *LocationWalks) moved(kind string, cp sinks.Checkpoint) {
	t.stream.mu.Lock()
	defer t.stream.mu.Unlock()
	switch kind {
	case sinks.WalkBackfill:
		t.back = cp
	case sinks.WalkFull:
		t.full = cp
	default:
		cp.Watermark = stream.Later(cp.Watermark, t.incr.Watermark)
		t.incr = cp
	}
	t.inherit()
}

// floor is the oldest updated_at that the next incremental walk can bring, with a
// margin; what is older need not be remembered. The caller holds the list's lock.
func (t *LocationWalks) floor() time.Time { return Since(t.incr).Add(-margin) }

// hasWatermark is true when incremental walks have a start.
func (t *LocationWalks) hasWatermark() bool {
	t.stream.mu.Lock()
	defer t.stream.mu.Unlock()
	return !t.incr.Since.IsZero() || !t.incr.Watermark.IsZero()
}

// initWatermark gives the incremental walks their start, the service's clock now, and
// waits until it is stored: a backfill that ended before would leave the changes
// after it to nobody.
func (t *LocationWalks) initWatermark(ctx context.Context) error {
	if err := t.starting.Take(ctx); err != nil {
		return err
	}
	defer t.starting.Release()
	if t.hasWatermark() {
		return nil
	}
	cp := t.checkpoint(sinks.WalkIncremental)
	cp.Business = t.stream.Source.Business()
	cp.Since = t.firstSince()
	cp.StartedAt, cp.UpdatedAt = cp.Since.Add(Lookback), time.Now()
	c := t.stream.Source.Commit(t.stream.Def.Name)
	c.Checkpoint = &cp
	if err := t.stream.Source.Commits.Store(ctx, c); err != nil {
		return err
	}
	t.moved(sinks.WalkIncremental, cp)
	return nil
}

// checkpoint returns where a kind of walk stands.
func (t *LocationWalks) checkpoint(kind string) sinks.Checkpoint {
	t.stream.mu.Lock()
	defer t.stream.mu.Unlock()
	switch kind {
	case sinks.WalkBackfill:
		return t.back
	case sinks.WalkFull:
		return t.full
	}
	return t.incr
}

// filled is true when the backfill has reached its end.
func (t *LocationWalks) filled() bool { return t.checkpoint(sinks.WalkBackfill).Done }

// catchUp runs one incremental walk.
func (t *LocationWalks) catchUp(ctx context.Context) error {
	if err := t.initWatermark(ctx); err != nil {
		return err
	}
	cp := t.checkpoint(sinks.WalkIncremental)
	if cp.Cursor == "" {
		cp.Since = t.notAhead(Since(cp))
		cp.StartedAt = t.walkStart(cp)
		cp.Pages, cp.Rows, cp.Tombstones = 0, 0, 0
	}
	return t.follow(ctx, sinks.WalkIncremental, cp)
}

// blind is how far back a walk begins that would begin ahead of the service's clock.
const blind = 24 * time.Hour

// notAhead is where the next walk starts, unless that lies ahead of the service's
// clock: stamps and clock were of another time, and nothing would come until it is
// reached.
func (t *LocationWalks) notAhead(start time.Time) time.Time {
	now := t.stream.Source.ServiceNow().UTC()
	if !start.After(now.Add(MaxFutureStamp)) {
		return start
	}
	if !t.ahead.Swap(true) {
		t.stream.Source.Log.Warn("what was stored is ahead of the service's clock: changes of the last day are asked for again; larder sync --full brings what is older",
			"stream", t.Name(), "watermark", start, "service_clock", now)
	}
	return now.Add(-blind)
}

// fill runs the backfill to its end, from where its checkpoint stands.
func (t *LocationWalks) fill(ctx context.Context) error {
	if !t.opening {
		if err := t.initWatermark(ctx); err != nil {
			return err
		}
	}
	if t.filled() {
		return nil
	}
	for !t.filled() {
		cp := t.checkpoint(sinks.WalkBackfill)
		if cp.StartedAt.IsZero() {
			cp.StartedAt = t.stream.Source.ServiceNow().UTC()
			t.stream.Begins(t.Name(), sinks.WalkBackfill)
			t.came = tally{}
			cp.Since = t.stream.Def.BackfillSince
		}
		if err := t.follow(ctx, sinks.WalkBackfill, cp); err != nil {
			return err
		}
	}
	cp := t.checkpoint(sinks.WalkBackfill)
	t.stream.LogDone("backfill done", t.Name(), cp, t.spent(cp))
	return nil
}

func (t *LocationWalks) follow(ctx context.Context, kind string, cp sinks.Checkpoint) error {
	cp.Business = t.stream.Source.Business()
	w := &walk{
		walks: t, kind: kind, number: t.stream.Writer.NextWalk(), mapper: t.stream.Def.Plan.NewMapper(),
		progress: Progress{Cp: cp},
		window:   window{flush: t.stream.Source.FlushInterval},
		run:      sinks.Run{Source: cp.Source, Stream: cp.Stream, Walk: kind, StartedAt: time.Now()},
		dirty:    cp.Cursor != "",
	}
	if cp.Cursor == "" {
		w.begun = time.Now()
	}
	if w.long() {
		w.tally = tallyOf(cp)
	}
	ctx, w.asks = api.Counting(ctx)
	defer func() { t.countUnpaged(w.asks.Take(), w.long()) }()
	if err := w.follow(ctx); err != nil {
		return fmt.Errorf("%s: %w", t.Name(), err)
	}
	if kind == sinks.WalkIncremental {
		t.stream.prune(t, w.number)
	}
	return nil
}

// countUnpaged counts requests that led to no page.
func (t *LocationWalks) countUnpaged(requests uint64, long bool) {
	t.stream.Writer.Count(write.Counts{Requests: requests})
	if long {
		t.unrecorded.Add(requests)
	}
}

// Fetch asks for one page of the location's list, which is the caller's to release.
func (t *LocationWalks) Fetch(ctx context.Context, kind string, since time.Time, cursor string) (Page, error) {
	s := t.stream.Source
	lane := s.Lanes.Fresh
	if kind != sinks.WalkIncremental {
		lane = s.Lanes.Backfill
	}
	p, err := t.stream.Def.List(ctx, lane, api.ListQuery{
		UpdatedSince: since, IncludeDeleted: true, LocationID: t.Location, Cursor: cursor, Limit: api.PageLimit,
	})
	if err != nil {
		return Page{}, err
	}
	s.Metrics.Paged(s.Name, t.stream.Def.Name, kind)
	if t.stream.Def.ByKey { // there is no filter
		p = p.Without(t.stream.Full.elsewhere)
	}
	return Page{Page: p, at: s.AnswerTime(p.Date), came: s.Moment().UTC()}, nil
}

// firstSince is the first updated_since of a new stream: the service's clock, or ours
// where that is behind it. A start that lies ahead would blind the stream until then.
// Without a Date header the service's clock is not known, and a day makes up for any
// clock of ours.
func (t *LocationWalks) firstSince() time.Time {
	ours := t.stream.Source.WallClock().UTC()
	if !t.stream.Source.ClockKnown() {
		return ours.Add(-24 * time.Hour)
	}
	return stream.Earlier(t.stream.Source.ServiceNow().UTC(), ours).Add(-Lookback)
}

// walkStart is the service's clock when an incremental walk that goes on behind cp
// starts. Without a Date header that clock is not known, and ours may be ahead of
// it: it was not behind the newest stamp seen.
func (t *LocationWalks) walkStart(cp sinks.Checkpoint) time.Time {
	now := t.stream.Source.ServiceNow().UTC()
	switch {
	case t.stream.Source.ClockKnown():
		return now
	case cp.Watermark.IsZero():
		return cp.StartedAt
	}
	return stream.Earlier(now, cp.Watermark)
}
