package syncer

import (
	"cmp"
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// Status returns a picture of every source at this moment.
func (y *Syncer) Status() status.Status {
	picture := y.walkStatus()
	y.opts.Warehouse().Mark(&picture)
	return picture
}

// walkStatus is Status as the walks alone know it.
func (y *Syncer) walkStatus() status.Status {
	now, sources := time.Now(), y.served()
	picture := status.Status{Now: now, StartedAt: y.startedAt, Sources: make([]status.SourceStatus, 0, len(sources))}
	for _, s := range sources {
		picture.Sources = append(picture.Sources, s.status(now))
	}
	return picture
}

func (s *source) status(now time.Time) status.SourceStatus {
	key := s.Identity()
	is := s.condition.View()
	s.mu.Lock()
	picture := status.SourceStatus{
		Name: s.cfg.Name, BusinessID: cmp.Or(key.Business, s.stored.Business), BusinessName: key.BusinessName, KeyMode: key.Mode,
		State: is.State, Detail: is.Detail, Since: is.Since, NextProbe: is.NextProbe,
		Requests: s.asks, RateLimited: s.limited,
	}
	s.mu.Unlock()
	picture.Proof = s.dated(s.days.Proven())
	picture.Budget = s.link.Budget()
	for _, f := range s.streams {
		st := f.Common().Status(now, picture.Since, s.patience(f.Common().Def.Job))
		f.Describe(&st)
		at, why := s.next(f.Common(), now)
		st.Next, st.NextWhy = at, string(why)
		picture.Streams = append(picture.Streams, st)
	}
	picture.Lacks = s.lacks(picture.Streams)
	if picture.State == status.StateWaiting {
		for i := range picture.Streams {
			picture.Streams[i].State, picture.Streams[i].Detail, picture.Streams[i].Behind = status.StateWaiting, "", false
		}
	}
	if picture.State == status.StateRunning && slices.ContainsFunc(picture.Streams, func(st status.StreamStatus) bool { return st.State == status.StateBackfill }) {
		picture.State = status.StateBackfill
	}
	return picture
}

// dated tells of a proof whether it is late. Yesterday has some turns of comparing to
// be proven in.
func (s *source) dated(p *status.ProofStatus) *status.ProofStatus {
	if p == nil {
		return nil
	}
	now := s.ServiceNow()
	day, err := calendar.AddDays(calendar.DayOf(now.Add(-s.patience(schedule.Reconcile))), -1)
	dated := *p
	dated.Late = err == nil && dated.FirstDay <= string(day) && dated.ProvenUntil < string(day)
	return &dated
}

// patience is how long a job may take until what it brings is called behind: some
// turns of it may fail, or have much to do.
func (s *source) patience(j schedule.Job) time.Duration {
	return max(10*time.Minute, 2*s.syncer.timetable().Interval(j, time.Now())+5*time.Minute)
}
