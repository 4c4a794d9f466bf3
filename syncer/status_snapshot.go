package syncer

import (
	"cmp"
	"slices"
	"time"

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
	key := s.identity()
	s.mu.Lock()
	status := SourceStatus{
		Name: s.cfg.Name, BusinessID: cmp.Or(key.business, s.stored.Business), BusinessName: key.businessName, KeyMode: key.mode,
		State: s.state, Detail: s.detail, Since: s.since, NextProbe: s.nextProbe,
		Requests: s.asks, RateLimited: s.limited,
	}
	s.mu.Unlock()
	status.Proof = s.dated(s.days.proven())
	status.Budget = s.link.budget()
	for _, f := range s.streams {
		st := f.common().status(now, status.Since, s.patience(f.common().def.Job))
		f.describe(&st)
		status.Streams = append(status.Streams, st)
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
