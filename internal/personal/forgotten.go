package personal

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/semaphore"
)

// Forgotten are the orders of a restaurant of whose customers nothing is kept any more,
// whatever the policy says. [NewForgotten] makes one: the zero value cannot be used.
type Forgotten struct {
	mu     sync.RWMutex
	orders map[string]bool // by id

	// storing is held once while rows are on their way from [Forgotten.Order] to the sink, and
	// whole by Add. Waiting for it ends with a context, which a sync.RWMutex cannot.
	storing *semaphore.Weighted
}

const wholeStoring = 1 << 30

// NewForgotten returns one that has none.
func NewForgotten() *Forgotten {
	return &Forgotten{orders: map[string]bool{}, storing: semaphore.NewWeighted(wholeStoring)}
}

// Add adds orders. When it returns nil, every row of them that was not redacted has been handed
// to the sink: see [Forgotten.Storing]. The orders are added in any case.
func (f *Forgotten) Add(ctx context.Context, ids ...string) error {
	f.mu.Lock()
	for _, id := range ids {
		f.orders[id] = true
	}
	f.mu.Unlock()
	if err := f.storing.Acquire(ctx, wholeStoring); err != nil {
		return fmt.Errorf("wait for rows that are being stored: %w", context.Cause(ctx))
	}
	f.storing.Release(wholeStoring)
	return nil
}

// Storing is called before rows are given to Order for the last time; release when they have
// been handed to the sink. No request is made in between: Add waits for the release, and other
// calls behind it. Nil has nothing to release.
func (f *Forgotten) Storing(ctx context.Context) (release func(), err error) {
	if f == nil {
		return func() {}, nil
	}
	if err := f.storing.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait until the orders to forget are noted: %w", context.Cause(ctx))
	}
	return func() { f.storing.Release(1) }, nil
}

// Has is true of an order that is forgotten.
func (f *Forgotten) Has(id string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.orders[id]
}

// All are the ids of those that are forgotten, in order.
func (f *Forgotten) All() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Sorted(maps.Keys(f.orders))
}

// Order is what is kept of an order that a policy has let through: all, or of one that is
// forgotten what [Drop] keeps. The raw one stays as it is. Nil keeps all.
func (f *Forgotten) Order(raw []byte) []byte { return f.OrderOf("", raw) }

// OrderOf is Order of one that was asked for by its id, whatever it says itself.
func (f *Forgotten) OrderOf(id string, raw []byte) []byte {
	if f == nil || !f.Has(id) && !f.any(raw) {
		return raw
	}
	return Policy{}.Order(raw)
}

// any is true when one of the ids of an order is of one that is forgotten: hostile JSON may
// have several. One without an id may be of anybody.
func (f *Forgotten) any(raw []byte) bool {
	f.mu.RLock()
	none := len(f.orders) == 0
	f.mu.RUnlock()
	if none {
		return false
	}
	named, found := false, false
	eachField(raw, func(name string, value jsontext.Value) {
		if id, err := jsontext.AppendUnquote(nil, value); name == "id" && err == nil {
			named, found = true, found || f.Has(string(id))
		}
	})
	return found || !named
}

// eachField calls f with each field of a JSON object, as far as it can be read. What is no
// object has no fields.
func eachField(raw []byte, f func(name string, value jsontext.Value)) {
	in := jsontext.NewDecoder(bytes.NewReader(raw), lenient...)
	if begin, err := in.ReadToken(); err != nil || begin.Kind() != '{' {
		return
	}
	for in.PeekKind() != '}' {
		name, err := in.ReadToken()
		if err != nil {
			return
		}
		text := name.String()
		value, err := in.ReadValue()
		if err != nil {
			return
		}
		f(text, value)
	}
}
