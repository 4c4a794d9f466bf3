package sandbox

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/webhooks"
)

// openBooks gives every restaurant its online orders, and their events a way out.
func (s *Sandbox) openBooks() error {
	s.outbox = webhooks.New(webhooks.Options{Endpoint: s.endpoint, Transport: s.opts.WebhookTransport, Now: s.opts.Now})
	cal, err := units.NewCalendar()
	if err != nil {
		return err
	}
	readings := s.opts.Readings
	readings.StampPrecision = cmp.Or(readings.StampPrecision, time.Millisecond)
	for i := range s.Len() {
		s.books = append(s.books, ordering.New(ordering.Options{
			World: s.World, Business: i, Calendar: cal, Seed: s.opts.Seed, Readings: readings, Staff: s.opts.Live,
			PerDay: s.opts.OnlineOrders, Epoch: s.opts.Epoch, Apps: func() []ordering.App { return s.orderingApps(i) }, Notify: s.notifier(i),
		}))
	}
	return nil
}

// OnlineOrders are those of restaurant i, from 0.
func (s *Sandbox) OnlineOrders(i int) *ordering.Book { return s.books[i] }

// Tick moves all restaurants and their online orders up to now. Steps of any size give the
// same world.
func (s *Sandbox) Tick(now time.Time) {
	for _, b := range s.books {
		b.Play(now.UnixMicro())
	}
}

// catchUp moves a restaurant that lives up to an instant, and the time of its online orders
// in any case.
func (s *Sandbox) catchUp(business int, now int64) { s.books[business].Advance(now) }

// orderingApp is what package ordering has to know of a key.
func orderingApp(k *Key) ordering.App {
	all, ids := k.AllLocations, k.LocationIDs
	return ordering.App{ID: k.AppID, Test: k.Mode == "test", May: func(id string) bool { return all || slices.Contains(ids, id) }}
}

// orderingApps are the keys of a restaurant that can place orders now.
func (s *Sandbox) orderingApps(business int) []ordering.App {
	var apps []ordering.App
	for _, k := range s.Keys() {
		if k.Business == business && k.State == KeyActive && !k.OrderingOff && slices.Contains(k.Scopes, api.ScopeOrders) {
			apps = append(apps, orderingApp(&k))
		}
	}
	return apps
}

// keyOf is the key with an AppID.
func (s *Sandbox) keyOf(app string) (Key, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.keys.apps {
		if a.AppID == app {
			return a.clone(), true
		}
	}
	return Key{}, false
}

// endpoint is where a key's events go: nowhere for a key that the restaurant has disabled or
// deleted, of which api.md says nothing.
func (s *Sandbox) endpoint(app string) (webhooks.Endpoint, bool) {
	k, ok := s.keyOf(app)
	return webhooks.Endpoint{URL: k.WebhookURL, Secret: k.WebhookSecret}, ok && k.WebhookURL != "" && k.State == KeyActive
}

// notifier sends the events of a restaurant's orders. The book calls it in order.
func (s *Sandbox) notifier(business int) func(ordering.Event) {
	n := 0
	seed := s.Business(business).Seed()
	return func(e ordering.Event) {
		if _, ok := s.endpoint(e.App); !ok {
			return
		}
		n++
		event := api.WebhookEvent[api.OrderData]{
			ID: webhooks.EventID(seed, e.At, n), Type: e.Type, CreatedAt: e.Order.UpdatedAt, Test: e.Order.Test, Data: api.OrderData{Order: e.Order},
		}
		m := webhooks.Message{ID: event.ID, Type: event.Type, Body: units.JSON(event)}
		s.outbox.Send(e.At, e.App, m, s.mishap(e.App))
	}
}

// webhookRoute is what faults on webhooks know an event by.
var webhookRoute = route{name: "webhooks"}

// mishap draws what goes wrong with an event.
func (s *Sandbox) mishap(app string) webhooks.Mishap {
	var m webhooks.Mishap
	for _, f := range s.faults.roll(stageWebhook, &request{s: s, route: &webhookRoute, key: Key{AppID: app}}, nil) {
		switch f.Kind {
		case FaultWebhookLost:
			m.Lost = true
		case FaultWebhookTwice:
			m.Twice = true
		case FaultWebhookDelayed:
			m.Delay = f.Delay
			if m.Delay == 0 {
				m.Delay = time.Minute
			}
		case FaultWebhookOutOfOrder:
			m.Behind = true
		case FaultWebhookForged:
			m.Forged = true
		}
	}
	return m
}

// DeliverWebhooks moves the online orders up to now, makes every attempt that is due, and
// returns how many when all are answered.
func (s *Sandbox) DeliverWebhooks(ctx context.Context) int {
	now := s.now()
	for i := range s.books {
		s.catchUp(i, now)
	}
	return s.outbox.Deliver(ctx, now)
}

// somethingDue tells whether DeliverWebhooks would do something.
func (s *Sandbox) somethingDue() bool {
	now := s.now()
	if at, ok := s.outbox.Next(); ok && at <= now {
		return true
	}
	return slices.ContainsFunc(s.books, func(b *ordering.Book) bool {
		at, ok := b.Next()
		return ok && at <= now
	})
}

// Deliveries are the newest events sent or to be sent, oldest first.
func (s *Sandbox) Deliveries() []webhooks.Delivery { return s.outbox.Deliveries() }

// truthOfOrdering is Truth of the menus of a key's locations, or of the orders placed through
// it.
func (s *Sandbox) truthOfOrdering(rq *request, stream string, yield func(TruthRow) error) error {
	book, app := s.books[rq.key.Business], orderingApp(&rq.key)
	if stream == StreamOnlineOrders {
		orders, _ := book.Since(app, math.MinInt64, math.MaxInt)
		for i := range orders {
			if err := yield(TruthRow{ID: orders[i].ID, Row: units.JSON(orders[i])}); err != nil {
				return err
			}
		}
		return nil
	}
	rq.open()
	locations := rq.view.LocationIDs()
	rq.view.Close()
	for _, id := range locations {
		m, ok := book.Menu(app, id, rq.now)
		if !ok {
			continue
		}
		if err := yield(TruthRow{ID: id, Row: m.JSON}); err != nil {
			return err
		}
	}
	return nil
}
