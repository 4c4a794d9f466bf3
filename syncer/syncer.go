package syncer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/verify"
	"github.com/larder-sync/larder/syncer/write"
)

// Options make a [Syncer]. Sources and Sink are required.
type Options struct {
	Sources  []Source
	Shard    Shard
	Sink     sinks.Sink
	Schedule Schedule
	// FlushInterval is the sink's: walks keep as many pages in flight as fill it,
	// and no more (1s when zero).
	FlushInterval time.Duration
	// SettleAfter is when a day that differs from the service's totals is looked at
	// once more; what the API's stamps need when zero.
	SettleAfter time.Duration
	// API is the template of every source's client: transport, time-outs,
	// retries. Its BaseURL, Key, Logger and Observe are set for each source.
	API api.Options
	// Ledger holds the limits of all sources; a new one when nil.
	Ledger *budget.Ledger
	// Now is the machine's wall clock, which may step; time.Now when nil. Versions and the
	// service's clock are reckoned with it, and waiting is not.
	Now func() time.Time
	// Exclusive: no other process can reach the warehouse. Else the sources are
	// served only while no other process serves them (docs/rules.md R12), and Process is
	// how this one is known to the others; it is given an id when it has none.
	Exclusive bool
	Process   sinks.Process
	// Warehouse is what is known of the warehouse that the walks do not see; nothing
	// when nil. It is asked for every status.
	Warehouse  func() status.Warehouse
	Logger     *slog.Logger          // discarded when nil
	Registerer prometheus.Registerer // metrics are not registered when nil
	// MetricsDetail gives each source its own series of all metrics.
	MetricsDetail bool
}

// Schedule says when what is asked; see [schedule.Spec].
type Schedule = schedule.Spec

// Source is one API key, hence one restaurant.
type Source struct {
	Name    string
	BaseURL string
	// Key returns the key, and NextKey the one to try when the first answers 401;
	// both are looked at every few seconds, so a rotated key needs no restart. A key
	// is sent with other requests once /me has answered to it. NextKey may be nil.
	// Both are secret.
	Key     func() string
	NextKey func() string
	// Streams to mirror; all that the key's scopes allow when empty.
	Streams []string
	// Locations to mirror; all that the key may use when empty.
	Locations []string
	// BudgetShare is the part of every limit that may be used; 1 when zero.
	BudgetShare float64
	// Personal says what is kept of the people who order online; nothing when zero.
	Personal personal.Policy
	// ErasesBeyond: what is stored beyond Personal is erased.
	ErasesBeyond bool
	// Revision is another one when Key and NextKey are read from elsewhere than
	// before: what they are cannot be compared. See [Syncer.Apply].
	Revision int
}

// Syncer mirrors sources into a sink. Make one with [New].
type Syncer struct {
	opts        Options
	log         *slog.Logger
	definitions []*registry.Definition
	versions    *write.VersionClock
	commits     *write.Committer
	leases      *lease.Leases // nil: everything is held
	keys        *link.Queue
	metrics     *metrics
	backfills   stream.Slot // of the long walks that run at once
	walkers     *walkers    // while Run is under way
	forgotten   sync.Map    // by business: *personal.Forgotten
	startedAt   time.Time

	verifyLimits verify.Limits

	starting stream.Slot
	started  bool

	applying sync.Mutex // one Apply at a time
	wanted   []Source   // those of all shards; guarded by applying

	mu    sync.RWMutex           // guards what follows
	order []*supervisor          // of the sources that are served; replaced as a whole, never changed in place
	all   map[string]*supervisor // these, and those of removed sources that are still at work
	serve func(*supervisor)      // begins to serve a source; nil while Run is not under way

	times atomic.Pointer[schedule.Timetable] // that holds now
	// mirrored is the restaurant of each source as it was last read: so a source is known as a
	// sibling before its /me has answered, in trouble too, and while another process serves it.
	mirrored atomic.Pointer[map[string]string]
	// configured is how many sources all processes have.
	configured atomic.Int64
	members    atomic.Pointer[[]string] // ids of the processes that share the sources; nil: not known, or the number is fixed
	membership atomic.Pointer[string]   // what this process claims as one of them
}

// maxBackfills bounds the backfills of one process, and with them its memory;
// each moves at the pace of its key's limits, so that many are enough to keep a
// machine busy.
const maxBackfills = 64

// freeWalkers are enough for the walks that a thousand sources at rest begin in some hundredths of a second.
const freeWalkers = 32

// New checks the options and makes a syncer; nothing is asked of the API or the
// sink before [Syncer.Run], [Syncer.RunOnce] or [Syncer.Check].
func New(opts Options) (*Syncer, error) {
	if opts.Sink == nil {
		return nil, errors.New("syncer: no sink given")
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Warehouse == nil {
		opts.Warehouse = func() status.Warehouse { return status.Warehouse{} }
	}
	if opts.API.Memory == nil {
		opts.API.Memory = api.NewMemory(api.DefaultMemory)
	}
	if opts.Ledger == nil {
		opts.Ledger = budget.NewLedger(budget.Options{Log: opts.Logger})
	}
	opts.Shard.Auto = opts.Shard.Auto && !opts.Exclusive // there is nobody to share with
	opts.FlushInterval = cmp.Or(opts.FlushInterval, time.Second)
	opts.SettleAfter = cmp.Or(opts.SettleAfter, proof.SettleAfter)
	opts.Process.ID = cmp.Or(opts.Process.ID, rand.Text())
	opts.Process.Name = cmp.Or(opts.Process.Name, "process "+opts.Process.ID)
	times, err := schedule.New(opts.Schedule)
	if err != nil {
		return nil, err
	}
	y := &Syncer{
		starting: stream.NewSlot(),
		opts:     opts, log: opts.Logger, definitions: registry.All(),
		keys: link.NewQueue(opts.Shard.atOneAddress()), metrics: newMetrics(opts.MetricsDetail), versions: write.NewVersionClock(opts.Now), commits: write.NewCommitter(opts.Sink),
		backfills: make(stream.Slot, maxBackfills), startedAt: time.Now(),
		all: map[string]*supervisor{}, verifyLimits: verify.Standard, wanted: opts.Sources,
	}
	y.times.Store(&times)
	y.mirrored.Store(&map[string]string{})
	if !opts.Exclusive {
		y.leases = lease.New(opts.Process, opts.Sink, lease.Owner{Lost: y.lost, StartAbove: y.versions.StartAbove, Durable: y.durable}, y.log)
	}
	if _, err := y.place(opts.Sources); err != nil {
		return nil, err
	}
	if err := y.metrics.register(opts.Registerer, y); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return y, nil
}

// supervisors returns those of the sources that are served.
func (y *Syncer) supervisors() []*supervisor {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.order
}

// supervisorOf returns the supervisor of a source, also of a removed one that is still at work;
// nil when there is none.
func (y *Syncer) supervisorOf(name string) *supervisor {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.all[name]
}

// served returns the present life of each source, or between two the last one.
func (y *Syncer) served() (all []*source) {
	for _, v := range y.supervisors() {
		all = append(all, v.current())
	}
	return all
}

// Run is the daemon: it serves every source until ctx ends, those included that
// [Syncer.Apply] adds, and returns when all walks have ended. It fails only when the sink cannot
// be read at the start, and may be called again then, and only then.
func (y *Syncer) Run(ctx context.Context) error {
	if err := y.start(ctx); ctx.Err() != nil {
		return nil //nolint:nilerr // ctx has ended, as it ends every run
	} else if err != nil {
		return err
	}
	defer y.leases.Enter(ctx, y.claimed)()
	if err := y.join(ctx); ctx.Err() != nil {
		return nil //nolint:nilerr // as above
	} else if err != nil {
		return err
	}
	var loops sync.WaitGroup
	defer loops.Wait()
	y.walkers = &walkers{next: make(chan func()), free: make(stream.Slot, freeWalkers), done: ctx.Done(), all: &loops}
	if y.opts.Shard.Count > 1 || y.opts.Shard.Auto {
		loops.Go(func() { lifecycle.Loop(ctx, y.log, "the assignment of sources to processes", y.followShards) })
	}
	serve := func(v *supervisor) { loops.Go(func() { v.run(ctx) }) }
	y.mu.Lock()
	y.serve = serve
	for _, v := range y.all {
		serve(v)
	}
	y.mu.Unlock()
	<-ctx.Done()
	y.mu.Lock()
	y.serve = nil
	y.mu.Unlock()
	return nil
}

// start puts the version clock above everything stored, and reads whose the sources are,
// once.
func (y *Syncer) start(ctx context.Context) error {
	return y.starting.Run(ctx, func(ctx context.Context) error {
		if y.started {
			return nil
		}
		highest, err := y.opts.Sink.MaxVersion(ctx)
		if err != nil {
			return fmt.Errorf("read the highest version: %w", err)
		}
		if err := y.readBusinesses(ctx); err != nil {
			return err
		}
		if err := y.reassign(); err != nil {
			return err
		}
		y.versions.StartAbove(highest)
		y.started = true
		return nil
	})
}
