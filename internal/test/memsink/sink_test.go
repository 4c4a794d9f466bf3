package memsink

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/sinktest"
	"github.com/larder-sync/larder/syncer/registry"
)

// TestReads holds the sink that the syncer's tests count on to what a warehouse
// must answer.
func TestReads(t *testing.T) {
	tables := map[string]*sinks.Table{}
	for _, d := range registry.All() {
		tables[d.Name] = d.Plan.Table()
	}
	sinktest.RunReads(t, func(*testing.T) sinktest.Harness {
		store := NewStore()
		return sinktest.Harness{
			Tables: tables, ClaimTimeout: 6 * time.Hour, Age: store.Age,
			Open: func(o sinktest.Options) sinks.Sink {
				return Open(store, Options{FlushInterval: o.FlushInterval, FlushTime: time.Millisecond, ClaimTimeout: 6 * time.Hour})
			},
			Rows: func(table, business string) (rows []sinktest.Row) {
				for id := range store.Rows(table, business) {
					rows = append(rows, sinktest.Row{ID: id})
				}
				return rows
			},
		}
	})
}
