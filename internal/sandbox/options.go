package sandbox

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/larder-sync/larder/internal/api"
)

// The ways to count a minute (api.md says "per minute" and leaves the rest open).
const (
	AlgorithmFixed      = "fixed"       // the minute of the clock
	AlgorithmFixedFirst = "fixed-first" // a minute that begins with its first request
	AlgorithmSliding    = "sliding"     // the last 60 seconds, at any moment
	AlgorithmBucket     = "bucket"      // a bucket of one minute's requests, refilled evenly
)

// DefaultLimits are the figures of api.md, "Limits".
var DefaultLimits = api.RateLimits{PerMinute: 120, BusinessPerMinute: 600, HeavyPerMinute: 30, OrdersPerMinute: 30}

// noLimit is what /me reports when limits are off.
const noLimit = 60_000_000

// Options describe the world and how it is served. The zero value is one
// restaurant with two locations and 2,000 orders over 60 days.
type Options struct {
	Seed         int64
	Businesses   int // default 1
	LocationsPer int // default 2, at most 200
	Orders       int // per business, over Days; default 2,000, negative for none
	Days         int // days of history before Epoch; default 60
	ProductsPer  int // per location; default between 60 and 140
	// Epoch is when the generated history ends; default Now() at New. A fixed
	// one gives the same world after a restart.
	Epoch time.Time
	Now   func() time.Time // default time.Now
	// Live moves the world up to Now with every request; without it only Tick
	// and the mutations do.
	Live bool
	// Pace multiplies the number of orders that a live world opens; default 1,
	// which is Orders/Days a day.
	Pace float64
	// Upkeep lets the people of a moving world count stock and change prices too, and
	// suppliers come on days of their own.
	Upkeep    bool
	Algorithm string         // default AlgorithmFixed
	Limits    api.RateLimits // zero fields take DefaultLimits
	NoLimits  bool
	Readings  Readings
	Faults    []Fault
	Record    bool // keep every request for Requests
	Logger    *slog.Logger
}

// Readings choose between readings that api.md leaves open. The zero value is
// the likeliest reading of each.
type Readings struct {
	// RangeByChange lists range mode in order of change, not of created_at.
	RangeByChange bool
	// NeverPaidTombstones lists orders that never were sales in mirror mode, as
	// tombstones of ids never seen.
	NeverPaidTombstones bool
	// NullUpdatedAt makes every n-th category, product and ingredient a row that
	// has no updated_at until it changes; 0 for none. They are left out of walks
	// with updated_since.
	NullUpdatedAt int
	// NullTombstones gives every tombstone of those lists, and every fourth of
	// orders removed after New, a null updated_at and deleted_at; they come in
	// every walk that shows tombstones.
	NullTombstones bool
	// StampDelay lets live changes show up to so long after their stamp; at most
	// two minutes.
	StampDelay time.Duration
	// StampPrecision truncates instants: 1s lets hundreds of rows share one
	// updated_at. Default 1ms; 1µs is the finest.
	StampPrecision time.Duration
	// SharedIDs gives the rows of all restaurants the same ids.
	SharedIDs bool
	// StrangeIDs makes ids with slashes, percent signs, quotes, spaces, emoji,
	// and ids that differ only in case.
	StrangeIDs bool
	// InactiveRowsHidden takes the rows of an inactive location out of the lists
	// and the sales; otherwise only /locations and /me lose it.
	InactiveRowsHidden bool
	// NewMapKeys adds a payment method, an order type and a channel that api.md
	// does not know, in orders, in the maps of the daily totals and in products.
	NewMapKeys bool
	// TightestByLimit reports the limit with the smallest figure in
	// X-RateLimit-*, not the one with the least remaining.
	TightestByLimit bool
	// LooseRange allows to = from + 92 days; otherwise a range has at most 92
	// days, both ends counted.
	LooseRange bool
	// ShortPages answers at most so many rows a page, whatever limit is asked for;
	// 0 for as many as asked. api.md says how many a page has at most, not that it
	// is full.
	ShortPages int
	// OrderingOff switches online ordering off (ordering.status disabled).
	OrderingOff bool
}

// MaxStampDelay is the lookback that api.md asks of clients; a change stamped
// further in the past could be missed by any of them.
const MaxStampDelay = 2 * time.Minute

func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Businesses, 1)
	setDefault(&o.LocationsPer, 2)
	setDefault(&o.Orders, 2000)
	setDefault(&o.Days, 60)
	setDefault(&o.Limits.PerMinute, DefaultLimits.PerMinute)
	setDefault(&o.Limits.BusinessPerMinute, DefaultLimits.BusinessPerMinute)
	setDefault(&o.Limits.HeavyPerMinute, DefaultLimits.HeavyPerMinute)
	setDefault(&o.Limits.OrdersPerMinute, DefaultLimits.OrdersPerMinute)
	setDefault(&o.Pace, 1)
	setDefault(&o.Algorithm, AlgorithmFixed)
	setDefault(&o.Readings.StampPrecision, time.Millisecond)
	if o.NoLimits {
		o.Limits = api.RateLimits{PerMinute: noLimit, BusinessPerMinute: noLimit, HeavyPerMinute: noLimit, OrdersPerMinute: noLimit}
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

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o Options) validate() error {
	switch {
	case o.LocationsPer < 0 || o.LocationsPer > maxLocations:
		return fmt.Errorf("locations per business: %d is not within 1 and %d", o.LocationsPer, maxLocations)
	case o.Businesses < 0:
		return fmt.Errorf("businesses: %d is negative", o.Businesses)
	case o.Days < 0:
		return fmt.Errorf("days: %d is negative", o.Days)
	case o.Readings.StampDelay < 0 || o.Readings.StampDelay > MaxStampDelay:
		return fmt.Errorf("stamp delay: %s is not within 0 and %s", o.Readings.StampDelay, MaxStampDelay)
	}
	switch o.Readings.StampPrecision {
	case time.Second, time.Millisecond, time.Microsecond:
	default:
		return fmt.Errorf("stamp precision: %s is none of 1s, 1ms, 1µs", o.Readings.StampPrecision)
	}
	if newLimiter(o.Algorithm) == nil {
		return fmt.Errorf("algorithm: %q is none of %s, %s, %s, %s", o.Algorithm, AlgorithmFixed, AlgorithmFixedFirst, AlgorithmSliding, AlgorithmBucket)
	}
	for i := range o.Faults {
		if err := o.Faults[i].validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
	}
	return nil
}
