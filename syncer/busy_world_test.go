package syncer

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
)

// busy is a restaurant in which orders, edits, cancellations and refunds flow without
// end, on all days, stamped up to two minutes in the past, between any two requests of
// a daemon whose line is slow. What is done to the store on purpose stands in harmed.
type busy struct {
	*world
	still atomic.Bool // nothing changes any more

	mu      sync.Mutex
	g       *rand.Rand
	orders  []string // ids to change
	listed  time.Time
	changes int
	counts  bool // rounds and verdicts are counted
	rounds  int  // questions for totals, each between two walks
	days    int  // that were compared in them, places and subjects apart
	found   map[string]int
	drifts  map[string]bool // days whose last verdict is a drift
	alarms  int             // without damage
	vandal  *vandal
	harmed  []*harmed
	healed  []*healedDay
}

// harmed is a damage and what became of it.
type harmed struct {
	*damage
	stamps        map[string]time.Time // of the damaged orders in the service
	seen, healed  time.Time            // by the verdicts
	mended        time.Time            // every row was written anew
	moving, aside bool                 // on a day that moved; mended with another day
}

// healedDay is one healing of one day, as the verdicts tell it.
type healedDay struct {
	day      string
	kinds    map[string]bool
	at       time.Time
	requests uint64
}

// inBusyWorld runs a test in a bubble with a busy restaurant.
func inBusyWorld(t *testing.T, seed uint64, opts sandbox.Options, test func(t *testing.T, b *busy)) {
	t.Helper()
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		opts.Seed, opts.Live, opts.Readings.StampPrecision = int64(seed), true, time.Second //nolint:gosec // any number will do
		opts.Inspect = apicheck.Inspect(t)
		box, err := sandbox.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		b := &busy{g: rand.New(rand.NewPCG(seed, 21)), found: map[string]int{}, drifts: map[string]bool{}}
		b.world = newWorld(t, b)
		b.box = box
		b.edit = func(s *Source) { s.Streams = []string{registry.Orders, registry.Daily, "sales_products"} }
		b.tune = func(o *Options) { o.API.Transport = slowLine{b.transport, b.someDelay} }
		b.vandal = b.world.vandal(0, rand.New(rand.NewPCG(seed, 22)))
		b.store.Watch(b.stored)
		test(t, b)
	})
}

// ServeHTTP is the service. Between two requests the world changes.
func (b *busy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	for !b.still.Load() && b.g.Float64() < 0.3 {
		b.change()
	}
	if strings.HasPrefix(r.URL.Path, "/v1/sales/daily") || strings.HasPrefix(r.URL.Path, "/v1/sales/products") {
		b.asked(r)
	}
	b.mu.Unlock()
	b.box.Handler().ServeHTTP(w, r)
}

// asked counts a question for totals.
func (b *busy) asked(r *http.Request) {
	from, err := time.Parse(time.DateOnly, r.URL.Query().Get("from"))
	to, also := time.Parse(time.DateOnly, r.URL.Query().Get("to"))
	if err != nil || also != nil {
		b.t.Errorf("a question for totals without days: %s", r.URL)
	}
	if b.counts {
		b.rounds++
		b.days += 1 + int(to.Sub(from).Hours()/24)
	}
}

func (b *busy) someDelay() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return between(b.g, 0, 2*time.Second)
}

// change makes one change, a third of them stamped in the past.
func (b *busy) change() {
	b.changes++
	r := b.box.Restaurant(0)
	if b.g.IntN(3) == 0 {
		r = r.Ago(between(b.g, 0, sandbox.MaxStampDelay-2*time.Second))
	}
	var err error
	id, earlier := b.anyOrder(r), time.Now().Add(-between(b.g, 0, 9*day))
	switch b.g.IntN(8) {
	case 0: // a refund that is entered later
		err = r.RefundOrderAt(id, 100+b.g.Int64N(5000), earlier)
	case 1: // an order that is entered later
		_, err = r.PlaceOrder(sandbox.OrderSpec{Location: pick(b.g, r.LocationIDs()...), Created: earlier})
	case 2: // of an older day
		err = pick(b.g, r.EditOrder, r.CancelOrder, r.UnpayOrder, r.DeleteOrder)(id)
	default:
		_, err = r.Mutate(b.g, false)
	}
	if err != nil {
		b.t.Errorf("change of the world: %v", err)
	}
}

// anyOrder is an order that counted when the orders were last listed.
func (b *busy) anyOrder(r sandbox.Restaurant) string {
	if time.Since(b.listed) > 10*time.Minute {
		b.orders, b.listed = r.IDs(sandbox.StreamSalesOrders), time.Now()
	}
	return pick(b.g, b.orders...)
}

// flow has the world change while nobody asks too, until the returned function is
// called: nothing changes after it.
func (b *busy) flow() (freeze func()) {
	stop := b.alive()
	return func() {
		stop()
		b.still.Store(true)
	}
}

// counting begins to count.
func (b *busy) counting() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts = true
}

// stored is called with every commit.
func (b *busy) stored(c *sinks.Commit, durable bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !durable || !b.counts {
		return
	}
	for _, h := range b.harmed {
		if h.mended.IsZero() && b.vandal.mended(h.damage) {
			h.mended = time.Now()
		}
	}
	for _, v := range c.Verdicts {
		b.found[v.Verdict]++
		b.verdict(v)
	}
}

// lingers is how long after its mending a damage may be what a verdict is about: a
// deep run heals day after day before it stores its verdicts.
const lingers = 2 * time.Hour

// verdict holds a verdict against what was damaged.
func (b *busy) verdict(v sinks.Verdict) {
	alarm, caused := v.Verdict == sinks.VerdictDrift || v.Verdict == sinks.VerdictHealed, false
	kinds := map[string]bool{}
	for _, h := range b.harmed {
		if !h.days[v.Day] || !h.mended.IsZero() && time.Since(h.mended) > lingers {
			continue
		}
		caused = true
		if h.healed.IsZero() {
			kinds[h.kind] = true
		}
		if h.seen.IsZero() && (alarm || strings.HasPrefix(v.Reason, "it differs")) {
			h.seen = time.Now()
		}
		if h.healed.IsZero() && v.Verdict == sinks.VerdictHealed && !h.mended.IsZero() {
			h.healed = time.Now()
		}
	}
	// That a drift is healed may be found long after its damage was mended. The drift was held
	// against that.
	at := v.Subject + " " + proof.DayKey(types.Date(v.Day), v.Location)
	was := b.drifts[at]
	b.drifts[at] = v.Verdict == sinks.VerdictDrift
	if alarm && !caused && (v.Verdict == sinks.VerdictDrift || !was) {
		b.alarms++
		b.t.Errorf("no damage was done: %+v", v)
	}
	if v.Verdict == sinks.VerdictHealed && caused {
		b.healedDay(v, kinds)
	}
}

// healedDay notes the healing of a day, which has a verdict of each place and subject.
func (b *busy) healedDay(v sinks.Verdict, kinds map[string]bool) {
	for _, h := range b.healed {
		if h.day == v.Day && time.Since(h.at) < lingers {
			h.requests = max(h.requests, v.Requests)
			return
		}
	}
	b.healed = append(b.healed, &healedDay{day: v.Day, kinds: kinds, at: time.Now(), requests: v.Requests})
}

// harm damages a day, half of the time one that moves.
func (b *busy) harm(oldest int) {
	stamps, err := b.box.Stamps(b.box.Key(0, sandbox.RoleMain).Value, registry.Orders)
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.vandal.g.IntN(2)
	moving := b.vandal.g.IntN(2) == 0
	if !moving {
		n = 2 + b.vandal.g.IntN(oldest-1)
	}
	d := b.vandal.harm(daysAgo(n))
	if d == nil {
		return
	}
	h := &harmed{damage: d, moving: moving, stamps: map[string]time.Time{}}
	for id := range d.was {
		id = strings.TrimSuffix(id, copied)
		h.stamps[id] = stamps[id].At
	}
	b.harmed = append(b.harmed, h)
}

// overtaken is true when the service changed a damaged order afterwards, which brings
// it anew by itself.
func (h *harmed) overtaken(now map[string]sandbox.Stamp) bool {
	for id, at := range h.stamps {
		if !now[id].At.Equal(at) {
			return true
		}
	}
	return false
}
