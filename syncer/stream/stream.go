package stream

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// Stream is what every stream of a source has, whatever its kind: how its walks go, what
// they share, and the way of its rows into the sink. Several walks may run at once
// (incremental and backfill, or one per location).
type Stream struct {
	Source *Source
	Def    *registry.Definition
	Kind   Kind
	Tasks  []Task // the walks that a daemon makes, while the stream is not off
	Guard  Slot   // one incremental walk, snapshot or totals pass at a time
	Filler Slot   // one backfill at a time
	Writer *write.Writer

	hurried atomic.Int32 // how many wait for a walk

	mu          sync.Mutex // guards what follows
	state       string
	detail      string
	stored      sinks.StreamStatus // as the sink has it
	lastSuccess time.Time
	lastError   string
	lastErrorAt time.Time
	failing     map[string]string // kinds of walk whose last run failed, with the state that was stored of it
	notBefore   time.Time
	// broughtSince is when the last walk began that wrote every row anew and came to its
	// end, by our clock; zero for none since the start.
	broughtSince time.Time
}

// Kind is how a stream is followed: a list, totals, or what is replaced as a whole.
type Kind interface {
	// Restore takes over what the sink has stored about the stream.
	Restore(sinks.State)
	// Pass are the walks of a pass.
	Pass(full, confirmed bool) []Step
	// Describe adds to a status what is known of its kind.
	Describe(*status.StreamStatus)
	// Complete is true when the backfill has reached its end, for the locations there are.
	Complete() bool
	// Well is the state of a stream whose walks go well, and what a person has to do about
	// it.
	Well() (state, detail string)
	// WantedLocations are those that it is asked for with a key; one empty id is all of
	// them together.
	WantedLocations(Identity) []string
}

// NewStream makes what is common to all kinds. Whoever makes a kind of it sets Kind.
func NewStream(o *Source, def *registry.Definition) *Stream {
	st := &Stream{
		Source: o, Def: def, Guard: NewSlot(), Filler: NewSlot(), state: status.StateStarting,
		failing: map[string]string{},
	}
	st.Writer = write.NewWriter(write.Options{
		Table: def.Plan.Table(), Committer: o.Commits,
		Commit:  func() *sinks.Commit { return o.Commit(def.Name) },
		Counted: func(c write.Counts) { o.Metrics.Counted(o.Name, def.Name, c) },
		Logger:  o.Log,
	})
	return st
}

// RestoreStream takes over what the sink has stored about any stream.
func (st *Stream) RestoreStream(state sinks.State) {
	st.Writer.Restore(state.Quarantined[st.Def.Name], state.Drift)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range state.Statuses {
		if s.Stream == st.Def.Name {
			st.stored = s
		}
	}
}

// succeeded notes the end of a walk that went well. A stream is healthy only if every kind
// of walk is: a backfill that fails is not hidden by the walks beside it.
func (st *Stream) succeeded(ctx context.Context, kind string) {
	filled := st.Kind.Complete()
	st.mu.Lock()
	st.lastSuccess = time.Now()
	delete(st.failing, kind)
	if filled { // also when what failed is not asked for any more
		delete(st.failing, sinks.WalkBackfill)
	}
	well := len(st.failing) == 0
	if well {
		st.notBefore = time.Time{}
	}
	st.mu.Unlock()
	if !well {
		return
	}
	if o := st.Source.down.end(st.Def.Name); o.State != "" {
		st.Source.Log.Info("the walks of a stream go well again", "stream", st.Def.Name, "lasted", o.Lasted())
	}
	state, detail := st.Kind.Well()
	st.found(ctx, state, detail)
}

// found is set for what a walk has found. A stream that was switched off meanwhile
// stays off.
func (st *Stream) found(ctx context.Context, state, detail string) {
	if !st.Off() {
		st.Set(ctx, state, detail)
	}
}

// Set changes the state and stores the change. A state that the sink has already
// is not stored again, so that a restart inserts nothing.
func (st *Stream) Set(ctx context.Context, state, detail string) {
	st.mu.Lock()
	level := slog.LevelInfo
	if state == status.StateFailing || st.state == status.StateFailing { // what fails or recovers is logged by itself
		level = slog.LevelDebug
	}
	st.state, st.detail = state, detail
	// The words of an error differ from walk to walk, the state does not.
	changed := st.stored.State != state || st.stored.Detail != detail && state != status.StateFailing
	if changed {
		st.stored = sinks.StreamStatus{Source: st.Source.Name, Stream: st.Def.Name, State: state, Detail: detail, ChangedAt: time.Now()}
	}
	status := st.stored
	st.mu.Unlock()
	if !changed {
		return
	}
	st.Source.Log.Log(ctx, level, "stream changed state", "stream", st.Def.Name, "state", state, "detail", detail)
	c := st.Source.Commit(st.Def.Name)
	c.Status = &status
	if _, err := st.Source.Commits.Write(ctx, c); err != nil && ctx.Err() == nil {
		st.Source.Log.Error("store the state of a stream", "stream", st.Def.Name, "err", err)
	}
}

// WasWell reports whether nothing is stored against the last walk of the process before, and none has ended in this one.
func (st *Stream) WasWell() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.wasWell()
}

func (st *Stream) wasWell() bool {
	return st.state == status.StateStarting && (st.stored.State == status.StateRunning || st.stored.State == "")
}

// Fails reports whether the last walk failed, or had not ended, in this process or before it.
func (st *Stream) Fails() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return len(st.failing) > 0 || st.state == status.StateStarting && !st.wasWell()
}

// GoesOnWell shows a stream that was well as running before its first walk, unless one has ended since.
func (st *Stream) GoesOnWell() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.wasWell() {
		st.state, st.detail = status.StateRunning, st.stored.Detail
	}
}

// SwitchOff has the stream off for this process, which stores nothing of it.
func (st *Stream) SwitchOff(reason string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.state, st.detail = status.StateOff, reason
}

// WaitUntil is when the stream may be asked again after a Retry-After.
func (st *Stream) WaitUntil() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.notBefore
}

// Off is true when the stream is switched off by configuration or scope.
func (st *Stream) Off() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.state == status.StateOff
}

// Asked are the locations asked for now, the caller's to change; one empty id is all of them
// together.
func (st *Stream) Asked() []string { return st.Kind.WantedLocations(st.Source.Identity()) }

// NotAskedFor reports whether the location is all of them together (""), and the stream is asked for
// by location.
func (st *Stream) NotAskedFor(location string) bool {
	return location == "" && !slices.Contains(st.Asked(), "")
}

// Configured is true when the configuration wants the stream.
func (st *Stream) Configured() bool {
	return len(st.Source.OnlyStreams) == 0 || slices.Contains(st.Source.OnlyStreams, st.Def.Name)
}

// WantedLocations are the configured locations that the key has, which totals are asked for by; one
// empty id is all of them together.
func (st *Stream) WantedLocations(key Identity) []string {
	if len(st.Source.OnlyLocations) == 0 || !st.Def.ByLocation {
		return []string{""}
	}
	var known []string
	for _, l := range st.Source.OnlyLocations {
		if !slices.Contains(key.Unknown, l) {
			known = append(known, l)
		}
	}
	return known
}

// AnsweredAt is when an answer was made, by the service's clock: to the second of its Date header, or as
// fine as it is known where rows are also sent, as that decides which of the two was first.
func (st *Stream) AnsweredAt(date time.Time) time.Time {
	if at := st.Source.AnswerTime(date); st.Def.Pushed == nil {
		return at
	}
	return st.Source.Moment().UTC()
}

// Rows are the live rows that the source answers for.
func (st *Stream) Rows() sinks.LiveQuery {
	s := st.Source
	q := sinks.LiveQuery{Table: st.Def.Name, Business: s.Business()}
	if st.Def.ByKey {
		q.Source = s.Name
	} else {
		s.Scope(s.Identity(), &q)
	}
	return q
}

// NoteWholeWalk notes when a walk began that wrote every row anew and came to its end.
func (st *Stream) NoteWholeWalk(began time.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.broughtSince = began
}

// Chosen is true when a selection has the stream; without names, all that the
// configuration wants.
func (st *Stream) Chosen(names []string) bool {
	return len(names) == 0 && st.Configured() || slices.Contains(names, st.Def.Name)
}

// LacksScope reports whether the stream is configured and the key may not read it.
func (st *Stream) LacksScope() bool {
	key := st.Source.Identity()
	return key.Business != "" && st.Configured() && !st.Def.Allowed(key.Scopes)
}

// Why is why the stream is in its state, in words.
func (st *Stream) Why() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.detail
}

// Step is a walk of a stream that is to be made.
type Step struct {
	Guard Slot          // held while it runs
	Moved func() uint64 // how far it is; another number than before is further
	Run   func(context.Context) error
}

// Status is how the stream is; patience is how long it may go without a walk that ends well
// since its source began to be served.
func (st *Stream) Status(now, since time.Time, patience time.Duration) status.StreamStatus {
	st.mu.Lock()
	defer st.mu.Unlock()
	is := status.StreamStatus{
		Name: st.Def.Name, State: st.state, Detail: st.detail, NoScope: st.state == status.StateOff && st.LacksScope(),
		LastSuccess: st.lastSuccess, Lag: -1, Quarantined: st.Writer.QuarantinedCount(),
		LastError: st.lastError, LastErrorAt: st.lastErrorAt, BroughtSince: st.broughtSince,
		Behind: st.state != status.StateOff && st.state != status.StateAPIDisabled && now.Sub(Later(st.lastSuccess, since)) > patience,
	}
	if !st.lastSuccess.IsZero() {
		is.Lag = status.Seconds(now.Sub(st.lastSuccess))
	}
	return is
}
