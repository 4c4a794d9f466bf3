package list

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

// fresh is the checkpoint of a walk that has not begun.
func (st *List) fresh(kind string) checkpoint {
	return checkpoint{Checkpoint: sinks.Checkpoint{Source: st.Source.Name, Stream: st.Def.Name, Walk: kind, Business: st.Source.Business()}}
}

// slot is where the checkpoint of a kind of walk is kept; the caller holds the list's lock.
func (st *List) slot(kind string) *checkpoint {
	switch kind {
	case sinks.WalkBackfill:
		return &st.back
	case sinks.WalkFull:
		return &st.full
	}
	return &st.incr
}

// checkpoint returns where a kind of walk is.
func (st *List) checkpoint(kind string) checkpoint {
	st.mu.Lock()
	defer st.mu.Unlock()
	return *st.slot(kind)
}

// moved takes over the checkpoint of a walk under way. The watermark of the incremental walks
// never goes back.
func (st *List) moved(cp checkpoint) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if cp.Walk == sinks.WalkIncremental {
		cp.Watermark = stream.Later(cp.Watermark, st.incr.Watermark)
	}
	*st.slot(cp.Walk) = cp
	st.inherit()
}

// inherit lets the incremental walks go on from where a finished backfill ended:
// together they have brought everything up to there. The caller holds the list's lock.
func (st *List) inherit() {
	if st.back.Done {
		st.incr.Watermark = stream.Later(st.incr.Watermark, st.back.Watermark)
	}
}

// floor is the oldest updated_at that the next incremental walk can bring, with a
// margin; what is older need not be remembered. The caller holds the list's lock.
func (st *List) floor() time.Time { return Watermark{Cp: &st.incr.Checkpoint}.Next().Add(-margin) }

// initWatermark gives the incremental walks their start, the service's clock now, and
// waits until it is stored: a backfill that ended before would leave the changes
// after it to nobody.
func (st *List) initWatermark(ctx context.Context) error {
	return st.Exclusive(ctx, st.starting, func(ctx context.Context) error {
		cp := st.checkpoint(sinks.WalkIncremental)
		if !cp.Since.IsZero() || !cp.Watermark.IsZero() {
			return nil
		}
		cp.Business = st.Source.Business()
		cp.Since = st.firstSince()
		cp.StartedAt, cp.UpdatedAt = cp.Since.Add(Lookback), time.Now()
		if err := st.Source.Save(ctx, st.Def.Name, cp.Checkpoint, nil); err != nil {
			return err
		}
		st.moved(cp)
		return nil
	})
}

// CatchUp runs one incremental walk.
func (st *List) CatchUp(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkIncremental, func(ctx context.Context) error {
		if err := st.initWatermark(ctx); err != nil {
			return err
		}
		cp := st.checkpoint(sinks.WalkIncremental)
		if cp.Cursor == "" {
			cp.Since = st.notAhead(Watermark{Cp: &cp.Checkpoint}.Next())
			cp.StartedAt = st.walkStart(&cp)
			cp.Pages, cp.Rows, cp.Tombstones = 0, 0, 0
		}
		return st.follow(ctx, cp)
	})
}

// blind is how far back a walk begins that would begin ahead of the service's clock.
const blind = 24 * time.Hour

// notAhead is where the next walk starts, unless that lies ahead of the service's
// clock: stamps and clock were of another time, and nothing would come until it is
// reached.
func (st *List) notAhead(start time.Time) time.Time {
	now := st.Source.ServiceNow().UTC()
	if !start.After(now.Add(MaxFutureStamp)) {
		return start
	}
	if !st.ahead.Swap(true) {
		st.Source.Log.Warn("what was stored is ahead of the service's clock: changes of the last day are asked for again; larder sync --full brings what is older",
			"stream", st.Def.Name, "watermark", start, "service_clock", now)
	}
	return now.Add(-blind)
}

// firstSince is the first updated_since of a new stream: the service's clock, or ours
// where that is behind it. A start that lies ahead would blind the stream until then.
// Without a Date header the service's clock is not known, and a day makes up for any
// clock of ours.
func (st *List) firstSince() time.Time {
	ours := st.Source.WallClock().UTC()
	if !st.Source.ClockKnown() {
		return ours.Add(-24 * time.Hour)
	}
	return stream.Earlier(st.Source.ServiceNow().UTC(), ours).Add(-Lookback)
}

// walkStart is the service's clock when an incremental walk that goes on behind cp
// starts. Without a Date header that clock is not known, and ours may be ahead of
// it: it was not behind the newest stamp seen.
func (st *List) walkStart(cp *checkpoint) time.Time {
	now := st.Source.ServiceNow().UTC()
	switch {
	case st.Source.ClockKnown():
		return now
	case cp.Watermark.IsZero():
		return cp.StartedAt
	}
	return stream.Earlier(now, cp.Watermark)
}

// backfill runs the backfill to its end, from its checkpoint. Only so many long walks run at
// once in a process.
func (st *List) backfill(ctx context.Context) error {
	if st.Filled() {
		return nil
	}
	release, err := st.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.Attempt(ctx, sinks.WalkBackfill, func(ctx context.Context) error {
		if err := st.initWatermark(ctx); err != nil {
			return err
		}
		if err := st.Exclusive(ctx, st.owing, st.beginBackfill); err != nil {
			return err
		}
		for !st.Filled() {
			if err := st.follow(ctx, st.checkpoint(sinks.WalkBackfill)); err != nil {
				return err
			}
		}
		cp := st.checkpoint(sinks.WalkBackfill)
		st.LogDone("backfill done", cp.Checkpoint, cp.figures()...)
		return nil
	})
}

// beginBackfill notes the locations with which the mirror begins, ahead of the first page.
func (st *List) beginBackfill(ctx context.Context) error {
	cp := st.checkpoint(sinks.WalkBackfill)
	if !cp.StartedAt.IsZero() {
		return nil
	}
	if err := st.owe(ctx, false); err != nil {
		return err
	}
	cp.StartedAt, cp.Since = st.Source.ServiceNow().UTC(), st.Def.BackfillSince
	cp.FirstVersion = st.Source.Versions.Take(1)
	st.Begins(sinks.WalkBackfill)
	st.moved(cp)
	return nil
}

// follow runs a walk from where its checkpoint stands to its end.
func (st *List) follow(ctx context.Context, cp checkpoint) error {
	cp.Business = st.Source.Business()
	w := &walk{
		list: st, number: st.Writer.NextWalk(), mapper: st.Def.Plan.NewMapper(), cp: cp,
		window: window{flush: st.Source.FlushInterval},
		run:    sinks.Run{Source: cp.Source, Stream: cp.Stream, Walk: cp.Walk, StartedAt: time.Now()},
		dirty:  cp.Cursor != "",
	}
	w.mark.Cp = &w.cp.Checkpoint
	if cp.Cursor == "" {
		w.begun = time.Now()
	}
	if cp.phase.AtLeast {
		w.counted = cp.Watermark
	}
	if err := w.follow(ctx); err != nil {
		return fmt.Errorf("%s: %w", st.Def.Name, err)
	}
	if !w.long() {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.lastWalk = w.number
		st.Writer.Prune(st.floor(), w.number) // what no coming incremental walk brings
	}
	return nil
}

// Fetch asks for one page of the list, which is the caller's to release. Rows of locations that
// the configuration leaves out are not on it.
func (st *List) Fetch(ctx context.Context, kind string, since time.Time, cursor string) (Page, error) {
	p, err := st.fetch(ctx, kind, since, cursor)
	if err == nil && len(st.Source.OnlyLocations) > 0 {
		p.Page = p.Without(st.elsewhere)
	}
	return p, err
}

// fetch asks for one page with all of its rows.
func (st *List) fetch(ctx context.Context, kind string, since time.Time, cursor string) (Page, error) {
	s := st.Source
	lane := s.Lanes.Fresh
	if kind != sinks.WalkIncremental {
		lane = s.Lanes.Backfill
	}
	p, err := st.Def.List(ctx, lane, api.ListQuery{UpdatedSince: since, IncludeDeleted: true, Cursor: cursor, Limit: api.PageLimit})
	if err != nil {
		return Page{}, err
	}
	s.Metrics.Paged(s.Name, st.Def.Name, kind)
	return Page{Page: p, at: s.AnswerTime(p.Date), came: s.Moment().UTC()}, nil
}
