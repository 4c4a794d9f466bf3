package syncer

import (
	"context"
	"slices"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/snapshot"
)

// newSnapshot is what a stream without a cursor is replaced with.
func newSnapshot(st *stream) *snapshot.List {
	s := st.source
	return snapshot.New(snapshot.Options{
		Source: s.cfg.Name, Stream: st.def.Name, Plan: st.def.Plan, Writer: st.writer, Versions: s.syncer.versions, Logger: s.log,
		Elsewhere: func(id string) bool { return s.siblingLists(st.def.Name, id) },
	})
}

// replace asks for a list without a cursor and replaces what is stored by it.
func (st *stream) replace(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkSnapshot, func(ctx context.Context) error {
		list, err := st.def.Whole(ctx, st.source.link.fresh)
		if err != nil {
			return err
		}
		return st.replaceWith(ctx, page{rows: list.Rows, at: st.source.at(list.Date)})
	})
}

// replaceWith replaces what is stored by a whole list.
func (st *stream) replaceWith(ctx context.Context, p page) error {
	st.source.syncer.metrics.pages.WithLabelValues(st.source.cfg.Name, st.def.Name, sinks.WalkSnapshot).Inc()
	return st.snapshot.Replace(ctx, st.mine(p.rows), p.at)
}

// mine leaves out the locations that the configuration does not name.
func (st *stream) mine(rows [][]byte) [][]byte {
	if st.def.Name != registry.Locations || len(st.source.cfg.Locations) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(raw []byte) bool {
		var row struct {
			ID string `json:"id"`
		}
		return mapping.Unmarshal(raw, &row) == nil && row.ID != "" && !slices.Contains(st.source.cfg.Locations, row.ID)
	})
}

// siblingLists is true when another source of the same restaurant lists the id.
func (s *source) siblingLists(stream, id string) bool {
	for _, other := range s.siblings() {
		for _, st := range other.streams {
			if st.def.Name == stream && st.snapshot.Has(id) {
				return true
			}
		}
	}
	return false
}
