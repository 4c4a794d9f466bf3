package demo

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
)

// The API shows stock, prices, availability and menus only as they are now; their history is
// what was mirrored of them. So the demo mirrors them first as they were on the last days:
// twice a day, before the delivery and after it, when what was sold out the evening before is
// still missing. Orders wait for the backfill, which is to be seen.

// demoWatched is how many days before today are mirrored first: a week of whole ones gives the
// use of stock by weekday, and takes some seconds.
const demoWatched = 8

// demoLooks are the times of day at which they are mirrored.
var demoLooks = []time.Duration{7 * time.Hour, 8 * time.Hour}

// onlineShare is how many orders guests place online through the keys, of as many as the
// restaurant has besides.
const onlineShare = 0.1

var demoLists = []string{"products", "ingredients", "menus"}

// watched is how many of the demo's days are mirrored first: one day at least has sales alone.
func (o Options) watched() int { return min(demoWatched, o.Days-1) }

// world is the restaurants: their history ends where the days begin that go by.
func (o Options) world() sandbox.Options {
	w := sandbox.Options{
		Seed: o.Seed, Businesses: o.Restaurants, LocationsPer: 2,
		Days: o.Days, Orders: o.Days * o.OrdersADay, Live: true, Upkeep: true,
		OnlineOrders: float64(o.OrdersADay) * onlineShare,
	}
	if n := o.watched(); n > 0 {
		w.Days -= n
		w.Orders = w.Days * o.OrdersADay
		w.Epoch = o.day(-n).Add(-time.Millisecond)
	}
	return w
}

// day is the beginning of today, or of the day so many days later, in the restaurants' zone.
func (o Options) day(offset int) time.Time {
	y, m, d := o.began.In(o.zone).Date()
	return time.Date(y, m, d+offset, 0, 0, 0, 0, o.zone)
}

// playPast mirrors the lists as they were on the days before. It has a sandbox of its own,
// with the same restaurants and keys, whose clock goes from look to look.
func (o Options) playPast(ctx context.Context, a *app.App, sources []syncer.Source, sink *clickhouse.Sink) error {
	var clock atomic.Int64
	world := o.world()
	world.NoLimits, world.Now = true, func() time.Time { return time.UnixMicro(clock.Load()) }
	box, err := sandbox.New(world)
	if err != nil {
		return lifecycle.UsageError(err)
	}
	y, err := a.Through(box.Transport(), sources, sink)
	if err != nil {
		return err
	}
	if o.watched() > 0 {
		o.Past(o.watched())
	}
	for offset := -o.watched(); offset <= 0; offset++ {
		for _, hour := range demoLooks {
			at := o.day(offset).Add(hour)
			if !at.Before(o.began) {
				return nil
			}
			clock.Store(at.UnixMicro())
			report, err := y.RunOnce(ctx, syncer.Selection{Streams: demoLists}, nil)
			if err == nil {
				err = report.Err()
			}
			if err != nil {
				return fmt.Errorf("mirror the restaurants as of %s: %w", at.Format(time.DateTime), err)
			}
		}
	}
	return nil
}
