package list

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
)

// state is what is stored of a list, or on its way there. Nothing else locks it.
type state struct {
	mu  sync.Mutex
	now position
}

// position is how far the walks of a list are, and the full resync that it owes.
type position struct {
	incr, back, full Checkpoint
	debt             debt

	// Of this process alone.
	mirrored uint64    // live rows when the full resync under way went on
	began    time.Time // when the full resync began by our clock; zero when another process began it
	passed   time.Time // the last instant of which more orders changed than a page has: see [walk.refetchOpen]
}

// read returns what is stored now.
func (s *state) read() position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// restore takes over what the sink has stored about the list. It returns why its locations were not
// understood.
func (s *state) restore(def *registry.Definition, stored []sinks.Checkpoint) (unread error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cp := range stored {
		switch {
		case cp.Stream != def.Name:
		case cp.Walk == sinks.WalkOwed:
			d := debt{version: cp.FirstVersion}
			if err := json.Unmarshal([]byte(cp.Position), &d); err != nil {
				d = debt{version: cp.FirstVersion} // NoteKey finds other locations, and a resync is owed
				unread = fmt.Errorf("the stored locations %.100q are not understood: %w", cp.Position, err)
			}
			s.now.debt = d
		case slices.Contains(def.Walks(), cp.Walk):
			*s.now.of(cp.Walk) = decoded(cp)
		}
	}
	s.now.inherit()
	return unread
}

// moved takes over the checkpoint of a walk under way. The watermark of the incremental walks
// never goes back.
func (s *state) moved(cp Checkpoint) {
	cp.last = time.Time{} // of this run alone: the next begins at rows that are older
	s.change(func(p *position) {
		if cp.Walk == sinks.WalkIncremental {
			cp.Watermark = stream.Later(cp.Watermark, p.incr.Watermark)
		}
		*p.of(cp.Walk) = cp
		p.inherit()
	})
}

// change changes what is stored, or is on its way.
func (s *state) change(f func(*position)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.now)
}

// of returns the checkpoint of a kind of walk.
func (p *position) of(kind string) *Checkpoint {
	switch kind {
	case sinks.WalkBackfill:
		return &p.back
	case sinks.WalkFull:
		return &p.full
	}
	return &p.incr
}

// inherit lets the incremental walks go on from where a finished backfill ended:
// together they have received everything up to there.
func (p *position) inherit() {
	if p.back.Done {
		p.incr.Watermark = stream.Later(p.incr.Watermark, p.back.Watermark)
	}
}

// floor is the oldest updated_at that the next incremental walk can receive, with a
// margin; what is older need not be remembered.
func (p position) floor() time.Time { return p.incr.Next().Add(-margin) }

// resyncing reports whether a full resync is under way or owed.
func (p position) resyncing() bool { return p.full.underWay() || p.indebted() }

// indebted reports whether a full resync is owed that has not begun.
func (p position) indebted() bool {
	return p.debt.version > max(p.back.FirstVersion, p.full.FirstVersion)
}

// awaits reports whether rows of a location that was gained are still to come: the long walk that
// receives them began after that, and has not come to its end.
func (p position) awaits() bool {
	received := p.back.FirstVersion > p.debt.version || p.full.FirstVersion > p.debt.version && (p.full.Done || p.full.phase.Brought)
	return p.debt.Gained && !received
}
