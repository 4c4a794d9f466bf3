package ordering

import (
	"fmt"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/readings"
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
	Order api.OnlineOrder
}

// Options say what a Book is of, and what happens in it by itself.
type Options struct {
	World    *world.World
	Business int
	Calendar *units.Calendar
	Seed     int64
	Readings readings.Readings
	// Staff answers and prepares what is ordered. Without it nobody does, and an order is
	// rejected when its time to be answered is over.
	Staff bool
	// PerDay is how many orders guests place by themselves, from Epoch on; 0 for none.
	PerDay float64
	Epoch  time.Time
	// Apps are the keys that guests may order through.
	Apps func() []App
	// Notify is told each event in order, and must not ask the Book for anything.
	Notify func(Event)
}

// Book is the online orders of one restaurant. Its methods may be called from many
// goroutines. An instant that they take is in microseconds.
type Book struct {
	mu       sync.Mutex
	opts     Options
	world    *world.World
	business *world.Business
	till     world.Till
	cal      *units.Calendar
	seed     uint64
	idSeed   uint64

	precision units.Precision
	last      int64 // the newest updated_at

	orders   []*order
	byID     map[string]*order
	external map[externalKey]*order
	changes  map[string][]change // by app, in order of updated_at; stale ones among them
	menus    map[string]*Menu    // by location
	view     world.View
	agenda   agenda
}

// externalKey is what makes POST /orders idempotent: unique per key.
type externalKey struct{ app, id string }

// New makes the book of one restaurant, empty.
func New(o Options) *Book {
	business := o.World.Business(o.Business)
	b := &Book{
		opts: o, world: o.World, business: business, till: o.World.Till(o.Business), cal: o.Calendar,
		seed: seeded.New(business.Seed(), 20).S, idSeed: seeded.New(business.Seed(), 21).S,
		byID: map[string]*order{}, external: map[externalKey]*order{}, changes: map[string][]change{}, menus: map[string]*Menu{},
	}
	if o.Readings.SharedIDs {
		b.idSeed = seeded.New(uint64(o.Seed), 21).S
	}
	b.precision = units.Precision(max(o.Readings.StampPrecision.Microseconds(), 1))
	if o.PerDay > 0 {
		first := units.FloorDiv(o.Epoch.UnixMicro(), units.Minute) + 1
		b.agenda.add(appointment{at: first * units.Minute, what: minuteBegins})
	}
	return b
}

// orderID is opaque; with strange ids it breaks clients that parse or forget to escape.
func (b *Book) orderID(n int) string {
	g := seeded.New(b.idSeed, uint64(n))
	id := seeded.Base32(g.Next(), 13)
	if b.opts.Readings.StrangeIDs {
		return fmt.Sprintf("online/%%2F %d?ș=%s#", n, id)
	}
	return "onl_" + id
}

// stamp is the updated_at of a change. No two changes of a book share one: a page of
// GET /orders can then end anywhere, and the next begin with the row that it left out.
func (b *Book) stamp(at int64) int64 {
	s := b.precision.Floor(at)
	if s <= b.last {
		s = b.last + int64(b.precision)
	}
	b.last = s
	return s
}

// Advance moves a live restaurant and its orders up to an instant.
func (b *Book) Advance(now int64) { b.advance(now, b.world.CatchUp) }

// Play moves the restaurant, live or not, and its orders up to an instant.
func (b *Book) Play(now int64) { b.advance(now, b.world.Move) }

func (b *Book) advance(now int64, move func(*world.Business, int64)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		next, ok := b.agenda.due(now)
		if !ok {
			break
		}
		// An order rings in a restaurant that has come as far as it has.
		move(b.business, next.at)
		b.happen(next)
	}
	move(b.business, now)
}

// Next is when something happens by itself next.
func (b *Book) Next() (at int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.agenda.heap) == 0 {
		return 0, false
	}
	return b.agenda.heap[0].at, true
}

// Menu is what can be ordered at a location now; false for one that the key does not see.
func (b *Book) Menu(app App, locationID string, now int64) (*Menu, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, m, ok := b.place(app, locationID, now)
	return m, ok
}

// place reads a location and its menu; false for one that is not there, not active, or not
// the key's.
func (b *Book) place(app App, locationID string, now int64) (api.Location, *Menu, bool) {
	b.view.Open(b.business, app.May, now)
	l, ok := b.view.Location(locationID)
	b.view.Close()
	if !ok {
		return l, nil, false
	}
	// A category may belong to a location that is not the key's.
	b.view.Open(b.business, everywhere, now)
	defer b.view.Close()
	m, err := b.menu(&b.view, locationID)
	return l, m, err == nil
}

func everywhere(string) bool { return true }
