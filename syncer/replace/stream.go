package replace

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Stream is a stream that is replaced as a whole.
type Stream struct {
	*stream.Stream
	// Ask asks for the rows of a whole list; nil of menus.
	Ask func(ctx context.Context, lane *api.Client) (rows [][]byte, at time.Time, err error)
	// elsewhere reports whether another source of the restaurant has a row, or is bringing it.
	elsewhere func(id string) bool

	mu          sync.Mutex // guards what follows
	stored      parts
	bringing    []string        // locations that the walk under way asks for
	withdrawing map[string]bool // ids of rows that the walk under way removes
	checked     bool            // the rows of what is stored were looked for
	doubted     bool            // the next walk writes every row
}

// New makes a stream of which nothing is stored. elsewhere reports whether another source of
// the restaurant has a row, or is bringing it.
func New(o *stream.Source, def *registry.Definition, elsewhere func(id string) bool) *Stream {
	st := &Stream{Stream: stream.NewStream(o, def), elsewhere: elsewhere, stored: parts{}}
	st.Kind = st
	task := st.Guard.Task(st.Walk, def.Job)
	if def.Kind == registry.KeyKind { // it comes with each answer of /me, and no walk is made
		task.Run = nil
	}
	st.Tasks = []stream.Task{task}
	if def.Kind != registry.MenuKind {
		st.Ask = st.askList
	}
	return st
}

// walkKind names the walks in checkpoints and metrics.
func (st *Stream) walkKind() string { return st.Def.Walks()[0] }

// Restore takes over what the sink has stored about the stream.
func (st *Stream) Restore(state sinks.State) {
	st.RestoreStream(state)
	stored, doubted := parts{}, false
	for _, cp := range state.Checkpoints {
		if cp.Stream != st.Def.Name || cp.Walk != st.walkKind() {
			continue
		}
		var err error
		if stored, err = readPosition(cp); err != nil {
			st.Source.Log.Warn("all of it is stored anew", "stream", st.Def.Name, "err", err)
			doubted = true // what vanished since is found among the rows of the source
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.stored, st.doubted = stored, st.doubted || doubted
}

// Inherit takes over what the stream was known to have in the last life of its source.
func (st *Stream) Inherit(last *Stream) {
	last.mu.Lock()
	stored, doubted := maps.Clone(last.stored), last.doubted
	last.mu.Unlock()
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

// Has reports whether the source has a row, or is bringing it.
func (st *Stream) Has(id string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	has := slices.Contains(st.bringing, id)
	for key := range st.stored {
		has = has || slices.Contains(st.stored.idsOf(key), id)
	}
	return has && !st.withdrawing[id]
}

// Pass are the walks of a pass.
func (st *Stream) Pass(bool, bool) []stream.Step {
	if st.Def.Kind == registry.KeyKind {
		return nil
	}
	return []stream.Step{{Guard: st.Guard, Moved: func() uint64 { return 0 }, Run: st.Walk}}
}

// Describe implements a stream's part of a status: there is nothing beside what all kinds have.
func (st *Stream) Describe(*status.StreamStatus) {}

// Complete implements stream.Kind: each walk brings all there is.
func (st *Stream) Complete() bool { return true }

// Well implements stream.Kind.
func (st *Stream) Well() (state, detail string) { return status.StateRunning, "" }

// askList asks for the rows of the list, without the locations that the configuration does not
// name.
func (st *Stream) askList(ctx context.Context, lane *api.Client) ([][]byte, time.Time, error) {
	list, err := lane.Snapshot(ctx, st.Def.Path)
	if err != nil {
		return nil, time.Time{}, err
	}
	if st.Def.Name != registry.Locations || len(st.Source.OnlyLocations) == 0 {
		return list.Rows, list.Date, nil
	}
	return slices.DeleteFunc(slices.Clone(list.Rows), func(raw []byte) bool {
		var row struct {
			ID string `json:"id"`
		}
		return mapping.Unmarshal(raw, &row) == nil && row.ID != "" && !slices.Contains(st.Source.OnlyLocations, row.ID)
	}), list.Date, nil
}
