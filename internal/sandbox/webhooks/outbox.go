package webhooks

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// retries are the pauses after the first attempt, the second, and so on; after the last the
// delivery has failed (docs/openapi.yaml, webhooks). Each is counted from the attempt before.
var retries = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// The states of a Delivery.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Failed    = "failed" // every attempt was in vain
	Lost      = "lost"   // never sent, as a misfortune
)

// Mishap is what goes wrong with one event on its way.
type Mishap struct {
	Lost   bool          // it is never sent
	Twice  bool          // it is sent again a second later, though it was taken
	Delay  time.Duration // it is sent so much later
	Behind bool          // it is sent after the event of the key that comes next
	Forged bool          // somebody else sends it too, who does not know the secret
}

// behindAtMost is how long an event waits for one to come behind.
const behindAtMost = 10 * units.Minute

// Delivery is an event on its way, or there.
type Delivery struct {
	App      string `json:"app"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	Status   int    `json:"status"` // of the last answer, 0 for none
	Forged   bool   `json:"forged,omitempty"`

	due     int64
	seq     int
	message Message
	waits   bool // for another event of its key
	copy    bool // of one that is delivered besides
}

// Options say how an Outbox sends.
type Options struct {
	// Endpoint is where a key's events go now; false when it has none.
	Endpoint func(app string) (Endpoint, bool)
	// Transport carries the requests; default http.DefaultTransport.
	Transport http.RoundTripper
	Now       func() time.Time
}

// Outbox holds events that are to be delivered. Its methods may be called from many
// goroutines.
type Outbox struct {
	opts   Options
	client *http.Client

	mu  sync.Mutex
	seq int
	// queue is what is pending and not being sent.
	queue []*Delivery
	log   []*Delivery // the newest, oldest first
}

// kept is how many deliveries Deliveries tells of.
const kept = 10_000

// New makes an empty Outbox.
func New(o Options) *Outbox {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	return &Outbox{opts: o, client: newClient(o.Transport)}
}

// Send takes an event of a key, to be delivered from an instant on.
func (o *Outbox) Send(at int64, app string, m Message, mishap Mishap) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.release(app, at)
	d := &Delivery{App: app, ID: m.ID, Type: m.Type, State: Pending, due: at + mishap.Delay.Microseconds(), message: m}
	if mishap.Lost {
		d.State = Lost
		o.note(d)
		return
	}
	if mishap.Behind {
		d.waits, d.due = true, at+behindAtMost
	}
	o.note(d)
	o.queue = append(o.queue, d)
	if mishap.Twice {
		o.copy(d, units.Second)
	}
	if mishap.Forged {
		o.copy(d, 0).Forged = true
	}
}

// release lets go what waited for another event of its key, right behind it.
func (o *Outbox) release(app string, at int64) {
	for _, d := range o.queue {
		if d.waits && d.App == app {
			d.waits, d.due = false, min(d.due, at+units.Second)
		}
	}
}

func (o *Outbox) copy(d *Delivery, later int64) *Delivery {
	c := *d
	c.copy, c.due = true, d.due+later
	o.note(&c)
	o.queue = append(o.queue, &c)
	return &c
}

func (o *Outbox) note(d *Delivery) {
	o.seq++
	d.seq = o.seq
	o.log = append(o.log, d)
	if len(o.log) > 2*kept {
		o.log = slices.Clone(o.log[kept:])
	}
}

// Next is when the next attempt is due.
func (o *Outbox) Next() (at int64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, d := range o.queue {
		if i == 0 || d.due < at {
			at = d.due
		}
	}
	return at, len(o.queue) > 0
}

// atOnce bounds how many requests are under way.
const atOnce = 16

// Deliver makes every attempt that is due, and returns how many when all are answered. They
// run beside each other, so a receiver may see them in another order.
func (o *Outbox) Deliver(ctx context.Context, now int64) int {
	due := o.take(now)
	var sending sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, d := range due {
		slots <- struct{}{}
		sending.Go(func() {
			defer func() { <-slots }()
			o.deliver(ctx, d)
		})
	}
	sending.Wait()
	return len(due)
}

// take removes from the queue what is due, earliest first.
func (o *Outbox) take(now int64) []*Delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	var due []*Delivery
	o.queue = slices.DeleteFunc(o.queue, func(d *Delivery) bool {
		if d.due <= now {
			due = append(due, d)
		}
		return d.due <= now
	})
	slices.SortFunc(due, func(a, b *Delivery) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq)) })
	return due
}

// deliver makes one attempt and plans the next, if there is to be one.
func (o *Outbox) deliver(ctx context.Context, d *Delivery) {
	e, ok := o.opts.Endpoint(d.App)
	if !ok { // the restaurant has taken the address back
		o.settle(d, Result{}, false)
		return
	}
	if d.Forged {
		e.Secret = "whsec_guessed"
	}
	r := attempt(ctx, o.client, e, d.message, o.opts.Now().UnixMicro())
	if ctx.Err() != nil { // we are stopping: it was no attempt
		o.mu.Lock()
		defer o.mu.Unlock()
		o.queue = append(o.queue, d)
		return
	}
	o.settle(d, r, !d.copy)
}

func (o *Outbox) settle(d *Delivery, r Result, again bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d.Attempts++
	d.Status = r.Status
	switch {
	case r.OK():
		d.State = Delivered
	case again && d.Attempts <= len(retries):
		d.due = o.opts.Now().Add(retries[d.Attempts-1]).UnixMicro()
		o.queue = append(o.queue, d)
	default:
		d.State = Failed
	}
}

// Ping makes one attempt, now, and says how it went.
func (o *Outbox) Ping(ctx context.Context, e Endpoint, m Message) Result {
	return attempt(ctx, o.client, e, m, o.opts.Now().UnixMicro())
}

// Deliveries are the newest, oldest first.
func (o *Outbox) Deliveries() []Delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]Delivery, 0, len(o.log))
	for _, d := range o.log[max(0, len(o.log)-kept):] {
		out = append(out, *d)
	}
	return out
}
