package syncer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/replace"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
)

// source is one API key at work, as it was built, for one life: its streams and their turns, on
// or off by the key's scopes. Trouble stays with the source that has it (docs/rules.md R11).
type source struct {
	*stream.Source
	syncer *Syncer
	cfg    Source
	link   *link.Link // the way to the API, and how well that can be served

	streams []*stream.Stream // all of them, in the order of status
	lists   []*list.List
	online  *list.List        // of them, the online orders
	wholes  []*replace.Stream // that are replaced as wholes
	keyRow  *replace.Stream   // of them
	days    *proof.Shared     // the totals

	wake  chan struct{}                  // has the loop look at the state again
	turns atomic.Pointer[schedule.Turns] // nil while no daemon serves the source
	jobs  sync.WaitGroup                 // of the loop

	opening stream.Slot // one opening or probe at a time
	// forgotten are the restaurant's orders whose customers are; nil until the source is open.
	// They are set before anything is asked for.
	forgotten *personal.Forgotten

	counters *counters

	life   context.Context         // ends with the source's life
	end    context.CancelCauseFunc // ends it; the first cause remains
	leased atomic.Bool             // the source has been held in this life
	lost   atomic.Pointer[error]   // why it is held no more

	// restored: the stored state has been read, and the budget has started with it; opened: it has
	// been taken over. opening guards both.
	restored, opened bool

	stored atomic.Pointer[sinks.State] // as it was at the start
}

// newSource builds one of so many sources.
func newSource(y *Syncer, cfg Source, sources int, c *counters) *source {
	s := &source{
		syncer: y, cfg: cfg, counters: c,
		wake: make(chan struct{}, 1), opening: stream.NewSlot(),
	}
	s.stored.Store(&sinks.State{})
	s.life, s.end = context.WithCancelCause(context.Background())
	s.Source = &stream.Source{
		Owner: s, Name: cfg.Name, Fenced: s.fence, OnlyStreams: cfg.Streams, OnlyLocations: cfg.Locations, Log: y.log.With("source", cfg.Name),
		Sink: y.opts.Sink, Commits: y.commits, Versions: y.versions, Metrics: c, Clock: stream.Clock{WallClock: y.opts.Now},
		FlushInterval: y.opts.FlushInterval, SettleAfter: y.opts.SettleAfter, ProcessBegan: y.startedAt, Beside: sources,
		Timetable: func() schedule.Timetable { return *y.times.Load() },
		LongTurn:  func(ctx context.Context) (func(), error) { return y.backfills.Release, y.backfills.Take(ctx) },
	}
	asks := y.opts.API
	asks.Keep = s.keeps
	way, err := link.New(link.Options{
		Source: cfg.Name, BaseURL: cfg.BaseURL, Share: cfg.BudgetShare, Key: cfg.Key, NextKey: cfg.NextKey,
		Ledger: y.opts.Ledger, API: asks, Queue: y.keys, Log: s.Log,
		MayAsk: func() error {
			if !s.leased.Load() { // it is asked only for what nobody needs to hold it for: whether its key is good, and what to compare
				return nil
			}
			return s.fence()
		},
		Observe: func(route string, status int) { c.requested(cfg.Name, route, status) }, Changed: s.wakeLoop,
	})
	if err != nil {
		panic(err) // checkSource lets no such configuration pass
	}
	s.link, s.Lanes = way, &way.Lanes
	s.newStreams(y.definitions)
	y.metrics.begin(s)
	return s
}

// newStreams makes the streams, each of its kind.
func (s *source) newStreams(all []*registry.Definition) {
	s.days = proof.NewShared(s.Source)
	for _, def := range all {
		var st *stream.Stream
		switch def.Kind {
		case registry.ListKind:
			l := list.NewList(s.Source, def)
			s.lists, st = append(s.lists, l), l.Stream
			switch def.Name {
			case registry.Orders:
				s.days.Orders, l.Counted = l, s.days.OrdersCounted
			case registry.Online:
				s.online = l
			}
		case registry.TotalsKind:
			st = proof.New(s.Source, def, s.days).Stream
		case registry.KeyKind, registry.SnapshotKind, registry.MenuKind:
			w := replace.New(s.Source, def, func(id string) bool { // a sibling has the row, or is bringing it
				return slices.ContainsFunc(s.Siblings(), func(other *stream.Source) bool {
					return slices.ContainsFunc(other.Owner.(*source).wholes, func(st *replace.Stream) bool { return st.Def.Name == def.Name && st.Has(id) })
				})
			})
			s.wholes, st = append(s.wholes, w), w.Stream
			if def.Kind == registry.KeyKind {
				w.Ask, s.keyRow = askKeyRow, w
			}
		default:
			panic(fmt.Sprintf("stream %s: nothing follows streams of its kind (newStreams)", def.Name))
		}
		s.streams = append(s.streams, st)
	}
}

// IsReady implements stream.Owner.
func (s *source) IsReady() bool { return s.link.Ready() }

// Siblings implements stream.Owner.
func (s *source) Siblings() (all []*stream.Source) {
	business, stored := s.Business(), *s.syncer.mirrored.Load()
	for _, other := range s.syncer.served() {
		theirs := cmp.Or(other.Business(), stored[other.Name]) // its /me may not have answered yet
		if other.Name != s.Name && business != "" && theirs == business {
			all = append(all, other.Source)
		}
	}
	return all
}
