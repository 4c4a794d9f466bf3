package world

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/readings"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/locations"
)

// World is the restaurants and their clock. Its methods may be called from many
// goroutines.
type World struct {
	opts       Options
	cal        *units.Calendar
	businesses []*Business
	tampered   atomic.Bool  // a test has put bytes in place of a row
	end        atomic.Int64 // from where on nothing moves, in microseconds; 0: the world goes on
}

// New makes the restaurants. They are the same for the same Seed, sizes and Epoch.
func New(o Options) (*World, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	cal, err := units.NewCalendar()
	if err != nil {
		return nil, err
	}
	w := &World{opts: o, cal: cal}
	for i := range o.Businesses {
		w.businesses = append(w.businesses, newBusiness(&w.opts, cal, i))
	}
	return w, nil
}

// Len is the number of restaurants.
func (w *World) Len() int { return len(w.businesses) }

// Business is restaurant i, from 0.
func (w *World) Business(i int) *Business { return w.businesses[i] }

// Now is the instant of the world's clock.
func (w *World) Now() time.Time { return w.opts.Now() }

// Tampered reports whether a test has put bytes in place of a row.
func (w *World) Tampered() bool { return w.tampered.Load() }

// Calendar is that of all restaurants.
func (w *World) Calendar() *units.Calendar { return w.cal }

// Options are those that the world was made with, defaults filled in.
func (w *World) Options() Options { return w.opts }

// Tick moves the whole world up to now. Steps of any size give the same world.
func (w *World) Tick(now time.Time) {
	for _, b := range w.businesses {
		w.Move(b, now.UnixMicro())
	}
}

// StopAt lets the world move no further than an instant. The service's clock goes on, and
// its limits with it.
func (w *World) StopAt(end time.Time) { w.end.Store(end.UnixMicro()) }

// Move moves one restaurant up to an instant, in microseconds.
func (w *World) Move(b *Business, now int64) {
	if end := w.end.Load(); end != 0 {
		now = min(now, end)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timeline.advance(now)
}

// CatchUp moves one restaurant of a live world up to an instant, in microseconds.
func (w *World) CatchUp(b *Business, now int64) {
	if !w.opts.Live {
		return
	}
	b.mu.RLock()
	idle := b.timeline.idle(now)
	b.mu.RUnlock()
	if !idle {
		w.Move(b, now)
	}
}

// Options describe the restaurants. The zero value is one with two locations and
// 2,000 orders over 60 days.
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
	// Live moves the world up to Now whenever it is read; without it only Tick
	// and the mutations do.
	Live bool
	// Pace multiplies the number of orders that a live world opens; default 1,
	// which is Orders/Days a day.
	Pace float64
	// Upkeep lets the people of a moving world count stock and change prices too, and
	// suppliers come on days of their own.
	Upkeep   bool
	Readings readings.Readings
}

// Precision is the step of instants.
func (o Options) Precision() units.Precision {
	return units.Precision(o.Readings.StampPrecision)
}

func (o Options) withDefaults() Options {
	o.Businesses = cmp.Or(o.Businesses, 1)
	o.LocationsPer = cmp.Or(o.LocationsPer, 2)
	o.Orders = cmp.Or(o.Orders, 2000)
	o.Days = cmp.Or(o.Days, 60)
	o.Pace = cmp.Or(o.Pace, 1)
	o.Readings.StampPrecision = cmp.Or(o.Readings.StampPrecision, time.Millisecond)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Epoch.IsZero() {
		o.Epoch = o.Now()
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.LocationsPer < 0 || o.LocationsPer > locations.Max:
		return fmt.Errorf("locations per business: %d is not within 1 and %d", o.LocationsPer, locations.Max)
	case o.Businesses < 0:
		return fmt.Errorf("businesses: %d is negative", o.Businesses)
	case o.Days < 0:
		return fmt.Errorf("days: %d is negative", o.Days)
	case o.Readings.StampDelay < 0 || o.Readings.StampDelay > readings.MaxStampDelay:
		return fmt.Errorf("stamp delay: %s is not within 0 and %s", o.Readings.StampDelay, readings.MaxStampDelay)
	}
	switch o.Readings.StampPrecision {
	case time.Second, time.Millisecond, time.Microsecond, 100 * time.Nanosecond, time.Nanosecond:
	default:
		return fmt.Errorf("stamp precision: %s is none of 1s, 1ms, 1µs, 100ns, 1ns", o.Readings.StampPrecision)
	}
	return nil
}
