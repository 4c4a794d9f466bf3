package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/status"
)

// The rows held are counted when something was written, of the streams that was written to, and once more
// when nothing more is; while nobody looks, once a minute. What was not counted, as of a source whose
// restaurant is not known yet, is unknown, not 0.
func TestRowsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		now := status.Status{Sources: []status.SourceStatus{
			{BusinessID: "a", Streams: []status.StreamStatus{{Name: "products"}, {Name: "sales_daily"}, {Name: "sales_orders", State: status.StateOff}}},
			{BusinessID: "b", Streams: []status.StreamStatus{{Name: "products"}}},
			{Streams: []status.StreamStatus{{Name: "products", State: status.StateUnreachable}}},
		}}
		type counted struct{ streams, businesses string }
		var h heldRows
		var mu sync.Mutex // guards what follows
		set := func(f func()) { mu.Lock(); defer mu.Unlock(); f() }
		var asked []counted
		var looks int // at the written rows
		written, businesses, held := map[string]uint64{}, []string{"a", "b"}, []clickhouse.Count{{Stream: "products", Business: "a", Rows: 7}}
		if h.fill(&now); now.Sources[0].Streams[0].Rows != nil {
			t.Error("rows that were not counted yet are not unknown")
		}
		go h.run(ctx, slog.New(slog.DiscardHandler), func(_ context.Context, streams []string, businesses ...string) ([]clickhouse.Count, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, counted{strings.Join(streams, " "), strings.Join(businesses, " ")})
			return held, nil
		}, func() ([]string, map[string]uint64) {
			mu.Lock()
			defer mu.Unlock()
			looks++
			return businesses, maps.Clone(written)
		})
		counts := func(over time.Duration, want ...counted) {
			t.Helper()
			set(func() { asked, looks = nil, 0 })
			time.Sleep(over)
			synctest.Wait()
			if !slices.Equal(asked, want) {
				t.Errorf("counted are %q, want %q", asked, want)
			}
		}
		all := strings.Join(config.Streams, " ")
		counts(10*time.Second, counted{all, "a b"})
		set(func() { written["products"] = 7 }) // the first look, soon after a start, has what the first mirror brought
		counts(20*time.Second, counted{"products", "a b"}, counted{"products", "a b"})
		h.fill(&now)
		if a := now.Sources[0].Streams; *a[0].Rows != 7 || *a[1].Rows != 0 || a[2].Rows != nil || now.CountedAt.IsZero() {
			t.Errorf("the status has %+v", a)
		}
		if st := now.Sources[2].Streams[0]; st.Rows != nil {
			t.Errorf("a source of no known restaurant holds %d rows", *st.Rows)
		}
		counts(time.Minute)
		set(func() {
			written["sales_daily"], held = 3, []clickhouse.Count{{Stream: "sales_daily", Business: "a", Rows: 9}}
		})
		h.fill(&now)
		counts(4*time.Second, counted{"sales_daily", "a b"})
		if h.fill(&now); *now.Sources[0].Streams[0].Rows != 7 || *now.Sources[0].Streams[1].Rows != 9 {
			t.Errorf("the status has %+v", now.Sources[0].Streams)
		}
		counts(4*time.Second, counted{"sales_daily", "a b"})
		counts(time.Minute)
		set(func() { written["sales_daily"]++; written["sales_orders"]++ })
		if counts(150*time.Second, counted{"sales_daily sales_orders", "a b"}, counted{"sales_daily sales_orders", "a b"}); looks > 3 {
			t.Errorf("what was written is added up %d times in 150 s in which nobody looks", looks)
		}
		counts(10 * time.Minute)
		set(func() { businesses = []string{"a", "b", "c"} })
		counts(2*time.Minute, counted{all, "a b c"})
		counts(2*heldStale+heldUnseen, counted{all, "a b c"}, counted{all, "a b c"})
		set(func() { asked = nil })
		for range 2 * heldStale / heldUnseen { // one stream is written to all the time: the others are counted all the same
			set(func() { written["sales_orders"]++ })
			time.Sleep(heldUnseen)
		}
		mu.Lock()
		defer mu.Unlock()
		if n := len(slices.DeleteFunc(asked, func(c counted) bool { return c.streams != all })); n != 2 {
			t.Errorf("all streams are counted %d times in two hours", n)
		}
	})
}
