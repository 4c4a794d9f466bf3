package stream

import (
	"context"
	"log/slog"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// Hurry runs a walk for somebody who waits. One that is under way has no patience meanwhile.
func (st *Stream) Hurry(ctx context.Context, walk func(context.Context) error) error {
	st.hurried.Add(1)
	defer st.hurried.Add(-1)
	if r, ok := st.Source.Commits.Last(st.Source.Name); ok && st.Guard.Taken() {
		r.Done() // the walk may wait already
	}
	return walk(ctx)
}

// Hurried is true while somebody waits for a walk, and until the last one that failed is made up for.
func (st *Stream) Hurried() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.hurried.Load() > 0 || len(st.failing) > 0
}

// Attempt runs a pass of a stream's walks and acts on how it ended: the state of
// the stream, and of the source where the error is the key's or the service's.
func (st *Stream) Attempt(ctx context.Context, kind string, pass func(context.Context) error) error {
	started := time.Now()
	err := st.Source.Protected(ctx, st.Def.Name+" "+kind, pass)
	st.Writer.LogQuarantine()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if lease.IsWaiting(err) {
		return err // the source is about to be given up, and what is stored of it is another's
	}
	if api.IsAPIDisabled(err) { // normal life, and no failure of the walk
		st.Source.Metrics.Walked(st.Def.Name, kind, nil, time.Since(started))
		off := Diagnose(err)
		st.found(ctx, off.State, off.Detail)
		// It is off for days, mostly: the stream is asked at the turns of snapshots meanwhile.
		times, now := st.Source.Timetable(), time.Now()
		st.mu.Lock()
		defer st.mu.Unlock()
		st.notBefore = now.Add(times.Interval(schedule.Snapshots, now) - times.Interval(st.Def.Job, now))
		return err
	}
	st.Source.Metrics.Walked(st.Def.Name, kind, err, time.Since(started))
	if err == nil {
		st.succeeded(ctx, kind)
		return nil
	}
	st.failed(ctx, kind, started, err)
	return err
}

// failed puts the stream into the state its error calls for, and stores the run of the failed walk,
// the first of a series only.
func (st *Stream) failed(ctx context.Context, kind string, started time.Time, err error) {
	t := Diagnose(err)
	st.mu.Lock()
	st.lastError, st.lastErrorAt = err.Error(), time.Now()
	if t.RetryAfter > 0 {
		st.notBefore = time.Now().Add(t.RetryAfter)
	}
	known := st.failing[kind] == t.State
	st.failing[kind] = t.State
	st.mu.Unlock()
	defer func() { // when it is known whether the whole source is in trouble, whose line explains the others
		level := st.Source.LevelOf(err)
		if !st.Source.down.begin(st.Def.Name, t.State, level == slog.LevelWarn) {
			level = slog.LevelDebug
		}
		st.Source.Log.Log(ctx, level, "a walk failed, it is tried again", "stream", st.Def.Name, "walk", kind, "err", err)
	}()
	if !known {
		c := st.Source.Commit(st.Def.Name)
		c.Run = &sinks.Run{Source: st.Source.Name, Stream: st.Def.Name, Walk: kind, StartedAt: started, FinishedAt: time.Now(), Error: err.Error()}
		if _, err := st.Source.Commits.Write(ctx, c); err != nil && ctx.Err() == nil {
			st.Source.Log.Error("store a failed run", "stream", st.Def.Name, "err", err)
		}
	}
	switch t.State {
	case status.StateUnauthorized, status.StateKeyDisabled, status.StateUnreachable:
		st.found(ctx, status.StateFailing, t.Detail)
		st.Source.CheckSource(ctx, err)
	case status.StateForbidden:
		// The key's rights have changed: /me says to what.
		st.found(ctx, status.StateForbidden, t.Detail)
		st.Source.CheckSource(ctx, err)
	default:
		st.found(ctx, t.State, t.Detail)
	}
}

// LogDone logs the end of a long walk, with what it received since it began, also in processes
// before this one.
func (st *Stream) LogDone(what string, cp sinks.Checkpoint, more ...any) {
	took := max(0, cp.UpdatedAt.Sub(cp.StartedAt)) // by the service's clock, whose stamps may be in any order
	st.Source.Log.Info(what, append([]any{"stream", st.Def.Name, "rows", cp.Rows, "tombstones", cp.Tombstones, "took", took.Round(time.Millisecond)}, more...)...)
}
