package syncer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// coverage is what is stored of a stream that is asked for whole: the locations
// that the key could use when its rows were brought. Rows of a location that the
// key gains later may have changed long before the watermark, and no incremental
// walk brings them.
type coverage struct {
	Locations []string `json:"locations"`
	// Opening are gained locations of which rows were brought, and not all yet. One that
	// is lost before its walk has ended is lost like any other.
	Opening []string `json:"opening,omitempty"`
	// LocationsOnly is since when the totals of all locations together are not asked for any
	// more, zero while they are. LeftBySiblings are the other sources of the restaurant that
	// have left them to this one, with their LocationsOnly. See shared_totals.go.
	LocationsOnly  time.Time            `json:"locations_only,omitzero"`
	LeftBySiblings map[string]time.Time `json:"left_by_siblings,omitempty"`
}

// gain has locations count as covered.
func (c *coverage) gain(gained []string) {
	c.Locations = slices.Concat(c.Locations, gained)
	c.Opening = without(c.Opening, gained)
}

// lose has locations not count as covered any more.
func (c *coverage) lose(lost []string) {
	c.Locations, c.Opening = without(c.Locations, lost), without(c.Opening, lost)
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(l string) bool { return slices.Contains(some, l) })
}

// covered keeps the coverage of a stream.
//
// Locations come and go while a long walk holds up what is to be done about it. One
// that is lost and the key's again before then looks as if nothing had been, and yet
// walks may have passed by its rows. So the loss is stored at once, ahead of what the
// walks after it bring, and such a location counts as gained when it is back.
type covered struct {
	stream *stream
	// whole: the stream is asked for all locations together, by walks that bring only what
	// has changed. Else nothing is kept.
	whole bool
	// storing is held while a change of lost is handed to the sink, so that the last one is
	// what stays.
	storing slot

	mu     sync.Mutex
	stored *coverage // nil: not known yet
	lost   []string  // locations that were lost, and that nobody has acted upon
}

func newCovered(st *stream, whole bool) *covered {
	return &covered{stream: st, whole: whole, storing: newSlot()}
}

// now is what is stored; empty while that is not known.
func (c *covered) now() coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored == nil {
		return coverage{}
	}
	return *c.stored
}

func (c *covered) known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stored != nil
}

// changed are the locations gained and lost since the rows were brought.
func (c *covered) changed() (gained, lost []string) {
	if !c.whole || !c.known() {
		return nil, nil
	}
	now, was := c.stream.source.identity().locations, c.now()
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

// due is true when locations were gained, lost or have returned, or it is not known yet
// with which the mirror began.
func (c *covered) due() bool {
	gained, lost := c.changed()
	return len(gained)+len(lost) > 0 || c.whole && !c.known() || len(c.returned()) > 0
}

// begin notes the locations with which the mirror begins.
func (c *covered) begin(ctx context.Context) error {
	if !c.whole || c.known() {
		return nil
	}
	return c.save(ctx, func(now *coverage) { now.gain(c.stream.source.identity().locations) })
}

// save changes what is stored.
func (c *covered) save(ctx context.Context, change func(*coverage)) error {
	now := c.now()
	change(&now)
	now.Locations = slices.Compact(slices.Sorted(slices.Values(now.Locations)))
	cp, err := c.checkpoint(sinks.WalkCoverage, now)
	if err != nil {
		return err
	}
	if err := c.stream.source.save(ctx, c.stream.def.Name, *cp, nil); err != nil {
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

func (c *covered) checkpoint(walk string, position any) (*sinks.Checkpoint, error) {
	text, err := json.Marshal(position)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", walk, err)
	}
	at := time.Now().UTC()
	return &sinks.Checkpoint{
		Source: c.stream.source.name, Stream: c.stream.def.Name, Walk: walk, Business: c.stream.source.business(),
		Position: string(text), Done: true, StartedAt: at, UpdatedAt: at,
	}, nil
}

// restore takes over what is stored.
func (c *covered) restore(cp sinks.Checkpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.stream.source.log
	switch cp.Walk {
	case sinks.WalkCoverage:
		was := &coverage{}
		if err := json.Unmarshal([]byte(cp.Position), was); err != nil {
			log.Warn("the stored locations are not readable, today's are taken", "stream", c.stream.def.Name, "err", err)
			return
		}
		c.stored = was
	case sinks.WalkLostLocations:
		if err := json.Unmarshal([]byte(cp.Position), &c.lost); err != nil {
			log.Warn("the stored locations that were lost are not readable", "stream", c.stream.def.Name, "err", err)
		}
	}
}

// noteLost notes which of the covered locations are not the key's just now.
func (c *covered) noteLost(ctx context.Context) {
	_, lost := c.changed()
	c.changeLost(ctx, func(was []string) []string { return append(was, lost...) })
}

// changeLost changes which locations count as lost, and hands them to the sink. It does not
// wait until that is durable: whatever walks hand over later is not so before.
func (c *covered) changeLost(ctx context.Context, change func([]string) []string) {
	if c.storing.take(ctx) != nil {
		return // ctx has ended, and with it all walks
	}
	defer c.storing.free()
	c.mu.Lock()
	was := c.lost
	now := slices.Compact(slices.Sorted(slices.Values(change(slices.Clone(was)))))
	c.lost = now
	c.mu.Unlock()
	if slices.Equal(was, now) {
		return
	}
	commit := c.stream.source.commit(c.stream.def.Name)
	var err error
	if commit.Checkpoint, err = c.checkpoint(sinks.WalkLostLocations, now); err == nil {
		_, err = c.stream.source.commits.Write(ctx, commit)
	}
	if err != nil && ctx.Err() == nil {
		c.stream.source.log.Error("store the locations that were lost", "stream", c.stream.def.Name, "locations", now, "err", err)
	}
}

// returned are the locations that were lost and are the key's again, and count as covered
// as if nothing had been.
func (c *covered) returned() (all []string) {
	if !c.whole {
		return nil
	}
	now, was := c.stream.source.identity().locations, c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lost {
		if slices.Contains(now, l) && slices.Contains(was.Locations, l) {
			all = append(all, l)
		}
	}
	return all
}
