package syncer

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/internal/webhooks"
	"github.com/larder-sync/larder/sinks"
)

// episode is a scenario being played: a world, and a daemon in it that is killed,
// started, cut off and lied to.
type episode struct {
	*world
	plan    scenario
	second  *world           // another daemon on the same warehouse
	streams map[int][]string // that the configuration names, by restaurant
	real    *realWarehouse   // nil: the warehouse is memsink's
	began   time.Time
	todo    []task // in order of time
	keys    []*credentials
	log     []string

	wall   atomic.Int64 // the machine's wall clock minus the bubble's, in nanoseconds
	frozen atomic.Bool  // the restaurants stand still
	down   bool         // the warehouse
	upAt   time.Time    // when the daemon is to run again; zero while it runs

	mu      sync.Mutex // guards what requests touch
	delays  *rand.Rand
	stirs   *rand.Rand
	stirred int
	slow    bool // the line

	watch     *watch
	blurred   map[rowName]bool // rows that were served other than they are
	damages   []done           // done to the warehouse
	excused   []stretch        // when a 429 may be the doing of others
	did       map[string]int   // by kind of event
	asked     int
	processes int // runs of the program
	wrong     []string

	hooks        *webhooks.Receiver
	stopWebhooks func()
	delivered    atomic.Int64 // orders that webhooks brought
}

// task is something to do at an instant.
type task struct {
	at   time.Time
	what string
	do   func() string // returns what to note; nothing is noted when empty
}

type stretch struct{ from, to time.Time }

type rowName struct {
	business   int
	stream, id string
}

// credentials are a source's key files.
type credentials struct {
	mu        sync.Mutex
	key, next string
}

func (c *credentials) get() (key, next string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.key, c.next
}

func (c *credentials) set(key, next string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.key, c.next = key, next
}

func newEpisode(t *testing.T, p scenario) *episode {
	time.Sleep(time.Until(p.start))
	e := &episode{
		plan: p, began: time.Now(), did: map[string]int{}, streams: map[int][]string{}, blurred: map[rowName]bool{},
		delays: rand.New(rand.NewPCG(p.seed, 2)), stirs: rand.New(rand.NewPCG(p.seed, 3)),
	}
	opts := p.box
	opts.Now, opts.WebhookTransport = e.serviceNow, hookLine{e}
	opts.Inspect = apicheck.Inspect(t)
	box, err := sandbox.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	e.world = newWorld(t, e)
	e.box, e.schedule, e.flush, e.verbose, e.tune = box, p.schedule, p.flush, *daemonLog, e.onThisMachine
	for i := range p.box.Businesses {
		e.keys = append(e.keys, &credentials{key: box.Key(i, sandbox.RoleMain).Value})
	}
	e.sendWebhooks()
	e.watch = newWatch(e)
	e.store.Watch(e.watch.stored)
	for _, ev := range p.events {
		g := rand.New(rand.NewPCG(ev.seed, p.seed))
		e.at(e.began.Add(ev.at), ev.kind.name, func() string {
			e.did[ev.kind.name]++
			return ev.kind.happen(e, g)
		})
	}
	return e
}

// serviceNow is the service's clock.
func (e *episode) serviceNow() time.Time { return time.Now().Add(e.plan.ahead) }

// onThisMachine gives the daemon a wall clock that steps, and a line that is slow.
func (e *episode) onThisMachine(o *Options) {
	o.Now = func() time.Time { return time.Now().Add(time.Duration(e.wall.Load())) }
	o.API.Transport = slowLine{e.transport, e.someDelay}
	if e.shared() { // each run of the program is a process of its own
		e.processes++
		o.Exclusive, o.Process = false, sinks.Process{ID: fmt.Sprintf("run%d", e.processes), Name: "host"}
	}
	if e.real != nil {
		o.Sink = e.real.open()
	}
	o.Logger = slog.New(panics{e, o.Logger})
}

// panics is the daemon's log, of which a panic is a fault: the daemon itself goes on.
type panics struct {
	e    *episode
	next *slog.Logger // nil: nobody reads it
}

func (p panics) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError || p.next != nil && p.next.Enabled(ctx, level)
}

func (p panics) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "panic" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "panic" || a.Key == "stack" {
				p.e.fault("panic: %s", a.Value)
			}
			return true
		})
	}
	if p.next == nil {
		return nil
	}
	return p.next.Handler().Handle(ctx, r)
}

func (p panics) WithAttrs(attrs []slog.Attr) slog.Handler {
	if p.next != nil {
		p.next = slog.New(p.next.Handler().WithAttrs(attrs))
	}
	return p
}

func (p panics) WithGroup(name string) slog.Handler {
	if p.next != nil {
		p.next = slog.New(p.next.Handler().WithGroup(name))
	}
	return p
}

// slowLine holds requests and answers up, so that answers are old when they arrive.
type slowLine struct {
	line  http.RoundTripper
	delay func() time.Duration
}

func (l slowLine) RoundTrip(r *http.Request) (*http.Response, error) {
	if !lifecycle.Pause(r.Context(), l.delay()) {
		return nil, r.Context().Err()
	}
	resp, err := l.line.RoundTrip(r)
	if err == nil && !lifecycle.Pause(r.Context(), l.delay()) {
		return resp, resp.Body.Close()
	}
	return resp, err
}

func (e *episode) someDelay() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	longest := e.plan.delay
	if e.slow && e.delays.IntN(2) == 0 {
		longest = slowest
	}
	return between(e.delays, 0, longest)
}

// ServeHTTP is the service. Between two pages of a walk the world may change.
func (e *episode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.stirWorld()
	e.box.Handler().ServeHTTP(w, r)
}

func (e *episode) stirWorld() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	if e.frozen.Load() {
		return
	}
	e.box.Tick(e.serviceNow())
	for e.stirs.Float64() < e.plan.stir {
		e.stirred++
		e.mutate(e.stirs, e.stirs.IntN(e.plan.box.Businesses))
	}
}

// mutate changes a restaurant at random, stamped up to nearly two minutes ago.
func (e *episode) mutate(g *rand.Rand, business int) {
	r := e.box.Restaurant(business)
	if g.IntN(3) == 0 {
		r = r.Ago(between(g, 0, sandbox.MaxStampDelay-2*time.Second))
	}
	if _, err := r.Mutate(g, e.plan.unannounced); err != nil {
		e.fault("change of the world: %v", err)
	}
}

// at puts a task down for an instant.
func (e *episode) at(when time.Time, what string, do func() string) {
	i, _ := slices.BinarySearchFunc(e.todo, when, func(t task, at time.Time) int {
		if t.at.After(at) {
			return 1
		}
		return -1
	})
	e.todo = slices.Insert(e.todo, i, task{when, what, do})
}

// after puts a task down for later.
func (e *episode) after(d time.Duration, what string, do func()) {
	e.at(time.Now().Add(d), what, func() string { do(); return "done" })
}

// play lives through the episode.
func (e *episode) play() {
	e.up()
	end := e.began.Add(e.plan.span)
	for len(e.todo) > 0 && e.todo[0].at.Before(end) {
		next := e.todo[0]
		e.todo = e.todo[1:]
		time.Sleep(time.Until(next.at))
		if note := next.do(); note != "" {
			e.note("%s: %s", next.what, note)
		}
	}
	time.Sleep(time.Until(end))
}

func (e *episode) note(format string, args ...any) {
	e.log = append(e.log, fmt.Sprintf("+%-12s %s", time.Since(e.began).Round(time.Millisecond), fmt.Sprintf(format, args...)))
}

// fault is something wrong: the episode has failed.
func (e *episode) fault(format string, args ...any) {
	e.watch.mu.Lock()
	defer e.watch.mu.Unlock()
	const enough = 20
	if len(e.wrong) < enough {
		e.wrong = append(e.wrong, fmt.Sprintf("+%s ", time.Since(e.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
	}
}

// up starts the daemon, unless the warehouse is down: a start needs it.
func (e *episode) up() {
	e.upAt = time.Time{}
	if e.real != nil {
		e.real.setDown(false)
	}
	e.run(e.configured()...)
	if e.real == nil {
		e.sink.SetDown(e.down)
	}
}

// shared is true when other daemons may be on the warehouse. The real one's clock
// is not the bubble's, so that claims to sources mean nothing there.
func (e *episode) shared() bool { return e.real == nil && e.plan.seed%2 == 1 }

// end stops the daemon in good order, or what is left of it.
func (e *episode) end() {
	e.halt()
	if e.real != nil {
		e.real.close()
	}
}

// rows are a table's rows of one restaurant by id, removed ones too.
func (e *episode) rows(table, business string) map[string]memsink.Row {
	if e.real != nil {
		return e.real.rows(table, business)
	}
	return e.store.Rows(table, business)
}

// configured are the sources as the configuration has them.
func (e *episode) configured() []Source {
	var all []Source
	for i, c := range e.keys {
		s := Source{
			Streams: e.streams[i], Personal: e.plan.policy(),
			Name: fmt.Sprintf("r%d", i), BaseURL: "http://api.test/v1",
			Key:     func() string { key, _ := c.get(); return key },
			NextKey: func() string { _, next := c.get(); return next },
		}
		if e.plan.located {
			s.Locations = e.box.Restaurant(i).LocationIDs()[:1]
		}
		all = append(all, s)
	}
	return all
}

// key is the key that a source's key file should hold.
func (e *episode) key(business int) string {
	key, next := e.keys[business].get()
	if next != "" {
		return next
	}
	return key
}

// kill ends the daemon as kill -9 does, in the middle of a flush: the rows of some
// commits are there, their checkpoints are not.
func (e *episode) kill(g *rand.Rand) string {
	if e.real != nil {
		e.real.kill(g)
		e.end()
		return "the writer was cut off"
	}
	kept, tables := g.IntN(4), g.IntN(2) == 0
	e.sink.CrashKeeping(func(c *sinks.Commit) bool {
		if tables { // a flush goes table by table
			return len(c.Stream)%4 < kept
		}
		kept--
		return kept >= 0
	})
	e.end()
	return fmt.Sprintf("kept %d, by tables %v", kept, tables)
}

// away has the daemon run again later.
func (e *episode) away(d time.Duration) {
	e.upAt = time.Now().Add(d)
	e.at(e.upAt, "start", func() string {
		switch {
		case e.upAt.IsZero() || time.Now().Before(e.upAt):
			return ""
		case e.down:
			e.away(time.Minute)
			return ""
		}
		e.up()
		return "up"
	})
}

// foreign sends a request that is not the daemon's. A fault may hold it up or cut it.
func (e *episode) foreign(key, path string) {
	go func() {
		defer func() { _ = recover() }() // http.ErrAbortHandler: its connection was cut
		ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1"+path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		r.RemoteAddr = strangers + "9:1"
		e.box.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}()
}

// strangers begin the addresses of other programs.
const strangers = "10.0.0."

// excuse notes that a 429 within d from now may be the doing of others.
func (e *episode) excuse(d time.Duration) {
	e.excused = append(e.excused, stretch{time.Now(), time.Now().Add(d)})
}

// report is all there is to know about an episode that has failed.
func (e *episode) report() string {
	var b strings.Builder
	fmt.Fprintln(&b, e.plan)
	for _, l := range e.log {
		fmt.Fprintln(&b, l)
	}
	fmt.Fprintf(&b, "%d changes between requests; faults met: %v\n", e.stirred, e.box.FaultsInjected())
	for _, w := range e.wrong {
		fmt.Fprintln(&b, "WRONG:", w)
	}
	return b.String()
}
