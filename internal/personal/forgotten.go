package personal

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Forgotten are the orders of a restaurant of whose customers nothing is kept any more,
// whatever the policy says. Its zero value has none.
type Forgotten struct {
	mu     sync.RWMutex
	orders map[string]bool // by id

	// storing is held for reading while rows are on their way from [Forgotten.Order] to the
	// sink, and for writing by Add.
	storing sync.RWMutex
}

// Add adds orders. When it returns, every row of them that was not redacted has been handed
// to the sink: see [Forgotten.Storing].
func (f *Forgotten) Add(ids ...string) {
	f.mu.Lock()
	if f.orders == nil {
		f.orders = map[string]bool{}
	}
	for _, id := range ids {
		f.orders[id] = true
	}
	f.mu.Unlock()
	f.storing.Lock()
	defer f.storing.Unlock()
}

// Storing is called before rows are given to Order for the last time; release when they have
// been handed to the sink. Nil has nothing to release.
func (f *Forgotten) Storing() (release func()) {
	if f == nil {
		return func() {}
	}
	f.storing.RLock()
	return f.storing.RUnlock
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
func (f *Forgotten) Order(raw []byte) []byte {
	if f == nil || !f.any(raw) {
		return raw
	}
	return Policy{}.Order(raw)
}

// OrderOf is Order of one that was asked for by its id, whatever it says itself.
func (f *Forgotten) OrderOf(id string, raw []byte) []byte {
	if f != nil && f.Has(id) {
		return Policy{}.Order(raw)
	}
	return f.Order(raw)
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
