package syncer

import (
	"cmp"
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// Status returns a snapshot of every source at this moment.
func (y *Syncer) Status() status.Status {
	st := y.walkStatus()
	y.opts.Warehouse().Mark(&st)
	return st
}

// walkStatus is Status as the walks alone know it.
func (y *Syncer) walkStatus() status.Status {
	now, sources := time.Now(), y.served()
	st := status.Status{Now: now, StartedAt: y.startedAt, Sources: make([]status.SourceStatus, 0, len(sources))}
	for _, s := range sources {
		st.Sources = append(st.Sources, s.status(now))
	}
	return st
}

func (s *source) status(now time.Time) status.SourceStatus {
	key := s.Identity()
	is := s.condition.View()
	s.mu.Lock()
	src := status.SourceStatus{
		Name: s.cfg.Name, BusinessID: cmp.Or(key.Business, s.stored.Business), BusinessName: key.BusinessName, KeyMode: key.Mode,
		State: is.State, Detail: is.Detail, Since: is.Since, NextProbe: is.NextProbe,
		Requests: s.asks, RateLimited: s.limited, PersonalData: string(s.cfg.Personal.Mode()),
	}
	s.mu.Unlock()
	src.Proof = s.dated(s.days.Proven())
	src.Budget = s.link.Budget()
	for _, f := range s.streams {
		st := f.Common().Status(now, src.Since, s.loop.patience(f.Common().Def.Job))
		f.Describe(&st)
		at, why := s.loop.next(f.Common(), now, f.Walks())
		st.Next, st.NextWhy = at, string(why)
		src.Streams = append(src.Streams, st)
	}
	src.Lacks = s.lacks(src.Streams)
	if src.State == status.StateWaiting {
		for i := range src.Streams {
			src.Streams[i].State, src.Streams[i].Detail, src.Streams[i].Behind = status.StateWaiting, "", false
		}
	}
	if src.State == status.StateRunning && slices.ContainsFunc(src.Streams, func(st status.StreamStatus) bool { return st.State == status.StateBackfill }) {
		src.State = status.StateBackfill
	}
	return src
}

// dated is the proof with whether it is late. Yesterday has some turns of comparing to be
// proven in; where these are off, of deep runs.
func (s *source) dated(p *status.ProofStatus) *status.ProofStatus {
	if p == nil {
		return nil
	}
	now, comparing := s.ServiceNow(), schedule.Reconcile
	if s.Timetable().Off(comparing) {
		comparing = schedule.ReconcileDeep
	}
	day, err := calendar.AddDays(calendar.DayOf(now.Add(-s.loop.patience(comparing))), -1)
	dated := *p
	dated.Late = err == nil && dated.FirstDay <= string(day) && dated.ProvenUntil < string(day)
	return &dated
}
