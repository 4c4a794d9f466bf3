package menus

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Stream is a stream of menus.
type Stream struct {
	*stream.Stream
	// Elsewhere is true when another source of the restaurant has the menu of a location, or
	// is bringing it.
	Elsewhere func(location string) bool

	mu       sync.Mutex
	stored   map[string]version // by location
	bringing map[string]bool    // locations that the walk under way asks for
	leaving  map[string]bool    // locations whose menu it takes away
	checked  bool               // the rows of what is stored were looked for
	doubted  bool               // the next walk writes every row
	brought  time.Time          // when the last walk began that wrote every row
}

// New makes a stream of which nothing is stored. elsewhere is true when another source of
// the restaurant has the menu of a location.
func New(o *stream.Source, def *registry.Definition, elsewhere func(location string) bool) *Stream {
	st := &Stream{Stream: stream.NewStream(o, def), Elsewhere: elsewhere, stored: map[string]version{}}
	st.Kind = st
	return st
}

// Restore takes over what the sink has stored about the menus.
func (st *Stream) Restore(state sinks.State) {
	st.RestoreStream(state)
	for _, cp := range state.Checkpoints {
		if cp.Stream != st.Def.Name || cp.Walk != sinks.WalkMenus {
			continue
		}
		stored, err := readPosition(cp)
		if err != nil {
			st.Source.Log.Warn("every menu is asked for anew", "stream", st.Def.Name, "err", err)
		}
		st.mu.Lock()
		st.stored = stored
		st.mu.Unlock()
	}
}

// Inherit takes over what another stream of the same source knows.
func (st *Stream) Inherit(other *Stream) {
	other.mu.Lock()
	stored, doubted := maps.Clone(other.stored), other.doubted
	other.mu.Unlock()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.stored, st.doubted = stored, doubted
}

// RewriteNext has the next walk write every row, whatever is stored.
func (st *Stream) RewriteNext() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.doubted = true
}

// Has is true when the source has the menu of a location, or is bringing it.
func (st *Stream) Has(location string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	_, stored := st.stored[location]
	return (stored || st.bringing[location]) && !st.leaving[location]
}

// Follow has nothing to choose: each walk asks for the locations that the key has then.
func (st *Stream) Follow(key stream.Identity) { st.AskFor(st.WantedLocations(key)) }

// NoteKey notes nothing: a location that was lost and is back is asked for with the version
// that was stored of it.
func (st *Stream) NoteKey(context.Context) {}

// Filled is true: there is no backfill.
func (st *Stream) Filled() bool { return true }

// Complete implements [stream.Kind].
func (st *Stream) Complete() bool { return true }

// Well implements [stream.Kind].
func (st *Stream) Well() (state, detail string) { return status.StateRunning, "" }

// LongDue is never true.
func (st *Stream) LongDue(time.Time) bool { return false }

// Long has nothing to do.
func (st *Stream) Long(context.Context) error { return nil }

// Pass are the walks of a pass.
func (st *Stream) Pass(bool, bool) []stream.Step {
	return []stream.Step{{Guard: st.Guard, Moved: func() uint64 { return 0 }, Run: st.Walk}}
}

// PassOff has nothing to do: the menus stay as they were.
func (st *Stream) PassOff(context.Context) error { return nil }

// Describe adds to a status what is known of the menus.
func (st *Stream) Describe(into *status.StreamStatus) {
	st.mu.Lock()
	defer st.mu.Unlock()
	into.BroughtSince = st.brought
}
