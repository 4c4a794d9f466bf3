package syncer

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// link is a source's way to the API: one client, seen through the lanes of the
// source's budget (DESIGN §6, B4).
type link struct {
	stream.Lanes
	cfg Source

	mu      sync.Mutex     // guards what follows; all of it is secret
	asked   []string       // the keys there were when /me was last asked
	trying  string         // the key that /me is asked with, or was
	inUse   string         // the one with which it answered; empty: none yet
	refused map[string]int // with which status, by key
	// restoredAt is when the stored state was last read, with which the budget starts.
	restoredAt time.Time

	probe *api.Client // the key
}

func newLink(s *source) (*link, error) {
	l := &link{cfg: s.cfg, refused: map[string]int{}}
	l.Key = s.syncer.opts.Ledger.Key(s.cfg.Name, s.cfg.BudgetShare)
	opts := s.syncer.opts.API
	opts.BaseURL, opts.Logger = s.cfg.BaseURL, s.Log
	opts.Key, opts.Observe = l.secret, s.observe
	client, err := api.New(opts)
	if err != nil {
		return nil, err
	}
	opts.Key = l.tried
	probe, err := api.New(opts)
	if err != nil {
		return nil, err
	}
	l.probe = probe.Through(gate{l.Key, budget.Probe, s.mayAsk})
	l.Fresh = client.Through(gate{l.Key, budget.Fresh, s.mayAsk})
	l.Reconcile = client.Through(gate{l.Key, budget.Reconcile, s.mayAsk})
	l.Deep = client.Through(gate{l.Key, budget.Deep, s.mayAsk})
	l.Backfill = client.Through(gate{l.Key, budget.Backfill, s.mayAsk})
	return l, nil
}

// candidate is a key to ask /me with.
type candidate struct {
	value   string
	inUse   bool // it answered last
	refused bool // it did not, when it was last asked with
}

// candidates are the keys to ask /me with, in order: the first and the next one, those
// behind that were answered 401.
func (l *link) candidates() []candidate {
	now := l.configured()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = now
	maps.DeleteFunc(l.refused, func(key string, _ int) bool { return !slices.Contains(now, key) })
	var all []candidate
	for _, key := range now {
		all = append(all, candidate{value: key, inUse: key == l.inUse, refused: l.refused[key] != 0})
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Compare(l.wrong(a.value), l.wrong(b.value))
	})
	return all
}

// wrong is 1 for a key that was answered 401, else 0; the caller holds the lock.
func (l *link) wrong(key string) int {
	if l.refused[key] == http.StatusUnauthorized {
		return 1
	}
	return 0
}

// configured are the keys as they stand in the configuration now.
func (l *link) configured() []string {
	keys := []string{l.cfg.Key()}
	if l.cfg.NextKey == nil {
		return keys
	}
	if next := l.cfg.NextKey(); next != "" && next != keys[0] {
		keys = append(keys, next)
	}
	return keys
}

// changed is true when a key is another than when /me was last asked.
func (l *link) changed() bool {
	now := l.configured()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked != nil && !slices.Equal(l.asked, now)
}

// try asks /me with a key. One at a time.
func (l *link) try(ctx context.Context, key candidate) (api.Document[api.Me], error) {
	l.mu.Lock()
	l.trying = key.value
	l.mu.Unlock()
	me, err := l.probe.Me(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case api.IsUnauthorized(err):
		l.refused[key.value] = http.StatusUnauthorized
	case api.IsKeyDisabled(err):
		l.refused[key.value] = http.StatusForbidden
	case err == nil:
		delete(l.refused, key.value)
	}
	return me, err
}

// use sends the key that was tried last with everything from now on.
func (l *link) use() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inUse = l.trying
}

// tried is the key to try.
func (l *link) tried() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trying
}

// secret is the key to send with what is no probe: the one with which /me has answered.
// Another restaurant's, put in the place of this one's, must not bring a single row.
func (l *link) secret() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inUse
}

// limits takes over the key's limits. Restaurants of different services may have
// one id, so the service's address is part of the name.
func (l *link) limits(me api.Me) {
	host := l.cfg.BaseURL
	if u, err := url.Parse(host); err == nil {
		host = u.Host
	}
	l.Key.SetLimits(budget.Limits{
		PerMinute:         me.RateLimits.PerMinute,
		BusinessPerMinute: me.RateLimits.BusinessPerMinute,
		HeavyPerMinute:    me.RateLimits.HeavyPerMinute,
	}, host+" "+me.Business.ID)
}

func (l *link) budget() status.BudgetStatus {
	u := l.Key.Usage()
	return status.BudgetStatus{
		KeyUsed: u.Key.Used + u.Key.Others, KeyLimit: u.Key.Limit,
		HeavyUsed: u.Heavy.Used + u.Heavy.Others, HeavyLimit: u.Heavy.Limit,
		BusinessUsed: u.Business.Used + u.Business.Others, BusinessLimit: u.Business.Limit,
		PausedUntil: u.PausedUntil,
	}
}

// gate lets a client's requests through one lane of a budget.
type gate struct {
	key  *budget.Key
	lane budget.Lane
	may  func() error // an error: nothing is to be asked
}

// Enter implements api.Gate.
func (g gate) Enter(ctx context.Context, heavy bool) (func(api.Verdict), error) {
	pass, err := g.key.Enter(ctx, g.lane, heavy)
	if err != nil {
		return nil, err
	}
	if err := g.may(); err != nil { // meanwhile the source may have been lost
		pass.Leave(budget.Answer{Limit: -1, Remaining: -1})
		return nil, err
	}
	return func(v api.Verdict) { pass.Leave(budget.Answer(v)) }, nil
}

// observe counts an attempt of a request.
func (s *source) observe(e api.Exchange) {
	s.mu.Lock()
	s.asks++
	if e.Status == http.StatusTooManyRequests {
		s.limited++
	}
	s.mu.Unlock()
	if e.Status == http.StatusUnauthorized && e.Route != registry.RouteKey {
		s.syncer.keys.Refused()
	}
	s.syncer.metrics.requested(s.cfg.Name, e.Route, e.Status)
}
