package syncer

import (
	"cmp"
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// Status returns a snapshot of every source at this moment.
func (y *Syncer) Status() status.Status {
	now, sources := time.Now(), y.supervisors()
	st := status.Status{Now: now, StartedAt: y.startedAt, Sources: make([]status.SourceStatus, 0, len(sources))}
	if n := y.processes(); n > 1 {
		st.Processes, st.Configured = n, int(y.configured.Load())
	}
	for _, v := range sources {
		st.Sources = append(st.Sources, v.current().status(now))
	}
	y.opts.Warehouse().Mark(&st)
	return st
}

// Written returns the restaurants of the sources that are served, and how many rows were written of each
// stream, all sources together: it is less than before where a source is served no more.
func (y *Syncer) Written() (businesses []string, rows map[string]uint64) {
	rows = map[string]uint64{}
	for _, v := range y.supervisors() {
		s := v.current()
		if b := s.restaurant(); b != "" {
			businesses = append(businesses, b)
		}
		_, _, written := s.counters.read()
		for st, n := range written {
			rows[st] += n
		}
	}
	slices.Sort(businesses)
	return slices.Compact(businesses), rows
}

// restaurant is whose the source is, as far as is known.
func (s *source) restaurant() string { return cmp.Or(s.Business(), s.stored.Load().Business) }

// view is the condition of the source. After the end of its life, it is what the next one waits
// for.
func (s *source) view() link.View {
	is := s.link.View()
	if s.over() == nil {
		return is
	}
	is.State, is.Detail, is.Ready, is.NextProbe = status.StateStarting, "", false, time.Time{}
	if err := s.syncer.leases.Check(s.cfg.Name); err != nil {
		is.State, is.Detail = status.StateWaiting, err.Error()
	}
	return is
}

func (s *source) status(now time.Time) status.SourceStatus {
	key, times := s.Identity(), s.Timetable()
	is, over := s.view(), s.over() != nil
	src := status.SourceStatus{
		Name: s.cfg.Name, BusinessID: s.restaurant(), BusinessName: key.BusinessName, KeyMode: key.Mode,
		State: is.State, Detail: is.Detail, Since: is.Since, NextProbe: is.NextProbe,
		PersonalData: string(s.cfg.Personal.Mode()), Streams: make([]status.StreamStatus, 0, len(s.streams)),
	}
	src.Proof = dated(s.days.Proven(), times, s.ServiceNow())
	src.Budget = s.link.Budget()
	var written map[string]uint64
	var outcomes []status.StreamOutcome // as the report of a pass has them
	src.Requests, src.RateLimited, written = s.counters.read()
	for _, st := range s.streams {
		shown := st.Status(now, src.Since, times.Patience(st.Def.Job, now))
		st.Kind.Describe(&shown)
		shown.Written = written[shown.Name]
		at, why := s.nextTask(st, now)
		shown.Next, shown.NextWhy = at, string(why)
		src.Streams = append(src.Streams, shown)
		outcome := status.StreamOutcome{Stream: shown.Name, NoScope: shown.NoScope}
		if shown.State == status.StateOff {
			outcome.Off = shown.State
		}
		outcomes = append(outcomes, outcome)
	}
	src.Lacks = status.Lacks(len(s.cfg.Streams) > 0, outcomes)
	if over || src.State == status.StateWaiting {
		for i := range src.Streams {
			if st := &src.Streams[i]; st.State != status.StateOff {
				st.State, st.Detail, st.Progress, st.Behind = src.State, "", nil, false
			}
		}
	}
	if src.State == status.StateRunning && slices.ContainsFunc(src.Streams, func(st status.StreamStatus) bool { return st.State == status.StateBackfill }) {
		src.State = status.StateBackfill
	}
	src.Up = src.State == status.StateRunning || src.State == status.StateBackfill
	return src
}

// dated is the proof with whether it is late. Yesterday has some turns of comparing to be
// proven in; where these are off, of deep runs.
func dated(p *status.ProofStatus, times schedule.Timetable, now time.Time) *status.ProofStatus {
	if p == nil {
		return nil
	}
	comparing := schedule.Reconcile
	if times.Off(comparing) {
		comparing = schedule.ReconcileDeep
	}
	day, err := schedule.AddDays(schedule.DayOf(now.Add(-times.Patience(comparing, now))), -1)
	dated := *p
	dated.Late = err == nil && dated.FirstDay <= string(day) && dated.ProvenUntil < string(day)
	return &dated
}
