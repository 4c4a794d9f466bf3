package sandbox

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/keys"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/webhooks"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// online is the online orders of all restaurants, and the way of their events to receivers.
type online struct {
	books  []*ordering.Book // by restaurant
	outbox *webhooks.Outbox
	keys   *keys.Ring
	faults *faults.Box
	clock  func() time.Time
	pings  atomic.Int64
}

// newOnline gives every restaurant its online orders, and their events a way out.
func newOnline(w *world.World, ring *keys.Ring, box *faults.Box, o Options) *online {
	l := &online{keys: ring, faults: box, clock: o.Now}
	l.outbox = webhooks.New(webhooks.Options{Endpoint: l.endpoint, Transport: o.WebhookTransport, Now: o.Now})
	for i := range w.Len() {
		l.books = append(l.books, ordering.New(ordering.Options{
			World: w, Business: i, PerDay: o.OnlineOrders, Apps: func() []ordering.App { return l.apps(i) }, Notify: l.notifier(w.Business(i).Seed()),
		}))
	}
	return l
}

// OnlineOrders are those of restaurant i, from 0.
func (l *online) OnlineOrders(i int) *ordering.Book { return l.books[i] }

func (l *online) play(now int64) {
	for _, b := range l.books {
		b.Play(now)
	}
}

// catchUp moves a restaurant that lives up to an instant, and the time of its online orders
// in any case.
func (l *online) catchUp(business int, now int64) { l.books[business].Advance(now) }

// orderingApp is what package ordering has to know of a key.
func orderingApp(k *keys.Key) ordering.App {
	all, ids := k.AllLocations, k.LocationIDs
	return ordering.App{ID: k.AppID, Test: k.Mode == "test", May: func(id string) bool { return all || slices.Contains(ids, id) }}
}

// apps are the keys of a restaurant that can place orders now.
func (l *online) apps(business int) []ordering.App {
	var apps []ordering.App
	for _, k := range l.keys.Keys() {
		if k.Business == business && k.State == keys.Active && !k.OrderingOff && slices.Contains(k.Scopes, types.ScopeOrders) {
			apps = append(apps, orderingApp(&k))
		}
	}
	return apps
}

// endpoint is where a key's events go: nowhere for a key that the restaurant has disabled or
// deleted, of which the API's description says nothing.
func (l *online) endpoint(app string) (webhooks.Endpoint, bool) {
	k, ok := l.keys.OfApp(app)
	return webhooks.Endpoint{URL: k.WebhookURL, Secret: k.WebhookSecret}, ok && k.WebhookURL != "" && k.State == keys.Active
}

// notifier sends the events of the orders of the restaurant with a seed. The book calls it in
// order.
func (l *online) notifier(seed uint64) func(ordering.Event) {
	n := 0
	return func(e ordering.Event) {
		if _, ok := l.endpoint(e.App); !ok {
			return
		}
		n++
		event := types.WebhookEvent[types.OrderData]{
			ID: webhooks.EventID(seed, e.At, n), Type: e.Type, CreatedAt: e.Order.UpdatedAt, Test: e.Order.Test, Data: types.OrderData{Order: e.Order},
		}
		m := webhooks.Message{ID: event.ID, Type: event.Type, Body: units.JSON(event)}
		l.outbox.Send(e.At, e.App, m, l.mishap(e.App))
	}
}

// webhookRoute is what faults on webhooks know an event by.
const webhookRoute = "webhooks"

// mishap draws what goes wrong with an event.
func (l *online) mishap(app string) webhooks.Mishap {
	var m webhooks.Mishap
	for _, f := range l.faults.Roll(faults.Webhook, faults.Target{Route: webhookRoute, Key: app}) {
		switch f.Kind {
		case faults.WebhookLost:
			m.Lost = true
		case faults.WebhookTwice:
			m.Twice = true
		case faults.WebhookDelayed:
			m.Delay = f.Delay
			if m.Delay == 0 {
				m.Delay = time.Minute
			}
		case faults.WebhookOutOfOrder:
			m.Behind = true
		case faults.WebhookForged:
			m.Forged = true
		}
	}
	return m
}

// DeliverWebhooks moves the online orders up to now, makes every attempt that is due, and
// returns how many when all are answered.
func (l *online) DeliverWebhooks(ctx context.Context) int {
	now := l.clock().UnixMicro()
	for i := range l.books {
		l.catchUp(i, now)
	}
	return l.outbox.Deliver(ctx, now)
}

// somethingDue is true when DeliverWebhooks would do something.
func (l *online) somethingDue() bool {
	now := l.clock().UnixMicro()
	if at, ok := l.outbox.Next(); ok && at <= now {
		return true
	}
	return slices.ContainsFunc(l.books, func(b *ordering.Book) bool {
		at, ok := b.Next()
		return ok && at <= now
	})
}

// Deliveries are the newest events sent or to be sent, oldest first.
func (l *online) Deliveries() []webhooks.Delivery { return l.outbox.Deliveries() }

// orderingTruths are the truths of the streams of ordering, by stream.
var orderingTruths = map[string]func(*online, *request, func(TruthRow) error) error{
	StreamMenus:        (*online).truthOfMenus,
	StreamOnlineOrders: (*online).truthOfOrders,
}

// truthOfOrders is Truth of the orders placed through a key.
func (l *online) truthOfOrders(rq *request, yield func(TruthRow) error) error {
	orders, _ := l.books[rq.key.Business].Since(orderingApp(&rq.key), math.MinInt64, math.MaxInt)
	for i := range orders {
		if err := yield(TruthRow{ID: orders[i].ID, Row: units.JSON(orders[i])}); err != nil {
			return err
		}
	}
	return nil
}

// truthOfMenus is Truth of the menus of a key's locations.
func (l *online) truthOfMenus(rq *request, yield func(TruthRow) error) error {
	rq.open()
	locations := rq.view.LocationIDs()
	rq.view.Close()
	for _, id := range locations {
		m, ok := l.books[rq.key.Business].Menu(orderingApp(&rq.key), id, rq.now)
		if !ok {
			continue
		}
		if err := yield(TruthRow{ID: id, Row: m.JSON}); err != nil {
			return err
		}
	}
	return nil
}
