package syncer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/condition"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/menus"
	"github.com/larder-sync/larder/syncer/outage"
	"github.com/larder-sync/larder/syncer/reconcile"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/snapshot"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// source is one API key at work: its streams and their turns, on or off by the key's scopes.
// Trouble stays with the source that has it (DESIGN R11).
type source struct {
	*stream.Source
	syncer *Syncer
	cfg    Source
	link   *link.Link // the way to the API

	condition *condition.Condition // how well it can be served

	streams []follower // all of them, in the order of status
	lists   []*list.List
	wholes  []*snapshot.Stream // that are asked for; the key's row is not
	menus   []*menus.Stream
	keyRow  *snapshot.Stream
	days    *reconcile.SourceProofs // the totals

	life     *life   // until the configuration changes
	previous *source // of the same name, not yet taken over

	visiting bool // only verified: another process serves it (verify.go)

	// forgotten are the restaurant's orders whose customers are; nil until the source is open.
	forgotten *personal.Forgotten

	turns   atomic.Pointer[schedule.Turns] // nil while no daemon serves the source
	leased  atomic.Bool                    // it has been held (held.go)
	lost    *atomic.Pointer[error]         // why it is held no more; shared with those before it
	opening stream.Slot                    // one opening or probe at a time
	admits  stream.Slot                    // one look at what the key lets the streams ask for
	looked  bool                           // it was looked at; guarded by admits
	wake    chan struct{}
	// restoredAt is when the stored state was last read, with which the budget starts.
	restoredAt time.Time
	jobs       sync.WaitGroup

	mu      sync.Mutex
	stored  sinks.State // as it was at the start
	opened  bool        // stored has been taken over
	asks    uint64
	limited uint64
}

// follower is a stream as its source serves it, whatever its kind.
type follower interface {
	Common() *stream.Stream
	// Restore takes over what the sink has stored about the stream.
	Restore(sinks.State)
	// WantedLocations are those that it is asked for with a key; one empty id is all of
	// them together.
	WantedLocations(stream.Identity) []string
	// Follow has it asked for in those.
	Follow(stream.Identity)
	// NoteKey notes what else the key changes, when it has been admitted.
	NoteKey(context.Context)
	// LongDue is true when there is a long walk to make, and long makes it. The caller
	// holds filler.
	LongDue(now time.Time) bool
	Long(context.Context) error
	// Pass are the walks of a pass, and passOff does what is to be done when it is off.
	Pass(full, confirmed bool) []stream.Step
	PassOff(context.Context) error
	// Describe adds to a status what is known of its kind.
	Describe(*status.StreamStatus)
}

func newSource(y *Syncer, cfg Source) (*source, error) {
	s := &source{
		syncer: y, cfg: cfg,
		life: newLife(), opening: stream.NewSlot(), admits: stream.NewSlot(), wake: make(chan struct{}, 1),
		lost: &atomic.Pointer[error]{},
	}
	s.Source = &stream.Source{
		Owner: s, Name: cfg.Name, OnlyStreams: cfg.Streams, OnlyLocations: cfg.Locations, Log: y.log.With("source", cfg.Name),
		Sink: y.opts.Sink, Commits: y.commits, Versions: y.versions, Metrics: y.metrics, WallClock: y.opts.Now,
		FlushInterval: y.opts.FlushInterval, SettleAfter: y.opts.SettleAfter, ProcessBegan: y.startedAt, Began: 1, Down: map[string]outage.Outage{},
	}
	s.condition = condition.New(cfg.Name, s.Log, s.wakeLoop)
	if y.leases != nil {
		s.Fenced = s.fence
	}
	asks := y.opts.API
	asks.Keep = s.keeps
	way, err := link.New(link.Options{
		Source: cfg.Name, BaseURL: cfg.BaseURL, Share: cfg.BudgetShare, Key: cfg.Key, NextKey: cfg.NextKey,
		Ledger: y.opts.Ledger, API: asks, MayAsk: s.mayAsk, Observe: s.observe, Log: s.Log,
	})
	if way != nil {
		s.link, s.Lanes = way, &way.Lanes
	}
	if unknown := s.newStreams(y.definitions); unknown != nil {
		return s, errors.Join(err, unknown)
	}
	y.metrics.begin(s)
	return s, err
}

// newStreams makes the streams, each of its kind.
func (s *source) newStreams(all []*registry.Definition) error {
	none := func() uint64 { return 0 }
	s.days = reconcile.NewSourceProofs(s.Source, nil, s.siblingTotals)
	for _, def := range all {
		var st follower
		switch def.Kind {
		case registry.ListKind:
			l := list.NewList(s.Source, def, none)
			s.lists, st = append(s.lists, l), l
			if def.Name == registry.Orders {
				s.days.Orders, l.Counted = l, s.days.OrdersCounted
			}
		case registry.TotalsKind:
			st = reconcile.New(s.Source, def, s.days)
		case registry.SnapshotKind:
			w := snapshot.NewStream(s.Source, def, func(id string) bool { return s.siblingLists(def.Name, id) })
			s.wholes, st = append(s.wholes, w), w
		case registry.KeyKind:
			s.keyRow = snapshot.NewStream(s.Source, def, func(id string) bool { return s.siblingLists(def.Name, id) })
			s.keyRow.Ask, s.keyRow.Renew, s.keyRow.ByItself = askKeyRow, s.renewKey, true
			st = s.keyRow
		case registry.MenuKind:
			m := menus.New(s.Source, def, func(location string) bool { return s.siblingBrings(def.Name, location) })
			s.menus, st = append(s.menus, m), m
		default:
			return fmt.Errorf("stream %s: nothing follows streams of its kind (newStreams)", def.Name)
		}
		s.streams = append(s.streams, st)
	}
	return nil
}

// replaced are the streams that are replaced as wholes.
func (s *source) replaced() []*snapshot.Stream {
	return slices.Concat(s.wholes, []*snapshot.Stream{s.keyRow})
}

// rewriteNext has the streams that a selection has, of those without long walks, written
// anew at their next turn, whatever is stored of them.
func (s *source) rewriteNext(chosen func(*stream.Stream) bool) {
	for _, st := range s.replaced() {
		if chosen(st.Stream) {
			st.Contents.RewriteNext()
		}
	}
	for _, st := range s.menus {
		if chosen(st.Stream) {
			st.RewriteNext()
		}
	}
}

// run serves the source until ctx ends, and waits for its walks.
func (s *source) run(ctx context.Context) {
	defer s.jobs.Wait()
	if !stream.Sleep(ctx, s.startDelay()) {
		return
	}
	turns := schedule.NewTurns(s.cfg.Name, s.syncer.timetable(), time.Now())
	s.turns.Store(turns)
	defer s.turns.Store(nil)
	for ctx.Err() == nil {
		turns.Follow(s.syncer.timetable(), time.Now())
		if s.standBy() {
			s.sleepUntil(ctx, time.Now().Add(lease.Lasts))
			continue
		}
		if !s.IsReady() {
			if at := s.condition.View().NextProbe; time.Now().Before(at) && !s.hasAnotherKey() {
				s.sleepUntil(ctx, stream.Earlier(at, time.Now().Add(keyLook)))
			} else if err := s.Protected(ctx, "probe", s.connect); err == nil {
				turns.AllDue(time.Now())
			} else if ctx.Err() == nil && !time.Now().Before(s.condition.View().NextProbe) {
				s.condition.Troubled(stream.Diagnose(err)) // a panic: what set no next probe would be tried at once
			}
			continue
		}
		if !s.sleepUntil(ctx, turns.Next()) {
			continue // woken: the state has changed
		}
		s.tryChangedKey(ctx)
		for _, j := range turns.Take(time.Now()) {
			s.begin(ctx, j)
		}
	}
}

// startDelay spreads the first requests of sources that begin together.
func (s *source) startDelay() time.Duration {
	span := min(time.Duration(s.Began)*20*time.Millisecond, 30*time.Second)
	return time.Duration(schedule.Hash(s.cfg.Name) % uint64(max(span, 1)))
}

// sleepUntil waits for t; it is false when the source was woken or ctx ended.
func (s *source) sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.wake:
	case <-ctx.Done():
	}
	return false
}

// wakeLoop makes the loop look at the state again.
func (s *source) wakeLoop() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// spawn runs part of a job beside the loop.
func (s *source) spawn(ctx context.Context, what string, f func(context.Context) error) {
	s.jobs.Go(func() {
		if err := s.Protected(ctx, what, f); err != nil && ctx.Err() == nil {
			s.Log.Debug("job ended with an error", "job", what, "err", err)
		}
	})
}

// Protected turns a panic of f into an error: a fault in one walk must not end
// the daemon.
func (s *source) Protected(ctx context.Context, what string, f func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.syncer.metrics.panics.Inc()
			s.Log.Error("panic", "job", what, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f(ctx)
}

// IsReady implements owner.
func (s *source) IsReady() bool { return s.condition.Ready() }

// hasAnotherKey tells that a key was put in place since the last probe, which may be
// tried at once.
func (s *source) hasAnotherKey() bool {
	return !s.condition.MustWait() && s.link.Changed()
}

// Timetable implements owner.
func (s *source) Timetable() schedule.Timetable { return s.syncer.timetable() }

// LongTurn implements owner.
func (s *source) LongTurn(ctx context.Context) (release func(), err error) {
	select {
	case s.syncer.backfills <- struct{}{}:
		return func() { <-s.syncer.backfills }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
