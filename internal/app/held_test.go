package app

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/status"
)

// The rows held are counted when something was written, and once more when nothing more is; what was
// not counted, as of a source whose restaurant is not known yet, is unknown, not 0.
func TestRowsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		now := status.Status{Sources: []status.SourceStatus{
			{BusinessID: "a", Streams: []status.StreamStatus{{Name: "products"}, {Name: "stock"}, {Name: "sales_orders", State: status.StateOff}}},
			{BusinessID: "b", Streams: []status.StreamStatus{{Name: "products"}}},
			{Streams: []status.StreamStatus{{Name: "products", State: status.StateUnreachable}}},
		}}
		var h heldRows
		var asked [][]string
		if h.fill(&now); now.Sources[0].Streams[0].Rows != nil {
			t.Error("rows that were not counted yet are not unknown")
		}
		go h.run(ctx, slog.New(slog.DiscardHandler), func(_ context.Context, businesses ...string) ([]clickhouse.Count, error) {
			asked = append(asked, businesses)
			return []clickhouse.Count{{Stream: "products", Business: "a", Rows: 7}}, nil
		}, func() status.Status { return now })
		counts := func(over time.Duration, want ...[]string) {
			t.Helper()
			asked = nil
			time.Sleep(over)
			synctest.Wait()
			if !slices.EqualFunc(asked, want, slices.Equal) {
				t.Errorf("counted are %q, want %q", asked, want)
			}
		}
		counts(time.Minute, []string{"a", "b"})
		h.fill(&now)
		if a := now.Sources[0].Streams; *a[0].Rows != 7 || *a[1].Rows != 0 || a[2].Rows != nil || now.CountedAt.IsZero() {
			t.Errorf("the status has %+v", a)
		}
		if st := now.Sources[2].Streams[0]; st.Rows != nil {
			t.Errorf("a source of no known restaurant holds %d rows", *st.Rows)
		}
		now.Sources[1].Streams[0].Written = 3
		counts(time.Minute, []string{"a", "b"}, []string{"a", "b"})
		now.Sources[2].BusinessID = "c"
		counts(time.Minute, []string{"a", "b", "c"})
		counts(2*heldStale, []string{"a", "b", "c"}, []string{"a", "b", "c"})
	})
}
