package syncer

import (
	"context"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/lease"
)

// attempt runs a pass of a stream's walks and acts on how it ended: the state of
// the stream, and of the source where the error is the key's or the service's.
func (st *stream) attempt(ctx context.Context, kind string, pass func(context.Context) error) error {
	started := time.Now()
	err := st.source.protected(ctx, st.def.Name+" "+kind, pass)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if lease.IsWaiting(err) {
		return err // the source is about to be given up, and what is stored of it is another's
	}
	st.source.metrics.walked(st.def.Name, kind, err, time.Since(started))
	if err == nil {
		st.succeeded(ctx, kind)
		return nil
	}
	st.failed(ctx, kind, started, err)
	return err
}

// failed puts the stream into the state its error calls for.
func (st *stream) failed(ctx context.Context, kind string, started time.Time, err error) {
	t := diagnose(err)
	st.mu.Lock()
	st.lastError, st.lastErrorAt = err.Error(), time.Now()
	if t.retryAfter > 0 {
		st.notBefore = time.Now().Add(t.retryAfter)
	}
	st.mu.Unlock()
	if t.state == StateAPIDisabled { // normal life, and no failure of the walk
		st.found(ctx, t.state, t.detail)
		return
	}
	defer st.logFailure(kind, t, err) // when it is known whether the whole source is in trouble
	st.storeFailure(ctx, kind, started, t, err)
	switch t.state {
	case StateUnauthorized, StateKeyDisabled, StateUnreachable:
		st.found(ctx, StateFailing, t.detail)
		st.source.suspect(ctx, t)
	case StateForbidden:
		// The key's rights have changed: /me says to what.
		st.found(ctx, StateForbidden, t.detail)
		st.source.suspect(ctx, t)
	default:
		st.found(ctx, t.state, t.detail)
	}
}

// storeFailure stores the run of a failed walk, the first of a series only.
func (st *stream) storeFailure(ctx context.Context, kind string, started time.Time, t trouble, err error) {
	st.mu.Lock()
	known := st.failing[kind] == t.state
	st.failing[kind] = t.state
	st.mu.Unlock()
	if known {
		return
	}
	c := st.source.commit(st.def.Name)
	c.Run = &sinks.Run{Source: st.source.name, Stream: st.def.Name, Walk: kind, StartedAt: started, FinishedAt: time.Now(), Error: err.Error()}
	if _, err := st.source.commits.Write(ctx, c); err != nil && ctx.Err() == nil {
		st.source.log.Error("store a failed run", "stream", st.def.Name, "err", err)
	}
}
