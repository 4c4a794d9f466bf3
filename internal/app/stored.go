package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	streams "github.com/larder-sync/larder/syncer/stream"
)

// storedStatus is the status without a daemon, from what the warehouse has stored about the
// sources, with the verdicts about the last 92 days. Rows are then the live rows of the restaurant.
func (a *App) storedStatus(ctx context.Context, o opened) (status.Status, error) {
	damages, sink := a.Damages(o.route), o.sink
	s := status.Status{Now: time.Now(), Problems: damages.Problems()}
	s.Damaged = len(s.Problems) > 0
	if err := sink.CheckSchema(ctx); errors.Is(err, clickhouse.ErrEmpty) {
		return s, lifecycle.WarehouseError(fmt.Errorf("%s: %w", a.Config.Warehouse.DSN, err))
	} else if err != nil {
		return s, a.Unreachable(err)
	}
	counts, err := sink.Counts(ctx, config.Streams)
	if err != nil {
		return s, a.Unreachable(err)
	}
	s.CountedAt = s.Now
	for i := range a.Config.Sources {
		state, err := sink.State(ctx, a.Config.Sources[i].Name)
		if err != nil {
			return s, a.Unreachable(fmt.Errorf("read the state of %s: %w", a.Config.Sources[i].Name, err))
		}
		src := storedSource(s.Now, a.Config.Sources[i].Name, state, counts)
		from, to := s.Now.AddDate(0, 0, -92).Format(time.DateOnly), s.Now.AddDate(0, 0, 1).Format(time.DateOnly)
		verdicts, err := sink.Verdicts(ctx, state.Business, src.Name, from, to)
		if err != nil {
			return s, a.Unreachable(fmt.Errorf("read the verdicts of %s: %w", src.Name, err))
		}
		first, err := sink.FirstDay(ctx, state.Business)
		if err != nil {
			return s, a.Unreachable(fmt.Errorf("first day of the orders of %s: %w", src.Name, err))
		}
		src.Proof = proof.Of(slices.Values(verdicts), types.Date(first), schedule.DayOf(s.Now))
		s.Sources = append(s.Sources, src)
	}
	status.Warehouse{Damaged: damages.Streams()}.Mark(&s)
	return s, nil
}

// ofADaemon are the states in which only a daemon can keep a stream.
var ofADaemon = []string{status.StateRunning, status.StateBackfill, status.StateStarting}

func storedSource(now time.Time, name string, state sinks.State, counts []clickhouse.Count) status.SourceStatus {
	src := status.SourceStatus{Name: name, BusinessID: state.Business, State: status.StateStopped}
	if len(state.Checkpoints) == 0 {
		src.Detail = "Never mirrored: larder sync or larder run begins."
		return src
	}
	for _, stream := range registry.Names() {
		st := status.StreamStatus{Name: stream, State: status.StateStopped, Lag: -1, Rows: new(uint64), Quarantined: len(state.Quarantined[stream])}
		for _, c := range counts {
			if c.Stream == stream && c.Business == state.Business {
				*st.Rows = c.Rows
			}
		}
		for _, known := range state.Statuses {
			if known.Stream == stream && !slices.Contains(ofADaemon, known.State) {
				st.State, st.Detail = known.State, known.Detail
			}
		}
		own := slices.DeleteFunc(slices.Clone(state.Checkpoints), func(c sinks.Checkpoint) bool { return c.Stream != stream })
		for i := range own {
			st.Watermark, st.LastSuccess = streams.Later(st.Watermark, own[i].Watermark), streams.Later(st.LastSuccess, own[i].UpdatedAt)
		}
		// Rows without a checkpoint were written by a first step that was cut off.
		if st.State == status.StateStopped && (!filled(own) || len(own) == 0 && *st.Rows > 0) {
			st.Detail = "backfill not finished"
		}
		if !st.LastSuccess.IsZero() {
			st.Lag = status.Seconds(max(now.Sub(st.LastSuccess), 0)) // the stamp is by the service's clock
		}
		src.Streams = append(src.Streams, st)
	}
	return src
}

// filled reports whether the backfill of a stream's checkpoints has come to its end: a list that
// is followed has one.
func filled(checkpoints []sinks.Checkpoint) bool {
	followed := false
	for _, c := range checkpoints {
		switch c.Walk {
		case sinks.WalkBackfill, sinks.WalkTotals:
			return c.Done
		case sinks.WalkIncremental:
			followed = true
		}
	}
	return !followed
}
