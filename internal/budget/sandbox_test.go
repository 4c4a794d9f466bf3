package budget_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
)

// lane is a key's lane as the client's gate.
type lane struct {
	key  *budget.Key
	lane budget.Lane
}

func (l lane) Enter(ctx context.Context, heavy bool) (func(api.Verdict), error) {
	permit, err := l.key.Acquire(ctx, l.lane, heavy)
	if err != nil {
		return nil, err
	}
	return func(v api.Verdict) {
		permit.Done(budget.Answer{Status: v.Status, Limit: v.Limit, Remaining: v.Remaining, RetryAfter: v.RetryAfter})
	}, nil
}

// line is the way to the sandbox: it takes time in both directions, and keeps
// when each request arrived.
type line struct {
	to   http.RoundTripper
	mu   sync.Mutex
	rand *rand.Rand

	plain, heavy []time.Time
	refused      int
}

func (l *line) delay() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 5*time.Millisecond + time.Duration(l.rand.Int64N(int64(60*time.Millisecond)))
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(l.delay())
	defer func() { time.Sleep(l.delay()) }()
	l.mu.Lock()
	defer l.mu.Unlock()
	resp, err := l.to.RoundTrip(r)
	if err != nil {
		return resp, err // the end of the test
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		l.refused++
		return resp, nil
	}
	l.plain = append(l.plain, time.Now())
	if r.URL.Path == "/v1/sales/daily" {
		l.heavy = append(l.heavy, time.Now())
	}
	return resp, nil
}

// since is how many instants are not before from.
func since(at []time.Time, from time.Time) int {
	i, _ := slices.BinarySearchFunc(at, from, time.Time.Compare)
	return len(at) - i
}

// TestHoursAgainstTheSandbox drives the client through the budget against the
// sandbox, by each of its algorithms: at least 98 % of the limits, no 429.
func TestHoursAgainstTheSandbox(t *testing.T) {
	for _, algorithm := range []string{sandbox.AlgorithmFixed, sandbox.AlgorithmFixedFirst, sandbox.AlgorithmSliding, sandbox.AlgorithmBucket} {
		t.Run(algorithm, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { hoursAgainstTheSandbox(t, algorithm) })
		})
	}
}

func hoursAgainstTheSandbox(t *testing.T, algorithm string) {
	sb, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 1, Orders: 50, Days: 3, Algorithm: algorithm})
	if err != nil {
		t.Fatal(err)
	}
	keys := sb.Keys()
	way := &line{to: sb.Transport(), rand: rand.New(rand.NewPCG(1, 9))}
	client, err := api.New(api.Options{BaseURL: "http://sandbox.example/v1", Key: func() string { return keys[0].Value }, Transport: way})
	if err != nil {
		t.Fatal(err)
	}
	key := budget.NewLedger(budget.Options{}).Key("bistro", 1)
	through := func(l budget.Lane) *api.Client { return client.Through(lane{key, l}) }

	me, err := through(budget.Probe).Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	limits := me.Value.RateLimits
	key.SetLimits(budget.Limits{PerMinute: limits.PerMinute, BusinessPerMinute: limits.BusinessPerMinute, HeavyPerMinute: limits.HeavyPerMinute}, me.Value.Business.ID)

	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	work := func(n int, ask func() error) {
		for range n {
			group.Go(func() {
				for ctx.Err() == nil {
					if err := ask(); err != nil && ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	backfill, fresh := through(budget.Backfill), through(budget.Fresh)
	work(6, func() error {
		_, err := api.ListAt("/categories").Page(ctx, backfill, api.ListQuery{Limit: 1})
		return err
	})
	work(2, func() error {
		_, err := backfill.SalesDaily(ctx, api.SalesQuery{})
		return err
	})
	var waits []time.Duration
	work(1, func() error {
		select {
		case <-time.After(17 * time.Second):
		case <-ctx.Done():
		}
		asked := time.Now()
		_, err := api.ListAt("/products").Page(ctx, fresh, api.ListQuery{Limit: 1, UpdatedSince: asked.Add(-time.Minute)})
		waits = append(waits, time.Since(asked))
		return err
	})

	time.Sleep(3 * time.Minute)
	from := time.Now()
	time.Sleep(2 * time.Hour)
	minutes := time.Since(from).Minutes()
	cancel()
	group.Wait()
	plain := float64(since(way.plain, from)) / minutes / float64(limits.PerMinute)
	heavy := float64(since(way.heavy, from)) / minutes / float64(limits.HeavyPerMinute)
	slices.Sort(waits)
	p50, p99 := waits[len(waits)/2], waits[len(waits)*99/100]
	t.Logf("usage %.2f %% (heavy %.2f %%), %d × 429; a fresh request is answered after p50 %s p99 %s", 100*plain, 100*heavy, way.refused, p50, p99)
	if plain < 0.98 || heavy < 0.98 || way.refused > 0 || p50 > 125*time.Millisecond || p99 > time.Second {
		t.Errorf("usage %.2f %% (heavy %.2f %%), %d × 429, fresh p50 %s p99 %s", 100*plain, 100*heavy, way.refused, p50, p99)
	}
}
