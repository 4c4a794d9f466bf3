package link

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Link is a source's way to the API: one client, seen through the lanes of the
// source's budget (docs/rules.md B4). Its methods may be called from any goroutine.
type Link struct {
	stream.Lanes
	opts  Options
	probe *api.Client // asks for the key, ahead of everything else

	mu        sync.Mutex // guards what follows
	is        View
	failures  int           // probes in a row that failed, each when it was due
	notBefore time.Time     // nothing is asked before, since the service said so
	outage    stream.Outage // that was logged
	answered  time.Time     // when /me last answered
	paused    bool          // a long pause has been reported, and no answer has come since
	shared    bool          // that others use the limits has been reported
	// The keys are secret.
	asked   []string         // the keys there were when /me was last asked
	trying  string           // the key that /me is asked with, or was
	inUse   string           // the one with which it answered; empty: none yet
	refused map[string]error // by key: the answer; none for one that was not
}

// Options are what a link is made of.
type Options struct {
	Queue   *Queue // of all sources
	Source  string
	BaseURL string
	Share   float64       // of every limit
	Key     func() string // as it is configured now
	NextKey func() string // likewise; nil for none
	Ledger  *budget.Ledger
	API     api.Options
	MayAsk  func() error // an error: nothing is to be asked
	Observe func(route string, status int)
	Changed func() // called after each change of its condition that the source's loop acts on
	Log     *slog.Logger
}

// New makes the way to one source.
func New(o Options) (*Link, error) {
	l := &Link{opts: o, is: View{State: status.StateStarting, Since: time.Now()}, refused: map[string]error{}}
	l.Key = o.Ledger.Key(o.Source, o.Share)
	opts := o.API
	opts.BaseURL, opts.Logger = o.BaseURL, o.Log
	// The key of every request but those to /me is the one with which /me has answered. A key of
	// another restaurant, put in the place of this one's, must not bring a single row.
	opts.Key, opts.Observe = l.secret(&l.inUse), func(route string, status int) {
		if status == http.StatusUnauthorized {
			o.Queue.refused()
		}
		o.Observe(route, status)
	}
	client, err := api.New(opts)
	if err != nil {
		return nil, err
	}
	opts.Key, opts.Observe = l.secret(&l.trying), o.Observe
	probe, err := api.New(opts)
	if err != nil {
		return nil, err
	}
	through := func(c *api.Client, lane budget.Lane) *api.Client { return c.Through(gate{l, lane}) }
	l.probe = through(probe, budget.Probe)
	l.Fresh, l.Reconcile = through(client, budget.Fresh), through(client, budget.Reconcile)
	l.Deep, l.Backfill = through(client, budget.Deep), through(client, budget.Backfill)
	return l, nil
}

// candidates are the keys to ask /me with, in order: the first and the next one, those
// behind that were refused.
func (l *Link) candidates() []string {
	now := l.configured()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = now
	maps.DeleteFunc(l.refused, func(key string, _ error) bool { return !slices.Contains(now, key) })
	if len(now) == 2 && l.refused[now[0]] != nil && l.refused[now[1]] == nil {
		return []string{now[1], now[0]}
	}
	return now
}

// configured are the keys as they stand in the configuration now.
func (l *Link) configured() []string {
	keys := []string{l.opts.Key()}
	if l.opts.NextKey == nil {
		return keys
	}
	if next := l.opts.NextKey(); next != "" && next != keys[0] {
		keys = append(keys, next)
	}
	return keys
}

// IsChanged reports whether a key is another than when /me was last asked, and the service has not
// asked to be left alone.
func (l *Link) IsChanged() bool {
	now := l.configured()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked != nil && !slices.Equal(l.asked, now) && !time.Now().Before(l.notBefore)
}

// Me asks /me with the keys there are, one after the other until one is not refused (a key
// can be rotated with 24 hours of overlap: docs/openapi.yaml, Keys). One at a time.
//
// A key that may be wrong waits for its turn in the queue, behind fewer others if all was well
// with the source when it was last served. The key in use of a source that is served is right, and is
// asked with at once.
func (l *Link) Me(ctx context.Context, wasWell bool) (me api.Document[types.Me], err error) {
	var first error
	for _, key := range l.candidates() {
		me, err = l.try(ctx, key, wasWell)
		if errors.Is(err, ErrBusy) {
			return me, cmp.Or(first, err)
		}
		if !api.IsUnauthorized(err) {
			return me, err
		}
		l.opts.Log.Debug("the key was refused")
		first = cmp.Or(first, err)
		l.mu.Lock()
		if key == l.inUse {
			l.is.Ready = false // no walk begins with it while the other one waits for its turn
		}
		l.mu.Unlock()
	}
	return me, first
}

// try waits until a key may be tried, and asks /me with it.
func (l *Link) try(ctx context.Context, key string, wasWell bool) (me api.Document[types.Me], err error) {
	l.mu.Lock()
	inUse, k := key == l.inUse, untried
	switch {
	case inUse && l.is.Ready:
		k = inService
	case l.refused[key] != nil:
		k = triedOnce
	case inUse || wasWell:
		k = known
	}
	l.mu.Unlock()
	leave, err := l.opts.Queue.enter(ctx, k)
	if err != nil {
		return me, err
	}
	wrong := true // also when it panics
	defer func() { leave(wrong) }()
	l.mu.Lock()
	l.trying = key
	l.mu.Unlock()
	me, err = l.probe.Me(ctx)
	refused := isRefused(err)
	// The service may count a disabled key among the wrong ones, and does not answer
	// otherwise than with 429 where there were too many.
	wrong = refused || err != nil && api.IsRateLimited(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		delete(l.refused, key)
	case refused:
		l.refused[key] = err
	}
	return me, err
}

// isRefused is true of the answer to a wrong, deleted or disabled key.
func isRefused(err error) bool { return api.IsUnauthorized(err) || api.IsKeyDisabled(err) }

// Accept takes over an answer of [Link.Me]: its key is sent with everything from now on, and its
// limits hold.
func (l *Link) Accept(me types.Me) {
	l.mu.Lock()
	l.inUse = l.trying
	l.mu.Unlock()
	l.Key.SetLimits(budget.Limits{
		PerMinute:         me.RateLimits.PerMinute,
		BusinessPerMinute: me.RateLimits.BusinessPerMinute,
		HeavyPerMinute:    me.RateLimits.HeavyPerMinute,
	}, l.restaurant(me.Business.ID))
}

// secret returns a key as it is when a request is made.
func (l *Link) secret(key *string) func() string {
	return func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return *key
	}
}

// FollowProcess notes that a process before this one may have used the key, and returns how long
// the first request waits.
func (l *Link) FollowProcess(business string) time.Duration {
	return l.Key.FollowProcess(l.restaurant(business))
}

// restaurant is the budget's name of a restaurant. Those of different services may have one id,
// so the service's address is part of it.
func (l *Link) restaurant(business string) string {
	if business == "" {
		return ""
	}
	host := l.opts.BaseURL
	if u, err := url.Parse(host); err == nil {
		host = u.Host
	}
	return host + " " + business
}

// Budget is how much of its limits is used.
func (l *Link) Budget() status.BudgetStatus {
	u := l.Key.Usage()
	return status.BudgetStatus{
		Shared:  shared(u),
		KeyUsed: u.Key.Used + u.Key.Others, KeyLimit: u.Key.Limit,
		HeavyUsed: u.Heavy.Used + u.Heavy.Others, HeavyLimit: u.Heavy.Limit,
		BusinessUsed: u.Business.Used + u.Business.Others, BusinessLimit: u.Business.Limit,
		PausedUntil: u.PausedUntil,
	}
}

// shared is what others seem to use most of. A 429 alone counts as a quarter.
func shared(u budget.Usage) string {
	most := func(s budget.Share) bool { return 2*s.Others > s.Limit }
	switch {
	case most(u.Key):
		return status.SharedKey
	case most(u.Heavy):
		return status.SharedTotals
	case most(u.Business):
		return status.SharedBusiness
	}
	return ""
}

// longPause is a Retry-After that a limit of a minute does not explain (docs/openapi.yaml, Limits a minute).
const longPause = time.Minute

// warn reports once that the service asks for a long pause, and once that others use the limits.
func (l *Link) warn(v api.Verdict) {
	u := l.Key.Usage()
	used := shared(u)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case v.Status == http.StatusTooManyRequests && v.RetryAfter > longPause && !l.paused:
		l.paused = true
		l.opts.Log.Warn("the service answers 429 and asks for a long pause", "next_try", u.PausedUntil.UTC().Truncate(time.Second))
	case v.Status >= 200 && v.Status < 300:
		l.paused = false
	}
	if used != "" && !l.shared {
		l.shared = true
		l.opts.Log.Warn("someone else seems to use what Larder may ask: X-RateLimit-Remaining leaves few requests, and everything is slower; "+
			"give Larder a key of its own, or set budget_share", "of", used)
	}
}

// refusal is the answer with which the key in use was refused, nil if it was not. It need not be had
// once more by what has waited meanwhile: it would count among the wrong keys of the process's address.
func (l *Link) refusal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused[l.inUse]
}

// gate lets a client's requests through one lane of a budget.
type gate struct {
	link *Link
	lane budget.Lane
}

// Enter implements api.Gate.
func (g gate) Enter(ctx context.Context, heavy bool) (func(api.Verdict), error) {
	permit, err := g.link.Key.Acquire(ctx, g.lane, heavy)
	if err != nil {
		return nil, err
	}
	err = g.link.opts.MayAsk() // meanwhile the source may have been lost
	if err == nil && g.lane != budget.Probe {
		err = g.link.refusal()
	}
	if err != nil {
		permit.Done(budget.Answer{Limit: -1, Remaining: -1})
		return nil, err
	}
	return func(v api.Verdict) {
		permit.Done(budget.Answer{Status: v.Status, Limit: v.Limit, Remaining: v.Remaining, RetryAfter: v.RetryAfter})
		g.link.warn(v)
	}, nil
}
