package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
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
	FaultLatency     = "latency"     // answers after Delay
	FaultHang        = "hang"        // never answers
	FaultReset       = "reset"       // cuts the connection
	FaultUnavailable = "unavailable" // 503, with Retry-After when RetryAfter is set
	FaultHTML        = "html"        // a page of HTML, with Status (default 200)
	// After key and limits.
	FaultServerError = "server_error" // 500
	FaultRateLimited = "rate_limited" // 429 with RetryAfter (default 1), as if others used the key
	FaultTruncate    = "truncate"     // half of the body, then the connection is cut
	FaultGarbage     = "garbage"      // 200 with bytes that are no JSON
	FaultCutJSON     = "cut_json"     // half of the body, as if it were whole
	// On pages of lists with a cursor.
	FaultCursorRefused = "cursor_refused" // 422 to a cursor that is good
	FaultCursorRepeats = "cursor_repeats" // next_cursor is the cursor that was sent
	FaultCursorMissing = "cursor_missing" // has_more without next_cursor
	// On rows.
	FaultUnknownFields  = "unknown_fields"   // a field more in every object
	FaultUnknownValues  = "unknown_values"   // enumerations with a new value
	FaultNoID           = "no_id"            // no id
	FaultPriceText      = "price_text"       // an amount "abc"
	FaultPriceDecimals  = "price_decimals"   // an amount with three decimals
	FaultNumberAsString = "number_as_string" // a number where a string belongs
	FaultYearOne        = "year_one"         // created_at in year 0001
	FaultFuture         = "future"           // updated_at ten years ahead
	FaultNull           = "null"             // null where it is not allowed
	FaultDuplicateKeys  = "duplicate_keys"   // a key twice in one object
	// On webhooks of orders.
	FaultWebhookLost       = "webhook_lost"         // never sent
	FaultWebhookTwice      = "webhook_twice"        // sent again a second later, though it was taken
	FaultWebhookDelayed    = "webhook_delayed"      // sent Delay later (default a minute)
	FaultWebhookOutOfOrder = "webhook_out_of_order" // sent after the key's next one
	FaultWebhookForged     = "webhook_forged"       // sent by somebody else too, signed with another secret
)

// Fault is something that goes wrong: with a probability per request (or row),
// or for certain for the next Count of them.
type Fault struct {
	Kind        string        `json:"kind"`
	Probability float64       `json:"probability,omitempty"` // 0 to 1; 0 with a Count is 1
	Count       int           `json:"count,omitempty"`       // 0: until removed
	Skip        int           `json:"skip,omitempty"`        // lets so many pass first
	Route       string        `json:"route,omitempty"`       // as in api.md ("/sales/orders"), "" = all
	Key         string        `json:"key,omitempty"`         // AppID, "" = all; not before the key is known
	RowID       string        `json:"row_id,omitempty"`      // faults on rows: only this one
	Delay       time.Duration `json:"delay,omitempty"`       // nanoseconds
	RetryAfter  int           `json:"retry_after,omitempty"` // seconds
	Status      int           `json:"status,omitempty"`
}

type faultStage int

const (
	stageEarly faultStage = iota
	stageAnswer
	stagePage
	stageRow
	stageWebhook
)

var faultStages = map[string]faultStage{
	FaultLatency: stageEarly, FaultHang: stageEarly, FaultReset: stageEarly, FaultUnavailable: stageEarly, FaultHTML: stageEarly,
	FaultServerError: stageAnswer, FaultRateLimited: stageAnswer, FaultTruncate: stageAnswer, FaultGarbage: stageAnswer, FaultCutJSON: stageAnswer,
	FaultCursorRefused: stagePage, FaultCursorRepeats: stagePage, FaultCursorMissing: stagePage,
	FaultUnknownFields: stageRow, FaultUnknownValues: stageRow, FaultNoID: stageRow, FaultPriceText: stageRow, FaultPriceDecimals: stageRow,
	FaultNumberAsString: stageRow, FaultYearOne: stageRow, FaultFuture: stageRow, FaultNull: stageRow, FaultDuplicateKeys: stageRow,
	FaultWebhookLost: stageWebhook, FaultWebhookTwice: stageWebhook, FaultWebhookDelayed: stageWebhook, FaultWebhookOutOfOrder: stageWebhook,
	FaultWebhookForged: stageWebhook,
}

// FaultKinds are all kinds that strike requests, sorted.
func FaultKinds() []string { return kindsOf(func(s faultStage) bool { return s != stageWebhook }) }

// WebhookFaultKinds are all kinds that strike webhooks, sorted.
func WebhookFaultKinds() []string {
	return kindsOf(func(s faultStage) bool { return s == stageWebhook })
}

func kindsOf(match func(faultStage) bool) []string {
	var kinds []string
	for k, stage := range faultStages {
		if match(stage) {
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	return kinds
}

func (f *Fault) validate() error {
	if _, ok := faultStages[f.Kind]; !ok {
		return fmt.Errorf("kind: %q is none of %s", f.Kind, strings.Join(append(FaultKinds(), WebhookFaultKinds()...), ", "))
	}
	if f.Probability < 0 || f.Probability > 1 || f.Probability == 0 && f.Count == 0 {
		return fmt.Errorf("%s: probability %g with count %d: give a probability up to 1, or a count", f.Kind, f.Probability, f.Count)
	}
	return nil
}

// faultBox holds the faults in force. The same requests in the same order meet
// the same faults.
type faultBox struct {
	mu       *sync.Mutex
	active   *atomic.Int32
	faults   []*Fault
	g        seeded.RNG
	injected map[string]int
	spoilt   map[SpoiltRow]struct{}
}

// SpoiltRow names a row that was served at least once other than it is.
type SpoiltRow struct {
	Business int
	Route    string // of the list, as in api.md
	ID       string
}

func newFaultBox(seed int64, faults []Fault) faultBox {
	f := faultBox{mu: &sync.Mutex{}, active: &atomic.Int32{}, g: seeded.New(uint64(seed), 11), injected: map[string]int{}, spoilt: map[SpoiltRow]struct{}{}}
	for _, one := range faults {
		f.faults = append(f.faults, &one)
	}
	f.active.Store(int32(len(f.faults)))
	return f
}

// AddFault puts a fault in force.
func (s *Sandbox) AddFault(f Fault) error {
	if err := f.validate(); err != nil {
		return fmt.Errorf("add fault: %w", err)
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.faults = append(s.faults.faults, &f)
	s.faults.active.Store(int32(len(s.faults.faults)))
	return nil
}

// ClearFaults removes every fault.
func (s *Sandbox) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.faults = nil
	s.faults.active.Store(0)
}

// Faults are those in force, with the counts left.
func (s *Sandbox) Faults() []Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	out := make([]Fault, 0, len(s.faults.faults))
	for _, f := range s.faults.faults {
		out = append(out, *f)
	}
	return out
}

// FaultsInjected counts, by kind, the faults that struck.
func (s *Sandbox) FaultsInjected() map[string]int {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	out := map[string]int{}
	for k, n := range s.faults.injected {
		out[k] = n
	}
	return out
}

// Spoilt are the rows that faults on rows have struck, in no order. A walk by
// updated_since does not bring such a row again: it has not changed.
func (s *Sandbox) Spoilt() []SpoiltRow {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return slices.Collect(maps.Keys(s.faults.spoilt))
}

// InvalidateCursors makes every cursor given out so far a broken one.
func (s *Sandbox) InvalidateCursors() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursors.epoch++
}

// roll draws which faults of a stage strike now.
func (f *faultBox) roll(stage faultStage, rq *request, rowID func() string) []Fault {
	if rq.trusted || f.active.Load() == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var hit []Fault
	kept := f.faults[:0]
	for _, one := range f.faults {
		if faultStages[one.Kind] == stage && one.concerns(rq, rowID) && f.strikes(one) {
			hit = append(hit, *one)
			f.injected[one.Kind]++
			rq.struck = append(rq.struck, one.Kind)
			if one.Count > 0 {
				if one.Count--; one.Count == 0 {
					continue
				}
			}
		}
		kept = append(kept, one)
	}
	clear(f.faults[len(kept):])
	f.faults = kept
	f.active.Store(int32(len(kept)))
	return hit
}

func (f *Fault) concerns(rq *request, rowID func() string) bool {
	return (f.Route == "" || f.Route == rq.route.name) &&
		(f.Key == "" || f.Key == rq.key.AppID) &&
		(f.RowID == "" || rowID != nil && rowID() == f.RowID)
}

func (f *faultBox) strikes(one *Fault) bool {
	if one.Skip > 0 {
		one.Skip--
		return false
	}
	return one.Probability == 0 || one.Probability == 1 || f.g.Float() < one.Probability
}

// earlyFaults strike before the key is looked at.
func (rq *request) earlyFaults() (status int, done bool) {
	for _, f := range rq.s.faults.roll(stageEarly, rq, nil) {
		switch f.Kind {
		case FaultLatency:
			if !rq.wait(f.Delay) {
				return 0, true
			}
			rq.now = rq.s.now()
		case FaultHang:
			<-rq.r.Context().Done()
			panic(http.ErrAbortHandler)
		case FaultReset:
			panic(http.ErrAbortHandler)
		case FaultUnavailable:
			if f.RetryAfter > 0 {
				rq.retryAfter(time.Duration(f.RetryAfter) * time.Second)
			}
			return rq.refuse(fail(codeUnavailable)), true
		case FaultHTML:
			return rq.html(f.Status), true
		}
	}
	return 0, false
}

func (rq *request) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-rq.r.Context().Done():
		return false
	}
}

func (rq *request) html(status int) int {
	status = cmp.Or(status, http.StatusOK)
	rq.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	rq.w.WriteHeader(status)
	_, _ = rq.w.Write([]byte("<!doctype html><html><head><title>Revenim imediat</title></head><body><h1>Revenim imediat</h1></body></html>\n")) // the client has gone
	return status
}

// pageFaults are the faults that strike the answer being made.
type pageFaults struct {
	cursorRefused, cursorRepeats, cursorMissing bool
	truncate, garbage, cutJSON                  bool
}

// answerFaults strike once the key is known and the request counted.
func (rq *request) answerFaults() (status int, done bool) {
	for _, f := range rq.s.faults.roll(stageAnswer, rq, nil) {
		switch f.Kind {
		case FaultServerError:
			return rq.refuse(fail(codeServerError)), true
		case FaultRateLimited:
			rq.retryAfter(time.Duration(f.RetryAfter) * time.Second)
			rq.w.Header().Set("X-RateLimit-Remaining", "0")
			return rq.refuse(fail(codeRateLimited)), true
		case FaultTruncate:
			rq.page.truncate = true
		case FaultGarbage:
			rq.page.garbage = true
		case FaultCutJSON:
			rq.page.cutJSON = true
		}
	}
	for _, f := range rq.s.faults.roll(stagePage, rq, nil) {
		switch f.Kind {
		case FaultCursorRefused:
			rq.page.cursorRefused = true
		case FaultCursorRepeats:
			rq.page.cursorRepeats = true
		case FaultCursorMissing:
			rq.page.cursorMissing = true
		}
	}
	return 0, false
}

// deliver sends the answer, spoilt if it has to be.
func (rq *request) deliver() int {
	switch {
	case rq.page.garbage:
		rq.out = append(rq.out[:0], "\x1f\x00}{ not json \xff\xfe"...)
	case rq.page.cutJSON:
		rq.out = rq.out[:len(rq.out)/2]
	case rq.page.truncate:
		rq.truncate()
	}
	status := cmp.Or(rq.status, http.StatusOK)
	if status == http.StatusNotModified { // it has no body
		rq.w.WriteHeader(status)
		return status
	}
	writeJSON(rq.w, rq.r, status, rq.out)
	return status
}

// truncate sends half of what Content-Length promises and cuts the connection.
func (rq *request) truncate() {
	h := rq.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", fmt.Sprint(len(rq.out)))
	rq.w.WriteHeader(cmp.Or(rq.status, http.StatusOK))
	if _, err := rq.w.Write(rq.out[:len(rq.out)/2]); err == nil {
		_ = http.NewResponseController(rq.w).Flush() // a writer that cannot flush is cut short all the same
	}
	panic(http.ErrAbortHandler)
}
