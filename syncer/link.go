package syncer

import (
	"context"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
)

// link is a source's way to the API: one client, seen through the lanes of the
// source's budget (DESIGN §6, B4).
type link struct {
	cfg  Source
	next atomic.Bool // the next key is in use
	key  *budget.Key
	// recalled is when the stored state was last read, with which the budget starts.
	recalled time.Time

	probe     *api.Client // the key
	fresh     *api.Client // incremental walks and snapshots
	reconcile *api.Client // totals of yesterday and today, and what heals
	deep      *api.Client // totals of many days
	backfill  *api.Client // all that takes long
}

func newLink(s *source) (*link, error) {
	l := &link{cfg: s.cfg, key: s.syncer.opts.Ledger.Key(s.cfg.Name, s.cfg.BudgetShare)}
	opts := s.syncer.opts.API
	opts.BaseURL, opts.Logger = s.cfg.BaseURL, s.log
	opts.Key, opts.Observe = l.secret, s.observe
	client, err := api.New(opts)
	if err != nil {
		return nil, err
	}
	l.probe = client.Through(gate{l.key, budget.Probe, s.mayAsk})
	l.fresh = client.Through(gate{l.key, budget.Fresh, s.mayAsk})
	l.reconcile = client.Through(gate{l.key, budget.Reconcile, s.mayAsk})
	l.deep = client.Through(gate{l.key, budget.Deep, s.mayAsk})
	l.backfill = client.Through(gate{l.key, budget.Backfill, s.mayAsk})
	return l, nil
}

// secret is the key to send. The next key takes the first one's place by being
// moved there: with none left, the first is it.
func (l *link) secret() string {
	if l.next.Load() {
		if key := l.cfg.NextKey(); key != "" {
			return key
		}
		l.next.Store(false)
	}
	return l.cfg.Key()
}

// swap changes to the other key; it is false when there is none.
func (l *link) swap() bool {
	if l.cfg.NextKey == nil || l.cfg.NextKey() == "" {
		return false
	}
	l.next.Store(!l.next.Load())
	return true
}

// limits takes over the key's limits. Restaurants of different services may have
// one id, so the service's address is part of the name.
func (l *link) limits(me api.Me) {
	host := l.cfg.BaseURL
	if u, err := url.Parse(host); err == nil {
		host = u.Host
	}
	l.key.SetLimits(budget.Limits{
		PerMinute:         me.RateLimits.PerMinute,
		BusinessPerMinute: me.RateLimits.BusinessPerMinute,
		HeavyPerMinute:    me.RateLimits.HeavyPerMinute,
	}, host+" "+me.Business.ID)
}

func (l *link) budget() BudgetStatus {
	u := l.key.Usage()
	return BudgetStatus{
		KeyUsed: u.Key.Used + u.Key.Others, KeyLimit: u.Key.Limit,
		HeavyUsed: u.Heavy.Used + u.Heavy.Others, HeavyLimit: u.Heavy.Limit,
		BusinessUsed: u.Business.Used + u.Business.Others, BusinessLimit: u.Business.Limit,
		PausedUntil: u.PausedUntil,
	}
}

// expect is how long so many requests of a backfill will take.
func (l *link) expect(requests int) time.Duration {
	return l.key.Forecast(requests, budget.Backfill, false)
}

// expectDeep is how long so many questions of a deep run will take.
func (l *link) expectDeep(questions int) time.Duration {
	return l.key.Forecast(questions, budget.Deep, true)
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
	if e.Status == 429 {
		s.limited++
	}
	s.mu.Unlock()
	s.syncer.metrics.requested(s.cfg.Name, e.Route, e.Status)
}
