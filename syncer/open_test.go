package syncer

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
)

// TestEntriesBeyondTheBoundCloseToo: every row is bad, more than are remembered, and
// then, in another process, good.
func TestEntriesBeyondTheBoundCloseToo(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		const rows = sinks.MaxOpen + api.PageLimit
		name := "5"
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			from, to := 0, api.PageLimit
			if text := r.URL.Query().Get("cursor"); text != "" {
				from, _ = strconv.Atoi(text)
				to = from + api.PageLimit
			}
			page := make([]string, api.PageLimit)
			for i := range page {
				page[i] = fmt.Sprintf(`{"id":"c%d","deleted":false,"location_id":null,"name":%s,"position":1,"updated_at":"1999-12-31T23:00:00Z"}`, from+i, name)
			}
			fmt.Fprintf(rw, `{"data":[%s],"next_cursor":"%d","has_more":%v}`, strings.Join(page, ","), to, to < rows)
			return true
		})
		w.open(w.one())
		w.once(Selection{Streams: []string{"categories"}})
		if n := w.store.Open(); n != rows {
			t.Fatalf("%d open entries, want %d", n, rows)
		}
		w.sink.Crash(0)
		name = `"good"`
		w.open(w.one())
		w.once(Selection{Streams: []string{"categories"}})
		if n := w.store.Open(); n != 0 {
			t.Errorf("%d entries of good rows are open", n)
		}
	})
}
