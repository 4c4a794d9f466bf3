package syncer

import (
	"context"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/snapshot"
)

// whole is a stream without a cursor: its list is replaced as a whole. The key's row is
// such a list, of one row.
type whole struct {
	*stream
	list *snapshot.List
	// ask asks for the list as it is now.
	ask func(ctx context.Context, lane *api.Client) (rows [][]byte, at time.Time, err error)
	// renew brings what is stored up to date.
	renew func(ctx context.Context) error
	// byItself: the list comes by itself, with each answer of /me.
	byItself bool
	// elsewhere is true when another source of the restaurant lists the id.
	elsewhere func(id string) bool
}

func newWhole(o *origin, def *registry.Definition, elsewhere func(id string) bool) *whole {
	st := &whole{stream: newStream(o, def), elsewhere: elsewhere}
	st.kind = st
	st.ask = st.askList
	st.renew = func(ctx context.Context) error { return st.exclusive(ctx, st.guard, st.replace) }
	st.list = snapshot.New(snapshot.Options{
		Source: o.name, Stream: def.Name, Plan: def.Plan, Writer: st.writer, Versions: o.versions, Logger: o.log,
		Elsewhere: elsewhere,
	})
	return st
}

// restore takes over what the sink has stored about the list.
func (st *whole) restore(state sinks.State) {
	st.restoreStream(state)
	for _, cp := range state.Checkpoints {
		if cp.Stream == st.def.Name && cp.Walk == sinks.WalkSnapshot {
			st.list.Restore(cp)
		}
	}
}

// follow has nothing to choose: the list is asked for whole.
func (st *whole) follow(key identity) { st.askFor(st.wantedLocations(key)) }

// noteKey notes nothing.
func (st *whole) noteKey(context.Context) {}

// filled is true: there is no backfill.
func (st *whole) filled() bool { return true }

// complete implements byKind.
func (st *whole) complete() bool { return true }

// well implements byKind.
func (st *whole) well() (state, detail string) { return StateRunning, "" }

// longDue is never true.
func (st *whole) longDue(time.Time) bool { return false }

// long has nothing to do.
func (st *whole) long(context.Context) error { return nil }

// pass are the walks of a pass.
func (st *whole) pass(bool, bool) []walkNow {
	if st.byItself {
		return nil
	}
	return []walkNow{{st.guard, func() uint64 { return 0 }, st.replace}}
}

// passOff does in a pass what is to be done of a list that is off.
func (st *whole) passOff(context.Context) error { return nil }

// describe adds to a status what is known of the list.
func (st *whole) describe(status *StreamStatus) { status.BroughtSince = st.list.BroughtSince() }

// askList asks for the rows of the list that the configuration names.
func (st *whole) askList(ctx context.Context, lane *api.Client) ([][]byte, time.Time, error) {
	list, err := st.def.Whole(ctx, lane)
	if err != nil {
		return nil, time.Time{}, err
	}
	return st.mine(list.Rows), list.Date, nil
}

// replace asks for the list and replaces what is stored by it.
func (st *whole) replace(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkSnapshot, func(ctx context.Context) error {
		rows, at, err := st.ask(ctx, st.source.lanes.fresh)
		if err != nil {
			return err
		}
		return st.replaceWith(ctx, rows, st.source.at(at))
	})
}

// replaceWith replaces what is stored by a whole list.
func (st *whole) replaceWith(ctx context.Context, rows [][]byte, at time.Time) error {
	st.source.metrics.paged(st.source.name, st.def.Name, sinks.WalkSnapshot)
	return st.list.Replace(ctx, rows, at)
}

// mine leaves out the locations that the configuration does not name.
func (st *whole) mine(rows [][]byte) [][]byte {
	if st.def.Name != registry.Locations || len(st.source.onlyLocations) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(raw []byte) bool {
		var row struct {
			ID string `json:"id"`
		}
		return mapping.Unmarshal(raw, &row) == nil && row.ID != "" && !slices.Contains(st.source.onlyLocations, row.ID)
	})
}
