package syncer

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestOpenEntriesAreBounded(t *testing.T) {
	var o openEntries
	for i := range openCap {
		o.put(fmt.Sprint(i), 7)
	}
	if o.maybe("stranger") {
		t.Error("a row that never was bad may have an entry")
	}
	o.put("one more", 7)
	if len(o.known) != openCap {
		t.Errorf("%d entries are remembered", len(o.known))
	}
	if !o.maybe("one more") || o.same("one more", 7) {
		t.Error("an entry beyond the bound is taken for known")
	}
	o.put("5", 8)
	if !o.same("5", 8) {
		t.Error("a known entry is not replaced")
	}
	o.close("5")
	o.put("one more", 7)
	if !o.same("one more", 7) {
		t.Error("no room after an entry was closed")
	}
	var after openEntries
	after.restore(make([]string, openCap+1)) // all without an id
	if !after.maybe("anything") {
		t.Error("what the sink did not list is forgotten")
	}
}

// TestEntriesBeyondTheBoundCloseToo: every row is bad, more than are remembered, and
// then, in another process, good.
func TestEntriesBeyondTheBoundCloseToo(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		const rows = openCap + pageLimit
		name := "5"
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			from, to := 0, pageLimit
			if text := r.URL.Query().Get("cursor"); text != "" {
				from, _ = strconv.Atoi(text)
				to = from + pageLimit
			}
			page := make([]string, pageLimit)
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
