package syncer

import (
	"context"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/snapshot"
	"github.com/larder-sync/larder/syncer/write"
)

// stream is one list of one source: its state, and what its walks share. Several
// walks may run at once (incremental and backfill, or one per location).
type stream struct {
	source   *source
	def      *registry.Definition
	guard    slot // one incremental walk, snapshot or totals pass at a time
	filler   slot // one backfill at a time
	turn     slot // one turn of yesterday and today at a time, up to its second look
	deep     slot // one deep run at a time
	prover   slot // one second look at days that differ at a time
	writer   *write.Writer
	snapshot *snapshot.List // of streams without a cursor
	seed     maphash.Seed   // tells totals apart
	tracks   []*track       // cursor lists: one, or one per configured location
	// openings are the backfills of locations that the key gained, by location.
	openings map[string]*track

	mu             sync.Mutex
	state          string
	detail         string
	noScope        bool               // it is off since the key lacks the scope
	stored         sinks.StreamStatus // as the sink has it
	lastSuccess    time.Time
	lastError      string
	lastErrorAt    time.Time
	failing        map[string]string // kinds of walk whose last run failed, with the state that was stored of it
	notBefore      time.Time
	locations      []string // asked for; one empty id is all of them together
	totals         totalsMemory
	proofs         proofMemory
	covered        *coverage              // nil: not known yet
	leftBySiblings map[string]time.Time   // as in coverage, as it is now
	lastFull       sinks.Checkpoint       // the newest full resync stored, also of tracks that are not followed any more
	begun          map[longWalk]time.Time // long walks that this process began
	pace           pace                   // of the long walk under way
	resyncRows     uint64                 // live rows when the full resync went on
	resyncSince    time.Time              // when the full resync under way began, by our clock; zero when that was before the start
	// broughtSince is when the last walk began that wrote every row anew and came to its
	// end, by our clock; zero for none since the start.
	broughtSince time.Time
	ownRows      uint64 // live rows when the walks of gained locations went on, theirs not counted
	lost         lostLocations
}

func newStream(s *source, def *registry.Definition) *stream {
	st := &stream{
		source: s, def: def, guard: newSlot(), filler: newSlot(), turn: newSlot(), deep: newSlot(), prover: newSlot(), state: StateStarting,
		seed: maphash.MakeSeed(), failing: map[string]string{},
		totals: totalsMemory{days: map[string]uint64{}, again: map[span]bool{}}, proofs: proofMemory{days: map[string]standing{}, told: map[string]uint64{}},
		openings: map[string]*track{}, begun: map[longWalk]time.Time{}, lost: lostLocations{storing: newSlot()},
	}
	st.writer = write.NewWriter(write.Options{
		Table: def.Plan.Table(), Committer: s.syncer.commits,
		Commit:  func() *sinks.Commit { return s.commit(def.Name) },
		Counted: func(c Counts) { s.syncer.metrics.counted(s.cfg.Name, def.Name, c) },
	})
	st.snapshot = newSnapshot(st)
	return st
}

// restore takes over what the sink has stored about the stream.
func (st *stream) restore(state sinks.State) {
	st.writer.Restore(state.Quarantined[st.def.Name], state.Drift)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range state.Statuses {
		if s.Stream == st.def.Name {
			st.stored = s
		}
	}
	for _, cp := range state.Checkpoints {
		if cp.Walk == sinks.WalkFull && st.tracked(cp.Stream) && cp.FirstVersion > st.lastFull.FirstVersion {
			st.lastFull = cp
		}
		switch {
		case cp.Stream != st.def.Name:
		case cp.Walk == sinks.WalkSnapshot:
			st.snapshot.Restore(cp)
		case cp.Walk == sinks.WalkTotals:
			st.totals.stored = cp
		case cp.Walk == sinks.WalkDeep:
			st.proofs.deep = cp.StartedAt
		case cp.Walk == sinks.WalkCoverage:
			st.restoreCoverage(cp)
		case cp.Walk == sinks.WalkLostLocations:
			st.restoreLostLocations(cp)
		}
	}
}

// succeeded notes the end of a walk that went well. A stream is healthy only if every kind
// of walk is: a backfill that fails is not hidden by the walks beside it.
func (st *stream) succeeded(ctx context.Context, kind string) {
	filled := st.filled() && !st.changedLocations()
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
	state, detail := st.runningState()
	st.found(ctx, state, detail)
}

// runningState is the state of a stream whose walks go well, and what a person has
// to do about it.
func (st *stream) runningState() (state, detail string) {
	if !st.filled() || st.opens() {
		return StateBackfill, ""
	}
	if held := st.held(); held != nil {
		return StateHeld, held.Error()
	}
	return StateRunning, ""
}

// filled is true when the stream's backfill has reached its end; streams without
// one are always filled.
func (st *stream) filled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range st.tracks {
		if !t.back.Done {
			return false
		}
	}
	return st.def.Kind != registry.TotalsKind || st.totals.stored.Done
}

// followed returns the tracks there are now.
func (st *stream) followed() []*track {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.tracks)
}

// prune forgets the rows that no coming incremental walk of any track brings.
func (st *stream) prune(t *track, walk uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	t.lastWalk = walk
	floor, oldest := t.floor(), walk
	for _, t := range st.tracks {
		if f := t.floor(); f.Before(floor) {
			floor = f
		}
		oldest = min(oldest, t.lastWalk)
	}
	st.writer.Prune(floor, oldest)
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
		st.stored = sinks.StreamStatus{Source: st.source.cfg.Name, Stream: st.def.Name, State: state, Detail: detail, ChangedAt: time.Now()}
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
	if _, err := st.source.syncer.commits.Write(ctx, c); err != nil && ctx.Err() == nil {
		st.source.log.Error("store the state of a stream", "stream", st.def.Name, "err", err)
	}
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
