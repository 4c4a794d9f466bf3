package menus

import (
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
	stream.Whole
	// elsewhere is true when another source of the restaurant has the menu of a location, or
	// is bringing it.
	elsewhere func(location string) bool

	mu          sync.Mutex
	stored      map[string]version // by location
	bringing    map[string]bool    // locations that the walk under way asks for
	withdrawing map[string]bool    // locations whose menu the walk under way removes
	checked     bool               // the rows of what is stored were looked for
	doubted     bool               // the next walk writes every row
	brought     time.Time          // when the last walk began that wrote every row
}

// New makes a stream of which nothing is stored. elsewhere is true when another source of
// the restaurant has the menu of a location.
func New(o *stream.Source, def *registry.Definition, elsewhere func(location string) bool) *Stream {
	st := &Stream{Whole: stream.NewWhole(o, def), elsewhere: elsewhere, stored: map[string]version{}}
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
	return (stored || st.bringing[location]) && !st.withdrawing[location]
}

// Walks are those that a daemon makes of the menus.
func (st *Stream) Walks() []stream.Walk { return st.WholeWalks(st.Walk) }

// Pass are the walks of a pass.
func (st *Stream) Pass(bool, bool) []stream.Step { return st.Once(st.Walk) }

// Describe adds to a status what is known of the menus.
func (st *Stream) Describe(into *status.StreamStatus) {
	st.mu.Lock()
	defer st.mu.Unlock()
	into.BroughtSince = st.brought
}
