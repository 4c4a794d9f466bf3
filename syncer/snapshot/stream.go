package snapshot

import (
	"context"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Stream is a stream without a cursor: its list is replaced as a whole. The key's row is
// such a list, of one row.
type Stream struct {
	stream.Whole
	Contents *Contents
	// Ask asks for the list as it is now.
	Ask func(ctx context.Context, lane *api.Client) (rows [][]byte, at time.Time, err error)
	// ByItself: the list comes by itself, with each answer of /me.
	ByItself bool
}

// NewStream makes a list of which nothing is stored. elsewhere is true when another source
// of the restaurant lists an id.
func NewStream(o *stream.Source, def *registry.Definition, elsewhere func(id string) bool) *Stream {
	st := &Stream{Whole: stream.NewWhole(o, def)}
	st.Kind = st
	st.Ask = st.askList
	st.Contents = New(Options{
		Source: o.Name, Stream: def.Name, Plan: def.Plan, Writer: st.Writer, Versions: o.Versions, Logger: o.Log,
		Elsewhere: elsewhere,
	})
	return st
}

// Restore takes over what the sink has stored about the list.
func (st *Stream) Restore(state sinks.State) {
	st.RestoreStream(state)
	for _, cp := range state.Checkpoints {
		if cp.Stream == st.Def.Name && cp.Walk == sinks.WalkSnapshot {
			st.Contents.Restore(cp)
		}
	}
}

// Walks are those that a daemon makes of the list. One that comes by itself is not begun.
func (st *Stream) Walks() []stream.Walk {
	if st.ByItself {
		return st.WholeWalks(nil)
	}
	return st.WholeWalks(st.Replace)
}

// Pass are the walks of a pass.
func (st *Stream) Pass(bool, bool) []stream.Step {
	if st.ByItself {
		return nil
	}
	return st.Once(st.Replace)
}

// Describe adds to a status what is known of the list.
func (st *Stream) Describe(into *status.StreamStatus) { into.BroughtSince = st.Contents.BroughtSince() }

// askList asks for the rows of the list that the configuration names.
func (st *Stream) askList(ctx context.Context, lane *api.Client) ([][]byte, time.Time, error) {
	list, err := st.Def.Whole(ctx, lane)
	if err != nil {
		return nil, time.Time{}, err
	}
	return st.mine(list.Rows), list.Date, nil
}

// Replace asks for the list and replaces what is stored by it.
func (st *Stream) Replace(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkSnapshot, func(ctx context.Context) error {
		rows, at, err := st.Ask(ctx, st.Source.Lanes.Fresh)
		if err != nil {
			return err
		}
		return st.ReplaceWith(ctx, rows, st.Source.AnswerTime(at))
	})
}

// ReplaceWith replaces what is stored by a whole list.
func (st *Stream) ReplaceWith(ctx context.Context, rows [][]byte, at time.Time) error {
	st.Source.Metrics.Paged(st.Source.Name, st.Def.Name, sinks.WalkSnapshot)
	return st.Contents.Replace(ctx, rows, at)
}

// mine leaves out the locations that the configuration does not name.
func (st *Stream) mine(rows [][]byte) [][]byte {
	if st.Def.Name != registry.Locations || len(st.Source.OnlyLocations) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(raw []byte) bool {
		var row struct {
			ID string `json:"id"`
		}
		return mapping.Unmarshal(raw, &row) == nil && row.ID != "" && !slices.Contains(st.Source.OnlyLocations, row.ID)
	})
}
