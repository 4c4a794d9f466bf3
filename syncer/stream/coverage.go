package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Coverage is what is stored of a stream that is asked for whole: the locations
// that the key could use when its rows were brought. Rows of a location that the
// key gains later may have changed long before the watermark, and no incremental
// walk brings them.
type Coverage struct {
	Locations []string `json:"locations"`
	// Opening are gained locations of which rows were brought, and not all yet. One that
	// is lost before its walk has ended is lost like any other.
	Opening []string `json:"opening,omitempty"`
	// LocationsOnly is since when the totals of all locations together are not asked for any
	// more, zero while they are. HandedOverBySiblings are the other sources of the restaurant
	// that have handed these totals over to this one, with their LocationsOnly. See package
	// totals.
	LocationsOnly        time.Time            `json:"locations_only,omitzero"`
	HandedOverBySiblings map[string]time.Time `json:"left_by_siblings,omitempty"`
}

// Gain has locations count as covered.
func (c *Coverage) Gain(gained []string) {
	c.Locations = slices.Concat(c.Locations, gained)
	c.Opening = Without(c.Opening, gained)
}

// Lose has locations not count as covered any more.
func (c *Coverage) Lose(lost []string) {
	c.Locations, c.Opening = Without(c.Locations, lost), Without(c.Opening, lost)
}

// Without are all but some.
func Without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(l string) bool { return slices.Contains(some, l) })
}

// CoverageKeeper keeps the coverage of a stream.
//
// Locations come and go while a long walk holds up what is to be done about it. One
// that is lost and the key's again before then looks as if nothing had been, and yet
// walks may have passed by its rows. So the loss is stored at once, ahead of what the
// walks after it bring, and such a location counts as gained when it is back.
type CoverageKeeper struct {
	stream *Stream
	// Whole: the stream is asked for all locations together, by walks that bring only what
	// has changed. Else nothing is kept.
	Whole bool
	// storing is held while a change of lost is handed to the sink, so that the last one is
	// what stays.
	storing Slot

	mu     sync.Mutex
	stored *Coverage // nil: not known yet
	lost   []string  // locations that were lost, and that nobody has acted upon
}

// NewCovered makes the coverage of a stream of which nothing is known. whole: it is asked for
// all locations together.
func NewCovered(st *Stream, whole bool) *CoverageKeeper {
	return &CoverageKeeper{stream: st, Whole: whole, storing: NewSlot()}
}

// Now is what is stored; empty while that is not known.
func (c *CoverageKeeper) Now() Coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored == nil {
		return Coverage{}
	}
	return *c.stored
}

func (c *CoverageKeeper) known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stored != nil
}

// Changed are the locations gained and lost since the rows were brought.
func (c *CoverageKeeper) Changed() (gained, lost []string) {
	if !c.Whole || !c.known() {
		return nil, nil
	}
	now, was := c.stream.Source.Identity().Locations, c.Now()
	for _, l := range now {
		if !slices.Contains(was.Locations, l) {
			gained = append(gained, l)
		}
	}
	for _, l := range slices.Concat(was.Locations, was.Opening) {
		if !slices.Contains(now, l) {
			lost = append(lost, l)
		}
	}
	return gained, lost
}

// Due is true when locations were gained, lost or have returned, or it is not known yet
// with which the mirror began.
func (c *CoverageKeeper) Due() bool {
	gained, lost := c.Changed()
	return len(gained)+len(lost) > 0 || c.Whole && !c.known() || len(c.Returned()) > 0
}

// Begin notes the locations with which the mirror begins.
func (c *CoverageKeeper) Begin(ctx context.Context) error {
	if !c.Whole || c.known() {
		return nil
	}
	return c.Save(ctx, func(now *Coverage) { now.Gain(c.stream.Source.Identity().Locations) })
}

// Save changes what is stored.
func (c *CoverageKeeper) Save(ctx context.Context, change func(*Coverage)) error {
	now := c.Now()
	change(&now)
	now.Locations = slices.Compact(slices.Sorted(slices.Values(now.Locations)))
	cp, err := c.checkpoint(sinks.WalkCoverage, now)
	if err != nil {
		return err
	}
	if err := c.stream.Source.Save(ctx, c.stream.Def.Name, *cp, nil); err != nil {
		return err
	}
	c.mu.Lock()
	c.stored = &now
	c.mu.Unlock()
	c.changeLost(ctx, func(was []string) []string { // what is not covered any more was acted upon
		return slices.DeleteFunc(was, func(l string) bool { return !slices.Contains(now.Locations, l) })
	})
	return nil
}

func (c *CoverageKeeper) checkpoint(walk string, position any) (*sinks.Checkpoint, error) {
	text, err := json.Marshal(position)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", walk, err)
	}
	at := time.Now().UTC()
	return &sinks.Checkpoint{
		Source: c.stream.Source.Name, Stream: c.stream.Def.Name, Walk: walk, Business: c.stream.Source.Business(),
		Position: string(text), Done: true, StartedAt: at, UpdatedAt: at,
	}, nil
}

// Restore takes over what is stored.
func (c *CoverageKeeper) Restore(cp sinks.Checkpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.stream.Source.Log
	switch cp.Walk {
	case sinks.WalkCoverage:
		was := &Coverage{}
		if err := json.Unmarshal([]byte(cp.Position), was); err != nil {
			log.Warn("the stored locations are not readable, today's are taken", "stream", c.stream.Def.Name, "err", err)
			return
		}
		c.stored = was
	case sinks.WalkLostLocations:
		if err := json.Unmarshal([]byte(cp.Position), &c.lost); err != nil {
			log.Warn("the stored locations that were lost are not readable", "stream", c.stream.Def.Name, "err", err)
		}
	}
}

// NoteLost notes which of the covered locations are not the key's just now.
func (c *CoverageKeeper) NoteLost(ctx context.Context) {
	_, lost := c.Changed()
	c.changeLost(ctx, func(was []string) []string { return append(was, lost...) })
}

// changeLost changes which locations count as lost, and hands them to the sink. It does not
// wait until that is durable: whatever walks hand over later is not so before.
func (c *CoverageKeeper) changeLost(ctx context.Context, change func([]string) []string) {
	if c.storing.Take(ctx) != nil {
		return // ctx has ended, and with it all walks
	}
	defer c.storing.Release()
	c.mu.Lock()
	was := c.lost
	now := slices.Compact(slices.Sorted(slices.Values(change(slices.Clone(was)))))
	c.lost = now
	c.mu.Unlock()
	if slices.Equal(was, now) {
		return
	}
	commit := c.stream.Source.Commit(c.stream.Def.Name)
	var err error
	if commit.Checkpoint, err = c.checkpoint(sinks.WalkLostLocations, now); err == nil {
		_, err = c.stream.Source.Commits.Write(ctx, commit)
	}
	if err != nil && ctx.Err() == nil {
		c.stream.Source.Log.Error("store the locations that were lost", "stream", c.stream.Def.Name, "locations", now, "err", err)
	}
}

// Returned are the locations that were lost and are the key's again, and count as covered
// as if nothing had been.
func (c *CoverageKeeper) Returned() (all []string) {
	if !c.Whole {
		return nil
	}
	now, was := c.stream.Source.Identity().Locations, c.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lost {
		if slices.Contains(now, l) && slices.Contains(was.Locations, l) {
			all = append(all, l)
		}
	}
	return all
}
