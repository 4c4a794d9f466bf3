package ordering

import (
	"fmt"
	"sync"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// App is a key as far as ordering goes.
type App struct {
	ID   string
	Test bool // its orders never reach the till
	May  func(locationID string) bool
}

// Event is a change that a webhook tells of, as an order is right after it.
type Event struct {
	At    int64
	Type  string // order.accepted …
	App   string
	Order types.OnlineOrder
}

// Options name the restaurant of a Book, and say what happens in it by itself. In a live world the staff
// answers and prepares what is ordered; in another nobody does, and an order is rejected when
// its time to be answered is over.
type Options struct {
	World    *world.World
	Business int
	// PerDay is how many orders guests place by themselves, from the world's Epoch on; 0 for
	// none.
	PerDay float64
	// Apps are the keys that guests may order through.
	Apps func() []App
	// Notify is called with each event in order, and must not ask the Book for anything.
	Notify func(Event)
}

// Book is the online orders of one restaurant. Its methods may be called from many
// goroutines. An instant that they take is in microseconds.
type Book struct {
	world    *world.World
	business *world.Business
	cal      *units.Calendar

	mu           sync.Mutex // guards what follows
	orders       register
	transitions  transitions
	menus        menus
	appointments appointments
	guests       guests
	staff        *staff // nil: nobody answers
}

// New makes the book of one restaurant, empty.
func New(o Options) *Book {
	business, of := o.World.Business(o.Business), o.World.Options()
	seed, idSeed := seeded.New(business.Seed(), 20).S, seeded.New(business.Seed(), 21).S
	if of.Readings.SharedIDs {
		idSeed = seeded.New(uint64(of.Seed), 21).S
	}
	b := &Book{
		world: o.World, business: business, cal: o.World.Calendar(),
		orders: newRegister(idSeed, of.Readings.StrangeIDs, of.Precision()),
		menus:  menus{business: business, made: map[string]*Menu{}},
	}
	b.guests = guests{seed: seed, cal: b.cal, perDay: o.PerDay, apps: o.Apps}
	b.transitions = transitions{orders: &b.orders, till: o.World.Till(o.Business), notify: o.Notify}
	if of.Live {
		b.staff = &staff{seed: seed, appointments: &b.appointments}
	}
	if o.PerDay > 0 {
		first := units.FloorDiv(of.Epoch.UnixMicro(), units.Minute) + 1
		b.appointments.add(appointment{at: first * units.Minute, what: minuteBegins})
	}
	return b
}

// StopGuests lets no guest order by themselves any more.
func (b *Book) StopGuests() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guests.perDay = 0
}

// Advance moves a live restaurant and its orders up to an instant.
func (b *Book) Advance(now int64) { b.advance(now, b.world.CatchUp) }

// Play moves the restaurant, live or not, and its orders up to an instant.
func (b *Book) Play(now int64) { b.advance(now, b.world.Move) }

func (b *Book) advance(now int64, move func(*world.Business, int64)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		next, ok := b.appointments.Due(now)
		if !ok {
			break
		}
		// The restaurant moves first to the instant at which something happens to the order.
		move(b.business, next.at)
		b.happen(next)
	}
	move(b.business, now)
}

// happen carries out one appointment. The staff leaves alone what has gone another way
// since: a move that the status does not allow is not made.
func (b *Book) happen(e appointment) {
	switch e.what {
	case minuteBegins:
		b.appointments.add(appointment{at: e.at + units.Minute, what: minuteBegins})
		b.guests.drawMinute(e.at, b.menus.locationIDs(e.at), &b.appointments)
	case guestOrders:
		b.guestOrder(e)
	case answerOver:
		if e.order.status == received {
			b.transitions.reject(e.order, "no_response", nil, e.at)
		}
	default:
		_ = b.transitions.do(e.order, e.move(), e.at) // refused: it has gone another way
	}
}

// guestOrder lets a guest order. What the restaurant refuses, it refuses.
func (b *Book) guestOrder(e appointment) {
	g := b.guests.draw(e)
	app, ok := b.guests.app(&g, e.location)
	if !ok {
		return
	}
	l, m, ok := b.menus.at(app, e.location, e.at)
	if !ok {
		return
	}
	r := b.guests.request(&g, e, &l, m)
	if len(r.items) == 0 || b.orders.external[externalKey{app.ID, r.externalID}] != nil {
		return
	}
	_, _ = b.order(app, r, e.at) // refused: the guest goes elsewhere
}

// Next is when something happens by itself next.
func (b *Book) Next() (at int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.appointments.Next()
}

// Menu is what can be ordered at a location now; false for one that the key does not see.
func (b *Book) Menu(app App, locationID string, now int64) (*Menu, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, m, ok := b.menus.at(app, locationID, now)
	return m, ok
}

// Order is an order of the key by the service's id.
func (b *Book) Order(app App, id string) (types.OnlineOrder, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.orders.seen(app, b.orders.byID[id])
}

// External is an order of the key by its own id.
func (b *Book) External(app App, externalID string) (types.OnlineOrder, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.orders.seen(app, b.orders.external[externalKey{app.ID, externalID}])
}

// Since are up to limit orders of the key changed at or after an instant, oldest change
// first. next is the updated_at of the first that is left out: where the next call begins,
// so that it neither misses nor repeats one. It is nil when nothing is left.
func (b *Book) Since(app App, since int64, limit int) (orders []types.OnlineOrder, next *types.Instant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.orders.since(app, since, limit)
}

// maxReason is the length of a cancel reason (docs/openapi.yaml, CancelRequest).
const maxReason = 255

// Cancel is POST /orders/{order_id}/cancel: the key takes an order back that nobody has
// answered. The body may be empty.
func (b *Book) Cancel(app App, id string, body []byte, now int64) (types.OnlineOrder, *refusal.Refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.orders.byID[id]
	if o == nil || !o.sees(app) {
		return types.OnlineOrder{}, refusal.Of(refusal.NotFound)
	}
	var reason *string
	if len(body) > 0 {
		in, refused := readObject(body)
		if refused != nil {
			return types.OnlineOrder{}, refused
		}
		reason = in.text("reason", 0, maxReason, false)
		if refused := in.bad.Refusal(); refused != nil {
			return types.OnlineOrder{}, refused
		}
	}
	if o.status != received {
		return types.OnlineOrder{}, &refusal.Refusal{Code: refusal.CannotCancel, Details: map[string]any{"status": o.status}}
	}
	b.transitions.cancel(o, "customer", reason, now)
	return b.orders.shown(o), nil
}

// Do moves an order, and fails when its status does not allow that.
func (b *Book) Do(id string, m Move, now int64) (types.OnlineOrder, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.orders.byID[id]
	if o == nil {
		return types.OnlineOrder{}, fmt.Errorf("%s online order %q: %w", m.Kind, id, ErrNoOrder)
	}
	if err := b.transitions.do(o, m, now); err != nil {
		return types.OnlineOrder{}, fmt.Errorf("%s online order %q: %w", m.Kind, id, err)
	}
	return b.orders.shown(o), nil
}
