package app

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
)

// storedStatus is what the warehouse knows of the sources: the status of a daemon
// that is not running. Rows are then the live rows of the restaurant.
func (a *App) storedStatus(ctx context.Context, l *lifecycle, w *way) (syncer.Status, error) {
	s := syncer.Status{Now: time.Now()}
	sink, err := a.openSink(ctx, l, w, nil)
	if err != nil {
		return s, err
	}
	if err := sink.CheckSchema(ctx); err != nil {
		return s, a.unreachable(err)
	}
	counts, err := sink.Counts(ctx)
	if err != nil {
		return s, a.unreachable(err)
	}
	for i := range a.cfg.Sources {
		state, err := sink.State(ctx, a.cfg.Sources[i].Name)
		if err != nil {
			return s, a.unreachable(fmt.Errorf("read the state of %s: %w", a.cfg.Sources[i].Name, err))
		}
		s.Sources = append(s.Sources, storedSource(s.Now, a.cfg.Sources[i].Name, state, counts))
	}
	return s, nil
}

func storedSource(now time.Time, name string, state sinks.State, counts []clickhouse.Count) syncer.SourceStatus {
	src := syncer.SourceStatus{Name: name, BusinessID: state.Business, State: stateStopped, Detail: "No daemon answers; this is what the warehouse knows."}
	if len(state.Checkpoints) == 0 {
		src.Detail = "Never mirrored: larder sync or larder run begins."
		return src
	}
	streams, err := syncer.Scopes()
	if err != nil { // the program's own tables are broken: nothing to show them with
		return src
	}
	for _, def := range streams {
		st := syncer.StreamStatus{Name: def.Stream, State: stateStopped, Lag: -1, Quarantined: len(state.Quarantined[def.Stream])}
		for _, c := range counts {
			if c.Stream == def.Stream && c.Business == state.Business {
				st.Rows = c.Rows
			}
		}
		for _, known := range state.Statuses {
			if known.Stream == def.Stream && !served(known.State) {
				st.State, st.Detail = known.State, known.Detail
			}
		}
		for i := range state.Checkpoints {
			if state.Checkpoints[i].Stream == def.Stream {
				addCheckpoint(&st, &state.Checkpoints[i])
			}
		}
		if !st.LastSuccess.IsZero() {
			st.Lag = now.Sub(st.LastSuccess)
		}
		src.Streams = append(src.Streams, st)
	}
	return src
}

// stateStopped is the state of a source that no daemon serves.
const stateStopped = "stopped"

// served tells the states that only a daemon can keep a stream in.
func served(state string) bool {
	return state == syncer.StateRunning || state == syncer.StateBackfill || state == syncer.StateStarting
}

func addCheckpoint(st *syncer.StreamStatus, c *sinks.Checkpoint) {
	if c.Watermark.After(st.Watermark) {
		st.Watermark = c.Watermark
	}
	if c.UpdatedAt.After(st.LastSuccess) {
		st.LastSuccess = c.UpdatedAt
	}
}
