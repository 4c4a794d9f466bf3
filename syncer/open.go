package syncer

import "github.com/larder-sync/larder/sinks"

// openCap bounds the open quarantine entries that a stream remembers. A bad row
// beyond it is stored again when it repeats, over its own entry.
const openCap = sinks.MaxOpen

// openEntries are the open quarantine entries of a stream (DESIGN R8), by
// sinks.Quarantined.Key. They are not safe for concurrent use; the stream's lock guards them.
type openEntries struct {
	known map[string]uint64 // hash of the bad row, 0 when not known
	// beyond: there may be entries that did not fit, so that any row that turns
	// out good may close one.
	beyond bool
	others int // about how many there are of those
	// seen is where the rows without an id were seen last, by key.
	seen map[string]sighting
}

// mostEntries is how many entries of a stream may be open before its walks stop: a
// service that sends nothing else than bad rows would fill the warehouse with them.
const mostEntries = 100_000

// full tells that no more entries are to be opened.
func (o *openEntries) full() bool { return len(o.known)+o.others >= mostEntries }

func (o *openEntries) put(key string, hash uint64) {
	if _, ok := o.known[key]; !ok && len(o.known) >= openCap {
		o.beyond = true
		o.others++
		return
	}
	if o.known == nil {
		o.known = map[string]uint64{}
	}
	o.known[key] = hash
}

// restore takes over what the sink has stored.
func (o *openEntries) restore(keys []string) {
	for _, key := range keys {
		o.put(key, 0)
	}
	o.beyond = o.beyond || len(keys) > openCap
}

// same tells whether the entry holds the same bad row.
func (o *openEntries) same(key string, hash uint64) bool { return o.known[key] == hash }

// maybe tells whether an entry of the row may be open.
func (o *openEntries) maybe(key string) bool {
	_, ok := o.known[key]
	return ok || o.beyond
}

// close forgets an entry.
func (o *openEntries) close(key string) {
	if _, ok := o.known[key]; !ok {
		o.others = max(o.others-1, 0)
	}
	delete(o.known, key)
	delete(o.seen, key)
}
