// Package faults is what goes wrong with the sandbox on demand: on the way to it, in its
// answers, in single rows and in webhooks.
//
// Contents: which faults there are, when each strikes, and what one does to a row. How a fault
// spoils an answer as a whole stands where answers are written.
package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// The kinds of Fault, by when they strike.
const (
	// Before the key is looked at, as a proxy in front would.
	Latency     = "latency"     // answers after Delay
	Hang        = "hang"        // never answers
	Reset       = "reset"       // cuts the connection
	Unavailable = "unavailable" // 503, with Retry-After when RetryAfter is set
	HTML        = "html"        // a page of HTML, with Status (default 200)
	// After key and limits.
	ServerError = "server_error" // 500
	RateLimited = "rate_limited" // 429 with RetryAfter (default 1), as if others used the key
	Truncate    = "truncate"     // half of the body, then the connection is cut
	Garbage     = "garbage"      // 200 with bytes that are no JSON
	CutJSON     = "cut_json"     // half of the body, as if it were whole
	// On pages of lists with a cursor.
	CursorRefused = "cursor_refused" // 422 to a cursor that is good
	CursorRepeats = "cursor_repeats" // next_cursor is the cursor that was sent
	CursorMissing = "cursor_missing" // has_more without next_cursor
	// On rows.
	UnknownFields  = "unknown_fields"   // a field more in every object
	UnknownValues  = "unknown_values"   // enumerations with a new value
	NoID           = "no_id"            // no id
	PriceText      = "price_text"       // an amount "abc"
	PriceDecimals  = "price_decimals"   // an amount with three decimals
	NumberAsString = "number_as_string" // a number where a string belongs
	YearOne        = "year_one"         // created_at in year 0001
	Future         = "future"           // updated_at ten years ahead
	Null           = "null"             // null where it is not allowed
	DuplicateKeys  = "duplicate_keys"   // a key twice in one object
	HalfSurrogate  = "half_surrogate"   // a text cut inside an emoji: valid JSON, and no text
	// On webhooks of orders.
	WebhookLost       = "webhook_lost"         // never sent
	WebhookTwice      = "webhook_twice"        // sent again a second later, though it was taken
	WebhookDelayed    = "webhook_delayed"      // sent Delay later (default a minute)
	WebhookOutOfOrder = "webhook_out_of_order" // sent after the key's next one
	WebhookForged     = "webhook_forged"       // sent by somebody else too, signed with another secret
)

// Fault is something that goes wrong: with a probability per request (or row),
// or for certain for the next Count of them.
type Fault struct {
	Kind        string        `json:"kind"`
	Probability float64       `json:"probability,omitempty"` // 0 to 1; 0 with a Count is 1
	Count       int           `json:"count,omitempty"`       // 0: until removed
	Skip        int           `json:"skip,omitempty"`        // lets so many pass first
	Route       string        `json:"route,omitempty"`       // as in the API's description ("/sales/orders"), "" = all
	Key         string        `json:"key,omitempty"`         // AppID, "" = all; not before the key is known
	RowID       string        `json:"row_id,omitempty"`      // faults on rows: only this one
	Delay       time.Duration `json:"delay,omitempty"`       // nanoseconds
	RetryAfter  int           `json:"retry_after,omitempty"` // seconds
	Status      int           `json:"status,omitempty"`
}

// Stage is when a fault strikes.
type Stage int

// The stages, in the order in which a request meets them; Webhook is none of a request.
const (
	Early Stage = iota
	Answer
	Page
	Row
	Webhook
)

var stages = map[string]Stage{
	Latency: Early, Hang: Early, Reset: Early, Unavailable: Early, HTML: Early,
	ServerError: Answer, RateLimited: Answer, Truncate: Answer, Garbage: Answer, CutJSON: Answer,
	CursorRefused: Page, CursorRepeats: Page, CursorMissing: Page,
	UnknownFields: Row, UnknownValues: Row, NoID: Row, PriceText: Row, PriceDecimals: Row,
	NumberAsString: Row, YearOne: Row, Future: Row, Null: Row, DuplicateKeys: Row, HalfSurrogate: Row,
	WebhookLost: Webhook, WebhookTwice: Webhook, WebhookDelayed: Webhook, WebhookOutOfOrder: Webhook,
	WebhookForged: Webhook,
}

// Kinds are all kinds that strike requests, sorted.
func Kinds() []string { return kindsOf(func(s Stage) bool { return s != Webhook }) }

// WebhookKinds are all kinds that strike webhooks, sorted.
func WebhookKinds() []string {
	return kindsOf(func(s Stage) bool { return s == Webhook })
}

func kindsOf(match func(Stage) bool) []string {
	var kinds []string
	for k, stage := range stages {
		if match(stage) {
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// Validate returns what is wrong with the fault.
func (f *Fault) Validate() error {
	if _, ok := stages[f.Kind]; !ok {
		return fmt.Errorf("kind: %q is none of %s", f.Kind, strings.Join(append(Kinds(), WebhookKinds()...), ", "))
	}
	if f.Probability < 0 || f.Probability > 1 || f.Probability == 0 && f.Count == 0 {
		return fmt.Errorf("%s: probability %g with count %d: give a probability up to 1, or a count", f.Kind, f.Probability, f.Count)
	}
	return nil
}

// Box holds the faults in force. The same requests in the same order meet
// the same faults. Its methods may be called from many goroutines.
type Box struct {
	active atomic.Int32

	mu       sync.Mutex // guards what follows
	faults   []*Fault
	g        seeded.RNG
	injected map[string]int
	spoilt   map[SpoiltRow]struct{}
}

// SpoiltRow names a row that was served at least once other than it is.
type SpoiltRow struct {
	Business int
	Route    string // of the list, as in the API's description
	ID       string
}

// New puts valid faults in force; which requests they strike comes from the seed.
func New(seed int64, faults []Fault) *Box {
	b := &Box{g: seeded.New(uint64(seed), 11), injected: map[string]int{}, spoilt: map[SpoiltRow]struct{}{}}
	for _, one := range faults {
		b.faults = append(b.faults, &one)
	}
	b.active.Store(int32(len(faults)))
	return b
}

// AddFault puts a fault in force.
func (b *Box) AddFault(f Fault) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("add fault: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, &f)
	b.active.Store(int32(len(b.faults)))
	return nil
}

// ClearFaults removes every fault.
func (b *Box) ClearFaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
	b.active.Store(0)
}

// Faults are those in force, with the counts left.
func (b *Box) Faults() []Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Fault, 0, len(b.faults))
	for _, f := range b.faults {
		out = append(out, *f)
	}
	return out
}

// FaultsInjected counts, by kind, the faults that struck.
func (b *Box) FaultsInjected() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]int{}
	for k, n := range b.injected {
		out[k] = n
	}
	return out
}

// Spoilt are the rows that faults on rows have struck, in no order. A walk by
// updated_since does not bring such a row again: it has not changed.
func (b *Box) Spoilt() []SpoiltRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.spoilt))
}

// Target is what a fault may strike.
type Target struct {
	Business int
	Route    string        // as in the API's description
	Key      string        // AppID, "" before the key is known
	rowID    func() string // of a row
}

// Roll draws which faults of a stage strike now.
func (b *Box) Roll(stage Stage, t Target) []Fault {
	if b.active.Load() == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var hit []Fault
	kept := b.faults[:0]
	for _, one := range b.faults {
		if stages[one.Kind] == stage && one.concerns(t) && b.strikes(one) {
			hit = append(hit, *one)
			b.injected[one.Kind]++
			if one.Count > 0 {
				if one.Count--; one.Count == 0 {
					continue
				}
			}
		}
		kept = append(kept, one)
	}
	clear(b.faults[len(kept):])
	b.faults = kept
	b.active.Store(int32(len(kept)))
	return hit
}

func (f *Fault) concerns(t Target) bool {
	return (f.Route == "" || f.Route == t.Route) && (f.Key == "" || f.Key == t.Key) && (f.RowID == "" || t.rowID != nil && t.rowID() == f.RowID)
}

func (b *Box) strikes(one *Fault) bool {
	if one.Skip > 0 {
		one.Skip--
		return false
	}
	return one.Probability == 0 || one.Probability == 1 || b.g.Float() < one.Probability
}
