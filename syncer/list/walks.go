package list

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

// initWatermark gives the incremental walks their start, and waits until it is stored: a backfill
// that ended before would leave the changes after it to nobody. It is the service's clock now, or ours
// where that is behind it: a start that lies ahead would blind the stream until then. Without a Date
// header the service's clock is not known, and a day makes up for any clock of ours. The caller holds
// st.starting.
func (st *List) initWatermark(ctx context.Context) error {
	cp := st.state.read().incr
	if !cp.Since.IsZero() || !cp.Watermark.IsZero() {
		return nil
	}
	ours := st.Source.WallClock().UTC()
	if cp.Since = stream.Earlier(st.Source.ServiceNow().UTC(), ours).Add(-Lookback); !st.Source.ClockKnown() {
		cp.Since = ours.Add(-blind)
	}
	cp.Business, cp.StartedAt, cp.UpdatedAt = st.Source.Business(), cp.Since.Add(Lookback), time.Now()
	if err := st.Source.Save(ctx, st.Def.Name, cp.encoded(), nil); err != nil {
		return err
	}
	st.state.moved(cp)
	return nil
}

// CatchUp runs one incremental walk.
func (st *List) CatchUp(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkIncremental, func(ctx context.Context) error {
		if err := st.starting.Run(ctx, st.initWatermark); err != nil {
			return err
		}
		cp := st.state.read().incr
		if cp.Cursor == "" {
			st.begin(&cp)
		}
		return st.follow(ctx, cp)
	})
}

// blind is how far back a walk begins that would begin ahead of the service's clock, or does not know it.
const blind = 24 * time.Hour

// begin has an incremental walk begin where the one before it ended.
func (st *List) begin(cp *Checkpoint) {
	now := st.Source.ServiceNow().UTC()
	cp.Since = cp.Next()
	if cp.Since.After(now.Add(MaxFutureStamp)) { // stamps and clock were of another time, and nothing would come until it is reached
		if !st.ahead.Swap(true) {
			st.Source.Log.Warn("what was stored is ahead of the service's clock: changes of the last day are asked for again; larder sync --full brings what is older",
				"stream", st.Def.Name, "watermark", cp.Since, "service_clock", now)
		}
		cp.Since = now.Add(-blind)
	}
	switch {
	case st.Source.ClockKnown():
		cp.StartedAt = now
	case !cp.Watermark.IsZero(): // our clock may be ahead of the service's, which was not behind the newest stamp seen
		cp.StartedAt = stream.Earlier(now, cp.Watermark)
	}
	cp.Pages, cp.Rows, cp.Tombstones = 0, 0, 0
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
		if err := st.starting.Run(ctx, st.initWatermark); err != nil {
			return err
		}
		if err := st.owing.Run(ctx, st.beginBackfill); err != nil {
			return err
		}
		if err := st.follow(ctx, st.state.read().back); err != nil {
			return err
		}
		cp := st.state.read().back
		st.LogDone("backfill done", cp.Checkpoint, "pages", cp.Pages, "at_least", cp.phase.AtLeast)
		return nil
	})
}

// beginBackfill notes the locations with which the mirror begins, ahead of the first page.
func (st *List) beginBackfill(ctx context.Context) error {
	cp := st.state.read().back
	if !cp.StartedAt.IsZero() {
		return nil
	}
	now := debt{Once: st.state.read().debt.Once}
	now.Locations, now.Configured = st.locations()
	if err := st.owe(ctx, now); err != nil {
		return err
	}
	cp.StartedAt, cp.Since = st.Source.ServiceNow().UTC(), st.Def.BackfillSince
	cp.FirstVersion = st.Source.Versions.Take(1)
	st.state.moved(cp)
	return nil
}

// follow runs a walk from where its checkpoint stands to its end.
func (st *List) follow(ctx context.Context, cp Checkpoint) error {
	cp.Business = st.Source.Business()
	w := &walk{
		list: st, number: st.Writer.NextWalk(), cp: cp,
		window: window{flush: st.Source.FlushInterval},
		run:    sinks.Run{Source: cp.Source, Stream: cp.Stream, Walk: cp.Walk, StartedAt: time.Now()},
		dirty:  cp.Cursor != "",
	}
	if w.long() {
		w.window.flush = sinks.Gathers(w.window.flush)
	}
	if cp.phase.AtLeast {
		w.counted = cp.Watermark
	}
	if err := w.follow(ctx); err != nil {
		return fmt.Errorf("%s: %w", st.Def.Name, err)
	}
	if !w.long() {
		st.Writer.Prune(st.state.read().floor(), w.number) // what no coming incremental walk receives
		st.lookback = time.Time{}                          // its rows are remembered
	}
	return nil
}

// Fetch asks for one page of the list, with all of its rows, which is the caller's to release.
func (st *List) Fetch(ctx context.Context, kind string, since time.Time, cursor string) (api.Page, error) {
	s := st.Source
	lane := s.Lanes.Fresh
	if kind != sinks.WalkIncremental {
		lane = s.Lanes.Backfill
	}
	p, err := st.Def.List(ctx, lane, api.ListQuery{UpdatedSince: since, IncludeDeleted: true, Cursor: cursor, Limit: api.PageLimit})
	if err == nil {
		s.Metrics.Paged(s.Name, st.Def.Name, kind)
	}
	return p, err
}
