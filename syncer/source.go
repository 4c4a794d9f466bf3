package syncer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/condition"
	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/replace"
	"github.com/larder-sync/larder/syncer/schedule"
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
	wholes  []*replace.Stream // that are replaced as wholes
	keyRow  *replace.Stream   // of them
	days    *proof.Shared     // the totals

	loop      *loop
	key       *keyAsker
	admission *admission
	siblings  *siblings
	passes    *passes
	holding   *holding
	erasing   *erasing

	life     *life   // until the configuration changes
	previous *source // of the same name, not yet taken over; guarded by key.opening

	// restoredAt is when the stored state was last read, with which the budget starts; opened,
	// that it has been taken over. key.opening guards both.
	restoredAt time.Time
	opened     bool

	mu      sync.Mutex  // guards what follows
	stored  sinks.State // as it was at the start
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
	// Walks are the kinds of walk that a daemon makes of it, each at the turns of its jobs; none
	// when it is off.
	Walks() []stream.Walk
	// Pass are the walks of a pass.
	Pass(full, confirmed bool) []stream.Step
	// Describe adds to a status what is known of its kind.
	Describe(*status.StreamStatus)
}

func newSource(y *Syncer, cfg Source) (*source, error) {
	s := &source{
		syncer: y, cfg: cfg,
		life: newLife(),
	}
	s.loop = &loop{source: s, wake: make(chan struct{}, 1)}
	s.key = &keyAsker{source: s, opening: stream.NewSlot()}
	s.admission = &admission{source: s, admits: stream.NewSlot()}
	s.passes = &passes{s}
	s.erasing = &erasing{source: s}
	s.Source = &stream.Source{
		Owner: s, Name: cfg.Name, OnlyStreams: cfg.Streams, OnlyLocations: cfg.Locations, Log: y.log.With("source", cfg.Name),
		Sink: y.opts.Sink, Commits: y.commits, Versions: y.versions, Metrics: y.metrics, WallClock: y.opts.Now,
		FlushInterval: y.opts.FlushInterval, SettleAfter: y.opts.SettleAfter, ProcessBegan: y.startedAt, Began: 1,
	}
	s.condition = condition.New(cfg.Name, s.Log, s.loop.wakeLoop)
	s.holding = &holding{name: cfg.Name, leases: y.leases, condition: s.condition, lost: &atomic.Pointer[error]{}}
	s.siblings = &siblings{s.Source, y}
	if y.leases != nil {
		s.Fenced = s.holding.fence
	}
	asks := y.opts.API
	asks.Keep = s.erasing.keeps
	way, err := link.New(link.Options{
		Source: cfg.Name, BaseURL: cfg.BaseURL, Share: cfg.BudgetShare, Key: cfg.Key, NextKey: cfg.NextKey,
		Ledger: y.opts.Ledger, API: asks, MayAsk: s.holding.mayAsk, Observe: s.observe, Log: s.Log,
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
	s.days = proof.NewShared(s.Source)
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
			st = proof.New(s.Source, def, s.days)
		case registry.KeyKind, registry.SnapshotKind, registry.MenuKind:
			w := replace.New(s.Source, def, func(id string) bool { return s.siblings.siblingHas(def.Name, id) })
			s.wholes, st = append(s.wholes, w), w
			if def.Kind == registry.KeyKind {
				w.Ask, w.ByItself, s.keyRow = askKeyRow, true, w
			}
		default:
			return fmt.Errorf("stream %s: nothing follows streams of its kind (newStreams)", def.Name)
		}
		s.streams = append(s.streams, st)
	}
	return nil
}

// rewriteNext has the streams that a selection has, of those without long walks, written
// anew at their next turn, whatever is stored of them.
func (s *source) rewriteNext(chosen func(*stream.Stream) bool) {
	for _, st := range s.wholes {
		if chosen(st.Stream) {
			st.RewriteNext()
		}
	}
}

// Protected turns a panic of f into an error: a fault in one walk must not end
// the daemon.
func (s *source) Protected(ctx context.Context, what string, f func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			stack := debug.Stack()
			if p, ok := r.(*api.Panic); ok { // of a page that was asked for ahead
				r, stack = p.Value, p.Stack
			}
			s.syncer.metrics.panics.Inc()
			s.Log.Error("panic", "job", what, "panic", r, "stack", string(stack))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f(ctx)
}

// IsReady implements stream.Owner.
func (s *source) IsReady() bool { return s.condition.Ready() }

// hasAnotherKey is true when a key was put in place since the last probe, which may be
// tried at once.
func (s *source) hasAnotherKey() bool {
	return !s.condition.MustWait() && s.link.Changed()
}

// Timetable implements stream.Owner.
func (s *source) Timetable() schedule.Timetable { return s.syncer.timetable() }

// LongTurn implements stream.Owner.
func (s *source) LongTurn(ctx context.Context) (release func(), err error) {
	select {
	case s.syncer.backfills <- struct{}{}:
		return func() { <-s.syncer.backfills }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
