package budget

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// Options configure a [Ledger]; zero fields take the defaults named here.
type Options struct {
	// Margin is added to the 60 seconds of every place, for clocks that differ
	// and counts that round; default 250 ms.
	Margin time.Duration
	// Jitter returns numbers in [0,1) that spread what resumes after a 429;
	// default from math/rand/v2.
	Jitter func() float64
	// Log reports a panic of a timer; default none.
	Log *slog.Logger
	// Limits hold until /me has answered; default [DefaultLimits].
	Limits Limits
}

// Limits are requests a minute, as /me says them. Fields that are not positive
// leave the figure as it is.
type Limits struct {
	PerMinute         int // of the key
	BusinessPerMinute int // of the restaurant, all its keys together
	HeavyPerMinute    int // of the key, for the heavy routes
}

// DefaultLimits are those of api.md, "Limits".
var DefaultLimits = Limits{PerMinute: 120, BusinessPerMinute: 600, HeavyPerMinute: 30}

// Ledger keeps the budgets of all keys of the process. It is safe for
// concurrent use.
type Ledger struct {
	opts  Options
	start time.Time

	mu         sync.Mutex
	keys       map[string]*Key
	businesses map[string]*business
	turns      uint64 // callers so far
}

// NewLedger makes a ledger without keys.
func NewLedger(opts Options) *Ledger {
	if opts.Margin <= 0 {
		opts.Margin = 250 * time.Millisecond
	}
	if opts.Jitter == nil {
		opts.Jitter = rand.Float64
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	opts.Limits.PerMinute = cmp.Or(max(0, opts.Limits.PerMinute), DefaultLimits.PerMinute)
	opts.Limits.BusinessPerMinute = cmp.Or(max(0, opts.Limits.BusinessPerMinute), DefaultLimits.BusinessPerMinute)
	opts.Limits.HeavyPerMinute = cmp.Or(max(0, opts.Limits.HeavyPerMinute), DefaultLimits.HeavyPerMinute)
	return &Ledger{opts: opts, start: time.Now(), keys: map[string]*Key{}, businesses: map[string]*business{}}
}

// recovered runs f of a timer under the lock.
func (l *Ledger) recovered(f func()) {
	lifecycle.Recovered(l.opts.Log, "the budget", func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		f()
	})
}

func (l *Ledger) now() instant { return time.Since(l.start) }

// Key is the budget of one key.
type Key struct {
	ledger *Ledger
	name   string
	share  float64

	// All below is guarded by ledger.mu.
	business    *business
	all, heavy  *window
	limits      [2][]*window // that a request counts in, by weight: the business's first
	out         map[*Pass]struct{}
	queues      [lanes][2][]*waiter // by lane and weight
	overtakings [2]int              // by weight: places that went to lanes above one that waits and has room
	latency     time.Duration       // smoothed
	granted     [lanes]uint64
	urgent      [Backfill][2][]instant // by lane and weight: until when each request is remembered
	began       instant
	rateLimited uint64
	forgotten   bool // dropped when nothing of it counts any more
}

// business is what the keys of one restaurant share: its limit, and the order in
// which they are served.
type business struct {
	name  string // empty: not known yet
	limit *window
	keys  []*Key // those served last at the end
	timer *time.Timer
	at    instant // when the timer is set to, never if it is not
}

// Key is the budget of the key called name; the first call decides the share, the
// part of every limit that may be used, in (0,1]; [Key.SetShare] changes it.
func (l *Ledger) Key(name string, share float64) *Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.keys[name]; ok {
		k.forgotten = false
		return k
	}
	share = validShare(share)
	k := &Key{ledger: l, name: name, share: share, out: map[*Pass]struct{}{}, began: l.now()}
	k.all = newWindow(l.opts.Limits.PerMinute, share, l.opts.Margin)
	k.heavy = newWindow(l.opts.Limits.HeavyPerMinute, share, l.opts.Margin)
	k.all.begin(k.began)
	k.heavy.begin(k.began)
	k.move(l.newBusiness(k))
	l.keys[name] = k
	return k
}

func (l *Ledger) newBusiness(keys ...*Key) *business {
	b := &business{keys: keys, at: never}
	b.limit = newWindow(l.opts.Limits.BusinessPerMinute, b.share(), l.opts.Margin)
	return b
}

// maxLimit bounds what /me is believed: each place that is taken is remembered for a
// minute, and no service has as many.
const maxLimit = 1_000_000

// SetLimits takes over what /me says: the limits, and which restaurant the key
// belongs to. Keys with the same business share its limit, so the name must tell
// restaurants of different services apart. It may be called at any time.
func (k *Key) SetLimits(limits Limits, name string) {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	k.join(name)
	if limits.PerMinute > 0 {
		k.all.setLimit(min(limits.PerMinute, maxLimit), k.share)
	}
	if limits.HeavyPerMinute > 0 {
		k.heavy.setLimit(min(limits.HeavyPerMinute, maxLimit), k.share)
	}
	if limits.BusinessPerMinute > 0 {
		k.business.limit.setLimit(min(limits.BusinessPerMinute, maxLimit), k.business.share())
	}
	k.business.serve(l)
}

// FollowProcess notes that a process before this one may have used the key within the last
// minute. The first requests then wait some seconds from when the key began,
// for places that it may have spent to come back; FollowProcess returns how long. To be
// called before they are sent; without it what was spent before is known only from
// the first answer.
func (k *Key) FollowProcess() (wait time.Duration) {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if !k.all.previous.unknown {
		return 0
	}
	k.all.assumeSpent(k.began)
	k.heavy.assumeSpent(k.began)
	return max(0, k.began+k.all.step()-l.now())
}

// share of a restaurant's limit is the largest of its keys'.
func (b *business) share() float64 {
	share := 0.0
	for _, k := range b.keys {
		share = max(share, k.share)
	}
	return share
}

// join makes the key one of the business called name, with all it has used and
// has under way.
func (k *Key) join(name string) {
	l := k.ledger
	if name == "" || name == k.business.name {
		return
	}
	b, ok := l.businesses[name]
	switch {
	case !ok && k.business.name == "": // the first one's becomes everybody's
		k.business.name = name
		l.businesses[name] = k.business
		return
	case !ok:
		b = l.newBusiness()
		b.name = name
		l.businesses[name] = b
	}
	old := k.business
	old.keys = slices.DeleteFunc(old.keys, func(other *Key) bool { return other == k })
	b.keys = append(b.keys, k)
	k.carry(old, b)
	k.move(b)
	b.limit.setLimit(b.limit.limit, b.share())
	old.serve(l)
}

// carry takes what the key has used and has under way into another business's
// count. The old one keeps what was counted: it is on the safe side.
func (k *Key) carry(from, to *business) {
	k.all.expire(k.ledger.now())
	for _, at := range k.all.own {
		to.limit.own = insert(to.limit.own, at, 1)
	}
	for p := range k.out {
		from.limit.back()
		to.limit.inFlight++
		p.windows[0], p.gone[0], p.confirmed[0] = to.limit, to.limit.gone, to.limit.previous.confirmed
	}
}

// move makes b the key's business.
func (k *Key) move(b *business) {
	k.business = b
	k.limits = [2][]*window{plain: {b.limit, k.all}, heavyweight: {b.limit, k.all, k.heavy}}
}
