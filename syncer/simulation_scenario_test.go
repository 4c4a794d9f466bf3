package syncer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
)

// scenario is an episode before it is played: all of it comes from the seed.
type scenario struct {
	seed     uint64
	start    time.Time
	span     time.Duration
	box      sandbox.Options
	schedule Schedule
	every    time.Duration // schedule.incremental
	flush    time.Duration
	ahead    time.Duration // the service's clock minus the machine's
	delay    time.Duration // of requests and of answers, each at most
	stir     float64       // how likely a request meets a change of the world
	located  bool          // the configuration names the first location only
	// unannounced: things happen that only a full resync can see. Rows are purged or
	// moved, leave the lists with their location, and were served other than they
	// are; keys are limited to some locations.
	unannounced bool
	kept        personal.Mode // of customers
	events      []event
}

// event is one thing that happens; its details are drawn from its own seed.
type event struct {
	at   time.Duration
	kind *kind
	seed uint64
}

const day = 24 * time.Hour

// starts are days worth living through: both changes of clock, a leap day, the end
// of a year, and an ordinary one.
var starts = []string{
	"2026-03-27T20:00:00Z", "2026-03-29T00:30:00Z", "2026-10-24T18:00:00Z", "2026-10-25T00:10:00Z",
	"2028-02-28T12:00:00Z", "2026-12-31T10:00:00Z", "2026-06-10T09:00:00Z",
}

func newScenario(seed uint64) scenario {
	g := rand.New(rand.NewPCG(seed, 1))
	p := scenario{seed: seed, flush: pick(g, time.Second, 250*time.Millisecond, 5*time.Second)}
	start, err := time.Parse(time.RFC3339, pick(g, starts...))
	if err != nil {
		panic(err)
	}
	p.start = start.Add(between(g, 0, 6*time.Hour))
	p.span = pick(g, 2*time.Hour, 6*time.Hour, 12*time.Hour, day, day, 2*day, 4*day, 7*day, 21*day)
	p.every = max(30*time.Second, (p.span / time.Duration(40+g.IntN(120))).Round(time.Second))
	p.schedule = Schedule{
		Incremental: atEvery(p.every), Snapshots: atEvery(min(max(p.every, 5*time.Minute), 2*time.Hour)),
		Reconcile:    atEvery(min(max(2*p.every, 15*time.Minute), 6*time.Hour)),
		OnlineOrders: atEvery(max(15*time.Second, (p.span / 10_000).Round(time.Second))),
	}
	p.ahead = pick(g, 0, 0, between(g, -3*time.Second, 3*time.Second), between(g, -2*time.Hour, 2*time.Hour))
	p.delay = pick(g, 0, 0, 50*time.Millisecond, 400*time.Millisecond, 3*time.Second, 20*time.Second)
	p.stir = pick(g, 0, 0.02, 0.1, 0.3)
	p.unannounced = g.IntN(2) == 0
	p.box = newBox(g, p.span)
	p.box.Readings.InactiveRowsHidden = p.unannounced && g.IntN(3) == 0
	if g.IntN(3) == 0 {
		p.schedule.FullResync = atEvery(max(time.Hour, p.span/time.Duration(1+g.IntN(5))))
	}
	p.located = p.box.LocationsPer > 1 && g.IntN(7) == 0
	p.draw(g)
	p.drawDamage(rand.New(rand.NewPCG(seed, 7)))
	p.drawSlow(rand.New(rand.NewPCG(seed, 8)))
	p.drawOrdering(rand.New(rand.NewPCG(seed, 9)))
	p.drawGuests(rand.New(rand.NewPCG(seed, 10)))
	sums := rand.New(rand.NewPCG(seed, 11))
	p.box.Readings.RemovedRefunds, p.box.Readings.GrossPerProduct = sums.IntN(3) == 0, sums.IntN(3) == 0
	p.drawEmptyPages(rand.New(rand.NewPCG(seed, 12)))
	// Rows without a stamp come in every walk. With an empty page behind each of theirs, or in weeks with many
	// guests and small pages, those walks alone would be millions of requests.
	if r := &p.box.Readings; r.NullTombstones || r.NullUpdatedAt > 0 {
		r.EmptyPages = 0
		if p.span > 4*day {
			p.box.OnlineOrders, r.ShortPages = min(p.box.OnlineOrders, 40), 0
		}
	}
	return p
}

func atEvery(d time.Duration) string { return "@every " + d.String() }

func newBox(g *rand.Rand, span time.Duration) sandbox.Options {
	o := sandbox.Options{
		Seed: g.Int64(), Businesses: pick(g, 1, 1, 1, 2, 3), LocationsPer: 1 + g.IntN(3),
		Orders: pick(g, -1, 20, 60, 150, 400), Days: pick(g, 3, 10, 40, 150), ProductsPer: 3 + g.IntN(8),
		Algorithm: pick(g, sandbox.AlgorithmFixed, sandbox.AlgorithmFixedFirst, sandbox.AlgorithmSliding, sandbox.AlgorithmBucket),
		NoLimits:  g.IntN(12) == 0, Record: true, Readings: newReadings(g),
	}
	o.Limits = types.RateLimits{
		PerMinute: pick(g, 120, 120, 60, 20), BusinessPerMinute: pick(g, 600, 600, 150, 60), HeavyPerMinute: pick(g, 30, 30, 8),
	}
	// Tombstones without a stamp come in every walk. With the smallest pages and the
	// smallest limit those walks alone would take all there is, for ever.
	if r := &o.Readings; r.NullTombstones && r.ShortPages == 3 && o.Limits.PerMinute == 20 {
		r.ShortPages = 8
	}
	live := float64(pick(g, 0, 10, 60, 250)) // orders while the episode lasts
	o.Pace = max(1e-6, live*float64(o.Days)/float64(max(o.Orders, 1))/(span.Hours()/24))
	return o
}

// drawEmptyPages has pages without rows follow those that have some, where the limits let a
// walk pass so many.
func (p *scenario) drawEmptyPages(g *rand.Rand) {
	n := pick(g, 0, 0, 1, 25)
	// A key without limits may be given some: of 40 requests a minute, 25 such pages behind each of three rows leave
	// five rows a minute. Thousands of rows take longer then than the daemon has to come to rest.
	if n > 1 && slices.ContainsFunc(p.events, func(ev event) bool { return ev.kind.name == "limits" }) {
		n = 1
	}
	if time.Duration(n)*p.span > 25*day { // it would be a million requests
		return
	}
	if p.box.NoLimits || n == 1 && p.box.Limits.PerMinute == 120 {
		p.box.Readings.EmptyPages = n
	}
}

func newReadings(g *rand.Rand) sandbox.Readings {
	odd := func() bool { return g.IntN(3) == 0 }
	r := sandbox.Readings{
		RangeByChange: odd(), NeverPaidTombstones: odd(), NullTombstones: odd(), SharedIDs: odd(), StrangeIDs: odd(),
		NewMapKeys: odd(), TightestByLimit: odd(), LooseRange: odd(), OrderingOff: odd(),
		NullUpdatedAt:  pick(g, 0, 0, 3, 10),
		StampDelay:     pick(g, 0, 0, 10*time.Second, sandbox.MaxStampDelay-2*time.Second),
		StampPrecision: pick(g, time.Millisecond, time.Second, time.Microsecond, 100*time.Nanosecond, time.Nanosecond),
		ShortPages:     pick(g, 0, 3, 8, 20, 50),
	}
	r.LongFloats = r.NewMapKeys != r.LooseRange // no draw of its own: seeds keep their plans
	return r
}

// leavesOpen reports whether days may differ by what the API's description leaves open.
func (p *scenario) leavesOpen(subject string) bool {
	if subject == sinks.SubjectProducts {
		return p.box.Readings.GrossPerProduct
	}
	return p.box.Readings.RemovedRefunds
}

// draw fills the episode with events; some crowd where the backfill is.
func (p *scenario) draw(g *rand.Rand) {
	for range 2 + g.IntN(30) {
		within := p.span
		if g.IntN(3) == 0 {
			within = min(10*time.Minute, p.span)
		}
		p.events = append(p.events, event{at: between(g, 0, within), kind: drawKind(g, p.unannounced), seed: g.Uint64()})
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
}

// drawDamage has the warehouse damaged now and then.
func (p *scenario) drawDamage(g *rand.Rand) {
	if p.unannounced {
		return
	}
	for range g.IntN(4) {
		p.events = append(p.events, event{at: between(g, 0, p.span), kind: damageEvent, seed: g.Uint64()})
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
}

func (p scenario) String() string {
	var b strings.Builder
	o := p.box
	fmt.Fprintf(&b, "seed %d: %s from %s, every %s, flush %s, service ahead by %s, delay %s, stir %g, located %v, untold %v, full resync %q, of customers %s\n",
		p.seed, p.span, p.start.Format(time.RFC3339), p.every, p.flush, p.ahead, p.delay, p.stir, p.located, p.unannounced, p.schedule.FullResync, p.kept)
	fmt.Fprintf(&b, "world: %d restaurants of %d locations, %d orders in %d days, pace %.3g, %g online a day, limits %+v (%s, off %v)\nreadings: %+v\nplanned:",
		o.Businesses, o.LocationsPer, o.Orders, o.Days, o.Pace, o.OnlineOrders, o.Limits, o.Algorithm, o.NoLimits, o.Readings)
	for _, ev := range p.events {
		fmt.Fprintf(&b, " %s@%s", ev.kind.name, ev.at.Round(time.Second))
	}
	return b.String()
}

func pick[T any](g *rand.Rand, from ...T) T { return from[g.IntN(len(from))] }

func between(g *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(g.Int64N(int64(to-from)+1))
}
