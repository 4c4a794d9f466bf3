package syncer

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/write"
)

// stream is what every stream of a source has, whatever its kind: how its walks go, what
// they share, and the way of its rows into the sink. Several walks may run at once
// (incremental and backfill, or one per location).
type stream struct {
	source *origin
	def    *registry.Definition
	kind   byKind
	guard  slot // one incremental walk, snapshot or totals pass at a time
	filler slot // one backfill at a time
	writer *write.Writer

	mu          sync.Mutex
	state       string
	detail      string
	noScope     bool               // it is off since the key lacks the scope
	stored      sinks.StreamStatus // as the sink has it
	lastSuccess time.Time
	lastError   string
	lastErrorAt time.Time
	failing     map[string]string // kinds of walk whose last run failed, with the state that was stored of it
	notBefore   time.Time
	locations   []string               // asked for; one empty id is all of them together
	begun       map[longWalk]time.Time // long walks that this process began
	pace        pace                   // of the long walk under way
	// broughtSince is when the last walk began that wrote every row anew and came to its
	// end, by our clock; zero for none since the start.
	broughtSince time.Time
}

// byKind is what a stream's state depends on beside how its walks end.
type byKind interface {
	// complete is true when the backfill has reached its end, for the locations there are.
	complete() bool
	// well is the state of a stream whose walks go well, and what a person has to do about
	// it.
	well() (state, detail string)
}

func newStream(o *origin, def *registry.Definition) *stream {
	st := &stream{
		source: o, def: def, guard: newSlot(), filler: newSlot(), state: StateStarting,
		failing: map[string]string{}, begun: map[longWalk]time.Time{},
	}
	st.writer = write.NewWriter(write.Options{
		Table: def.Plan.Table(), Committer: o.commits,
		Commit:  func() *sinks.Commit { return o.commit(def.Name) },
		Counted: func(c Counts) { o.metrics.counted(o.name, def.Name, c) },
	})
	return st
}

// common is the stream itself, as those have it that serve all kinds alike.
func (st *stream) common() *stream { return st }

// restoreStream takes over what the sink has stored about any stream.
func (st *stream) restoreStream(state sinks.State) {
	st.writer.Restore(state.Quarantined[st.def.Name], state.Drift)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range state.Statuses {
		if s.Stream == st.def.Name {
			st.stored = s
		}
	}
}

// succeeded notes the end of a walk that went well. A stream is healthy only if every kind
// of walk is: a backfill that fails is not hidden by the walks beside it.
func (st *stream) succeeded(ctx context.Context, kind string) {
	filled := st.kind.complete()
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
	st.logRecovery()
	state, detail := st.kind.well()
	st.found(ctx, state, detail)
}

// found is set for what a walk has found. A stream that was switched off meanwhile
// stays off.
func (st *stream) found(ctx context.Context, state, detail string) {
	if !st.off() {
		st.set(ctx, state, detail)
	}
}

// set changes the state and stores the change. A state that the sink has already
// is not stored again, so that a restart inserts nothing.
func (st *stream) set(ctx context.Context, state, detail string) {
	st.mu.Lock()
	told := state != StateFailing && st.state != StateFailing // else a failure or recovery says it
	st.state, st.detail = state, detail
	// The words of an error differ from walk to walk, the state does not.
	changed := st.stored.State != state || st.stored.Detail != detail && state != StateFailing
	if changed {
		st.stored = sinks.StreamStatus{Source: st.source.name, Stream: st.def.Name, State: state, Detail: detail, ChangedAt: time.Now()}
	}
	status := st.stored
	st.mu.Unlock()
	if !changed {
		return
	}
	level := slog.LevelInfo
	if !told {
		level = slog.LevelDebug
	}
	st.source.log.Log(ctx, level, "stream changed state", "stream", st.def.Name, "state", state, "detail", detail)
	c := st.source.commit(st.def.Name)
	c.Status = &status
	if _, err := st.source.commits.Write(ctx, c); err != nil && ctx.Err() == nil {
		st.source.log.Error("store the state of a stream", "stream", st.def.Name, "err", err)
	}
}

// switchOff has the stream off for this process, which stores nothing of it.
func (st *stream) switchOff(reason string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.state, st.detail = StateOff, reason
}

// waitUntil is when the stream may be asked again after a Retry-After.
func (st *stream) waitUntil() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.notBefore
}

// off is true when the stream is switched off by configuration or scope.
func (st *stream) off() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.state == StateOff
}

// asked are the locations asked for; one empty id is all of them together.
func (st *stream) asked() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.locations)
}

// askFor has the stream asked for these locations.
func (st *stream) askFor(locations []string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.locations = locations
}

// configured is true when the configuration wants the stream.
func (st *stream) configured() bool {
	return len(st.source.onlyStreams) == 0 || slices.Contains(st.source.onlyStreams, st.def.Name)
}

// wantedLocations are the location_ids the stream's lists are asked with; one
// empty id is a list asked for whole. Categories are always asked for whole: those
// shared by every location have none, and what a filter does with them is not said.
func (st *stream) wantedLocations(key identity) []string {
	if len(st.source.onlyLocations) == 0 || !st.def.ByLocation {
		return []string{""}
	}
	var known []string
	for _, l := range st.source.onlyLocations {
		if !slices.Contains(key.unknown, l) {
			known = append(known, l)
		}
	}
	return known
}

// open are those of some locations that the service answers for.
func (st *stream) open(locations []string) []string {
	closed := st.source.identity().inactive
	return slices.DeleteFunc(locations, func(l string) bool { return slices.Contains(closed, l) })
}

// unlessClosed forgives that a location which is not active any more is refused:
// its list is then empty.
func (st *stream) unlessClosed(location string, err error) error {
	closed := slices.Contains(st.source.identity().inactive, location)
	if closed && (api.IsLocationForbidden(err) || api.IsNotFound(err)) {
		st.source.log.Debug("a location is closed", "stream", st.def.Name, "location", location, "err", err)
		return nil
	}
	return err
}

// exclusive runs f with a slot held.
func (st *stream) exclusive(ctx context.Context, guard slot, f func(context.Context) error) error {
	if err := guard.take(ctx); err != nil {
		return err
	}
	defer guard.free()
	return f(ctx)
}

// hasBrought notes when a walk began that wrote every row anew and came to its end.
func (st *stream) hasBrought(began time.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.broughtSince = began
}

// chosen is true when a selection has the stream; without names, all that the
// configuration wants.
func (st *stream) chosen(names []string) bool {
	return len(names) == 0 && st.configured() || slices.Contains(names, st.def.Name)
}

// lacksScope is true when a stream is configured and a key may not read it.
func (st *stream) lacksScope(key identity) bool {
	return st.configured() && !st.def.Allowed(key.scopes)
}

// paced is how long so many more pages of the long walk under way take, as they have come.
func (st *stream) paced(pages uint64) time.Duration {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.pace.left(pages)
}

// hasPage notes that a page of the long walk under way has come.
func (st *stream) hasPage() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.pace.page(time.Now())
}

// why is why the stream is in its state, in words.
func (st *stream) why() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.detail
}

// walkNow is a walk of a stream that is to be made.
type walkNow struct {
	guard slot          // held while it runs
	moved func() uint64 // how far it is; another number than before is further
	run   func(context.Context) error
}

// status is how the stream is; patience is how long it may go without a walk that ends well
// since its source began to be served.
func (st *stream) status(now, since time.Time, patience time.Duration) StreamStatus {
	st.mu.Lock()
	defer st.mu.Unlock()
	status := StreamStatus{
		Name: st.def.Name, State: st.state, Detail: st.detail, NoScope: st.noScope,
		LastSuccess: st.lastSuccess, Lag: -1, Written: st.writer.Written(), Quarantined: st.writer.QuarantinedCount(),
		LastError: st.lastError, LastErrorAt: st.lastErrorAt, BroughtSince: st.broughtSince,
		Behind: st.state != StateOff && now.Sub(later(st.lastSuccess, since)) > patience,
	}
	if !st.lastSuccess.IsZero() {
		status.Lag = Seconds(now.Sub(st.lastSuccess))
	}
	return status
}
