package write

import "github.com/larder-sync/larder/sinks"

// Counts is what was asked for and what became of the rows.
type Counts struct {
	Requests, Pages, Upserts, Tombstones, Unchanged, Quarantined uint64
}

// Add adds b.
func (c *Counts) Add(b Counts) {
	c.Requests += b.Requests
	c.Pages += b.Pages
	c.Upserts += b.Upserts
	c.Tombstones += b.Tombstones
	c.Unchanged += b.Unchanged
	c.Quarantined += b.Quarantined
}

// Minus is what c has beyond b.
func (c Counts) Minus(b Counts) Counts {
	return Counts{
		Requests: c.Requests - b.Requests, Pages: c.Pages - b.Pages, Upserts: c.Upserts - b.Upserts,
		Tombstones: c.Tombstones - b.Tombstones, Unchanged: c.Unchanged - b.Unchanged, Quarantined: c.Quarantined - b.Quarantined,
	}
}

// AddTo adds c to the figures of a run.
func (c Counts) AddTo(run *sinks.Run) {
	run.Requests += c.Requests
	run.Pages += c.Pages
	run.Rows += c.Upserts
	run.Tombs += c.Tombstones
	run.Unchanged += c.Unchanged
	run.Quarantined += c.Quarantined
}
