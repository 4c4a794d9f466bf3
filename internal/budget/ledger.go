package budget

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// Options configure a [Ledger]; zero fields take the defaults named here.
type Options struct {
	// Jitter returns numbers in [0,1) that spread what resumes after a 429;
	// default from math/rand/v2.
	Jitter func() float64
	// Log reports a panic of a timer; default none.
	Log *slog.Logger
	// Limits hold until /me has answered; default [DefaultLimits].
	Limits Limits
}

// Limits are requests a minute, as /me reports them. Fields that are not positive
// leave the figure as it is.
type Limits struct {
	PerMinute         int // of the key
	BusinessPerMinute int // of the restaurant, all its keys together
	HeavyPerMinute    int // of the key, for the heavy routes
}

// DefaultLimits are the figures of docs/openapi.yaml, Limits a minute.
var DefaultLimits = Limits{PerMinute: 120, BusinessPerMinute: 600, HeavyPerMinute: 30}

// maxLimit bounds the limits that /me reports: each request is remembered for two
// minutes, and no service allows as many.
const maxLimit = 1_000_000

// or fills in what is not given.
func (l Limits) or(base Limits) Limits {
	pick := func(given, base int) int {
		if given <= 0 {
			return base
		}
		return min(given, maxLimit)
	}
	return Limits{
		PerMinute:         pick(l.PerMinute, base.PerMinute),
		BusinessPerMinute: pick(l.BusinessPerMinute, base.BusinessPerMinute),
		HeavyPerMinute:    pick(l.HeavyPerMinute, base.HeavyPerMinute),
	}
}

// Ledger keeps the budgets of all keys of the process. It is safe for
// concurrent use.
type Ledger struct {
	opts  Options
	start time.Time

	mu         sync.Mutex
	keys       map[string]*Key
	businesses map[string]*business
	arrivals   uint64 // waiters so far
}

// NewLedger makes a ledger without keys.
func NewLedger(opts Options) *Ledger {
	if opts.Jitter == nil {
		opts.Jitter = rand.Float64
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	opts.Limits = opts.Limits.or(DefaultLimits)
	return &Ledger{opts: opts, start: time.Now(), keys: map[string]*Key{}, businesses: map[string]*business{}}
}

func (l *Ledger) now() instant { return time.Since(l.start) }

// Key is the budget of one key.
type Key struct {
	ledger *Ledger
	name   string

	// All below is guarded by ledger.mu.
	share     float64
	business  *business
	all       *window
	heavy     *window
	queues    [lanes][2][]*waiter // by lane and weight
	passed    [2]int              // by weight: requests of the urgent lanes since one of the others
	sent      [lanes][2]rate      // by lane and weight
	granted   [lanes]uint64
	latency   time.Duration // smoothed
	began     instant
	forgotten bool // dropped when none of its requests counts any more
}

// business is what the keys of one restaurant share: its limit, and the order in
// which they are served.
type business struct {
	ledger *Ledger
	name   string // empty: not known yet
	limit  *window
	keys   []*Key // the key served last is at the end
	timer  *time.Timer
}

// Key is the budget of the key called name. The last call decides the share, the part of every
// limit that may be used, in (0,1]. What the key has used stays used.
func (l *Ledger) Key(name string, share float64) *Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
	if k, ok := l.keys[name]; ok {
		k.forgotten, k.share = false, validShare(share)
		k.setLimits(Limits{})
		return k
	}
	k := &Key{ledger: l, name: name, share: validShare(share), began: l.now()}
	k.all, k.heavy = newWindow(l.opts.Limits.PerMinute, k.share), newWindow(l.opts.Limits.HeavyPerMinute, k.share)
	k.all.begin(k.began)
	k.heavy.begin(k.began)
	k.business = l.newBusiness("", k)
	l.keys[name] = k
	return k
}

func validShare(share float64) float64 {
	if share <= 0 || share > 1 {
		return 1
	}
	return share
}

func (l *Ledger) newBusiness(name string, keys ...*Key) *business {
	b := &business{ledger: l, name: name, keys: keys, limit: newWindow(l.opts.Limits.BusinessPerMinute, 1)}
	b.timer = time.AfterFunc(never, func() {
		lifecycle.Recovered(l.opts.Log, "the budget", func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			b.serve()
		})
	})
	b.timer.Stop()
	b.limit.begin(l.now())
	b.setLimit(l.opts.Limits.BusinessPerMinute)
	return b
}

// setLimit changes the restaurant's limit, and its share: the largest of its keys'.
func (b *business) setLimit(limit int) {
	share := 0.0
	for _, k := range b.keys {
		if !k.forgotten {
			share = max(share, k.share)
		}
	}
	b.limit.setLimit(limit, share)
}

// SetLimits takes over what /me reports: the limits, and which restaurant the key
// belongs to. Keys with the same business share its limit, so the name must differ
// for restaurants of different services. It may be called at any time.
func (k *Key) SetLimits(limits Limits, name string) {
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	k.join(name)
	k.setLimits(limits)
}

// setLimits takes over limits that are given.
func (k *Key) setLimits(limits Limits) {
	limits = limits.or(Limits{k.all.limit, k.business.limit.limit, k.heavy.limit})
	k.all.setLimit(limits.PerMinute, k.share)
	k.heavy.setLimit(limits.HeavyPerMinute, k.share)
	k.business.setLimit(limits.BusinessPerMinute)
	k.business.serve()
}

// FollowProcess notes that a process before this one may have used the key within the last
// minute, for the restaurant called name, as for [Key.SetLimits]. The first requests then wait
// until some of that process's have stopped counting; FollowProcess returns how long. To be
// called before anything is sent.
func (k *Key) FollowProcess(name string) (wait time.Duration) {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if k.all.ours(now-cycle) > 0 {
		return 0
	}
	k.join(name)
	began := k.began
	if now >= began+cycle { // it has waited for another process to end, which may just have done so
		began = now
	}
	for _, w := range k.windows(true) {
		if w.ours(now-cycle) == 0 { // keys of the restaurant may be at work already
			w.begin(max(w.began, began+w.firstWait()))
			w.follows = true
		}
	}
	return max(0, k.all.began-now)
}

// join makes the key one of the business called name, with all that it has sent.
func (k *Key) join(name string) {
	l, old := k.ledger, k.business
	if name == "" || name == old.name {
		return
	}
	b, ok := l.businesses[name]
	if !ok && old.name == "" { // the first one's becomes everybody's
		old.name = name
		l.businesses[name] = old
		return
	}
	if !ok {
		b = l.newBusiness(name)
		l.businesses[name] = b
	}
	// What the key has under way goes along. What was answered stays in the old log
	// as well, which is on the safe side.
	for _, until := range k.all.counting(l.now()) {
		b.limit.add(until)
	}
	b.limit.merge(old.limit)
	old.limit.inFlight -= k.all.inFlight
	b.limit.inFlight += k.all.inFlight
	b.keys = append(b.keys, k)
	k.business = b
	b.setLimit(b.limit.limit)
	k.leave(old)
}

// leave takes the key off the keys of a business.
func (k *Key) leave(b *business) {
	b.keys = slices.DeleteFunc(b.keys, func(other *Key) bool { return other == k })
	if len(b.keys) == 0 {
		delete(k.ledger.businesses, b.name)
		return
	}
	b.setLimit(b.limit.limit)
	b.serve()
}

// windows are the limits that a request counts in.
func (k *Key) windows(heavy bool) []*window {
	if heavy {
		return []*window{k.business.limit, k.all, k.heavy}
	}
	return []*window{k.business.limit, k.all}
}

// Forget drops a key that is no longer configured, as soon as nothing that it has
// used counts any more. A [Ledger.Key] of the same name before then is that key
// again, with all it has spent (docs/rules.md B2).
func (l *Ledger) Forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.keys[name]; ok {
		k.forgotten = true
		k.business.setLimit(k.business.limit.limit)
		l.drop()
	}
}

// drop removes the forgotten keys of which nothing counts any more.
func (l *Ledger) drop() {
	now := l.now()
	for name, k := range l.keys {
		if k.forgotten && k.all.ours(now) == 0 && k.waiting() == 0 && max(k.all.pausedUntil, k.heavy.pausedUntil, k.business.limit.pausedUntil) <= now {
			delete(l.keys, name)
			k.leave(k.business)
		}
	}
}
