package syncer

import (
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Status returns a picture of every source at this moment.
func (y *Syncer) Status() Status {
	now, sources := time.Now(), y.served()
	status := Status{Now: now, StartedAt: y.startedAt, Sources: make([]SourceStatus, 0, len(sources))}
	for _, s := range sources {
		status.Sources = append(status.Sources, s.status(now))
	}
	return status
}

func (s *source) status(now time.Time) SourceStatus {
	s.mu.Lock()
	status := SourceStatus{
		Name: s.cfg.Name, BusinessID: s.key.business, BusinessName: s.key.businessName, KeyMode: s.key.mode,
		State: s.state, Detail: s.detail, Since: s.since, NextProbe: s.nextProbe,
		Requests: s.asks, RateLimited: s.limited,
	}
	s.mu.Unlock()
	status.Budget = s.link.budget()
	for _, st := range s.streams {
		status.Streams = append(status.Streams, st.status(now))
	}
	if status.State == StateRunning && slices.ContainsFunc(status.Streams, func(st StreamStatus) bool { return st.State == StateBackfill }) {
		status.State = StateBackfill
	}
	return status
}

func (st *stream) status(now time.Time) StreamStatus {
	progress := st.forecast() // takes the lock itself
	st.mu.Lock()
	defer st.mu.Unlock()
	status := StreamStatus{
		Name: st.def.name, State: st.state, Detail: st.detail, Watermark: st.watermark(),
		LastSuccess: st.lastSuccess, Lag: -1, Rows: st.rows, Quarantined: len(st.bad),
		LastError: st.lastError, LastErrorAt: st.lastErrorAt, Progress: progress,
	}
	if !st.lastSuccess.IsZero() {
		status.Lag = now.Sub(st.lastSuccess)
	}
	return status
}

// watermark is the oldest of the tracks' watermarks; the caller holds the lock.
func (st *stream) watermark() time.Time {
	var oldest time.Time
	for i, t := range st.tracks {
		if i == 0 || t.incr.Watermark.Before(oldest) {
			oldest = t.incr.Watermark
		}
	}
	return oldest
}

// backfills returns the checkpoints of the backfills of the stream's tracks.
func (st *stream) backfills() []sinks.Checkpoint {
	st.mu.Lock()
	defer st.mu.Unlock()
	var all []sinks.Checkpoint
	for _, t := range st.tracks {
		all = append(all, t.back)
	}
	return all
}
