package syncer

import (
	"cmp"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
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
		Name: s.cfg.Name, BusinessID: cmp.Or(s.key.business, s.stored.Business), BusinessName: s.key.businessName, KeyMode: s.key.mode,
		State: s.state, Detail: s.detail, Since: s.since, NextProbe: s.nextProbe,
		Requests: s.asks, RateLimited: s.limited, Proof: s.proof,
	}
	s.mu.Unlock()
	status.Proof = s.dated(status.Proof)
	status.Budget = s.link.budget()
	for _, st := range s.streams {
		status.Streams = append(status.Streams, st.status(now, status.Since))
	}
	status.Lacks = s.lacks(status.Streams)
	if status.State == StateWaiting {
		for i := range status.Streams {
			status.Streams[i].State, status.Streams[i].Detail, status.Streams[i].Behind = StateWaiting, "", false
		}
	}
	if status.State == StateRunning && slices.ContainsFunc(status.Streams, func(st StreamStatus) bool { return st.State == StateBackfill }) {
		status.State = StateBackfill
	}
	return status
}

// dated tells of a proof whether it is late. Yesterday has some turns of comparing to
// be proven in.
func (s *source) dated(p *ProofStatus) *ProofStatus {
	if p == nil {
		return nil
	}
	now := s.serviceNow()
	day, err := calendar.AddDays(calendar.DayOf(now.Add(-s.patience(schedule.Reconcile))), -1)
	dated := *p
	dated.Late = err == nil && dated.ProvenUntil < string(day)
	return &dated
}

// patience is how long a job may take until what it brings is called behind: some
// turns of it may fail, or have much to do.
func (s *source) patience(j schedule.Job) time.Duration {
	return max(10*time.Minute, 2*s.syncer.timetable().Interval(j, time.Now())+5*time.Minute)
}

// behind is true when no walk of the stream has ended well for long; since is when its
// source began to be served. The caller holds the lock.
func (st *stream) behind(now, since time.Time) bool {
	return now.Sub(later(st.lastSuccess, since)) > st.source.patience(st.def.Job)
}

func (st *stream) status(now, since time.Time) StreamStatus {
	progress, held, opens := st.forecast(), st.held(), st.opens() // take the lock themselves
	st.mu.Lock()
	defer st.mu.Unlock()
	status := StreamStatus{
		Name: st.def.Name, State: st.state, Detail: st.detail, NoScope: st.noScope, Watermark: st.watermark(),
		LastSuccess: st.lastSuccess, Lag: -1, Written: st.writer.Written(), Quarantined: st.writer.QuarantinedCount(),
		LastError: st.lastError, LastErrorAt: st.lastErrorAt, Progress: progress,
		SweepHeld: held, LastResync: st.lastResync(), BroughtSince: later(st.broughtSince, st.snapshot.BroughtSince()),
	}
	status.Behind = st.state != StateOff && st.behind(now, since)
	if status.State == StateRunning && opens {
		status.State = StateBackfill
	}
	if !st.lastSuccess.IsZero() {
		status.Lag = Seconds(now.Sub(st.lastSuccess))
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

// lastResync is when the last full resync of every track ended; the caller holds
// the lock.
func (st *stream) lastResync() (oldest time.Time) {
	for i, t := range st.tracks {
		if !t.full.Done {
			return time.Time{}
		}
		if i == 0 || t.full.UpdatedAt.Before(oldest) {
			oldest = t.full.UpdatedAt
		}
	}
	return oldest
}

// underway returns the kind of long walk that is under way and the checkpoints of its
// tracks; none when there is no such walk.
func (st *stream) underway() (kind string, all []sinks.Checkpoint) {
	filled := st.filled()
	gained, _ := st.uncovered()
	st.mu.Lock()
	defer st.mu.Unlock()
	kind = sinks.WalkBackfill
	if filled {
		kind = sinks.WalkFull
	}
	for _, t := range st.tracks {
		switch {
		case !filled:
			all = append(all, t.back)
		case t.resyncing():
			all = append(all, t.full)
		}
	}
	if len(all) > 0 || !st.def.ByLocation {
		return kind, all
	}
	for _, l := range gained { // each of which is opened by a walk of its own
		if t := st.openings[l]; t != nil {
			all = append(all, t.back)
		} else {
			all = append(all, sinks.Checkpoint{})
		}
	}
	return sinks.WalkBackfill, all
}
