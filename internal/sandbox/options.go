package sandbox

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/answers"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/keys"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// DefaultLimits are the figures of docs/openapi.yaml, Limits a minute.
var DefaultLimits = types.RateLimits{PerMinute: 120, BusinessPerMinute: 600, HeavyPerMinute: 30, OrdersPerMinute: 30}

// Options describe the restaurants, as world.Options do, and how they are served.
type Options struct {
	Seed         int64
	Businesses   int
	LocationsPer int
	Orders       int
	Days         int
	ProductsPer  int
	Epoch        time.Time
	Now          func() time.Time
	Live         bool
	Pace         float64
	Upkeep       bool
	Algorithm    string           // one of keys.Algorithms; default AlgorithmFixed
	Limits       types.RateLimits // zero fields take DefaultLimits
	NoLimits     bool
	Readings     Readings
	Faults       []faults.Fault
	Record       bool // keep every request for Requests
	Logger       *slog.Logger
	// OnlineOrders is how many orders a day guests place in each restaurant through its
	// keys, from Epoch on; default none.
	OnlineOrders float64
	// WebhookTransport carries webhooks; default http.DefaultTransport.
	WebhookTransport http.RoundTripper
	// Inspect is called with each answer of the API, before it is sent; nil for tests that
	// check none. Answers that a fault has struck are left out, and all answers once a test
	// has put bytes in place of a row.
	Inspect func(answers.Answer)
}

func (o Options) withDefaults() (Options, error) {
	o.Limits.PerMinute = cmp.Or(o.Limits.PerMinute, DefaultLimits.PerMinute)
	o.Limits.BusinessPerMinute = cmp.Or(o.Limits.BusinessPerMinute, DefaultLimits.BusinessPerMinute)
	o.Limits.HeavyPerMinute = cmp.Or(o.Limits.HeavyPerMinute, DefaultLimits.HeavyPerMinute)
	o.Limits.OrdersPerMinute = cmp.Or(o.Limits.OrdersPerMinute, DefaultLimits.OrdersPerMinute)
	o.Algorithm = cmp.Or(o.Algorithm, keys.AlgorithmFixed)
	if o.NoLimits {
		o.Limits = types.RateLimits{PerMinute: keys.NoLimit, BusinessPerMinute: keys.NoLimit, HeavyPerMinute: keys.NoLimit, OrdersPerMinute: keys.NoLimit}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Epoch.IsZero() {
		o.Epoch = o.Now()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, o.validate()
}

// world is what describes the restaurants.
func (o Options) world() world.Options {
	return world.Options{
		Seed: o.Seed, Businesses: o.Businesses, LocationsPer: o.LocationsPer, Orders: o.Orders, Days: o.Days, ProductsPer: o.ProductsPer,
		Epoch: o.Epoch, Now: o.Now, Live: o.Live, Pace: o.Pace, Upkeep: o.Upkeep, Readings: o.Readings,
	}
}

// ring is the keys of the restaurants.
func (o Options) ring(w *world.World) *keys.Ring {
	var businesses []keys.Business
	for i := range w.Len() {
		businesses = append(businesses, w.Business(i))
	}
	return keys.New(businesses, keys.Limits{Algorithm: o.Algorithm, PerKey: o.Limits, Off: o.NoLimits, TightestByLimit: o.Readings.TightestByLimit}, o.Now)
}

func (o Options) validate() error {
	if !slices.Contains(keys.Algorithms, o.Algorithm) {
		return fmt.Errorf("algorithm: %q is none of %s", o.Algorithm, strings.Join(keys.Algorithms, ", "))
	}
	if o.OnlineOrders < 0 {
		return fmt.Errorf("online orders: %g a day; allowed: 0 or more", o.OnlineOrders)
	}
	for i := range o.Faults {
		if err := o.Faults[i].Validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
	}
	return nil
}
