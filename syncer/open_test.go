package syncer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// TestAllEntriesThereMayBeClose: every row is bad, as many as a stream's quarantine takes, and
// then, in another process, good.
func TestAllEntriesThereMayBeClose(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		const rows = sinks.MaxOpen
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

// listOf answers for a list with rows by number, a page at a time.
func listOf(rows int, row func(n int) string) func(http.ResponseWriter, *http.Request) bool {
	return func(rw http.ResponseWriter, r *http.Request) bool {
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		var page []string
		for n := from; n < min(from+api.PageLimit, rows); n++ {
			page = append(page, row(n))
		}
		fmt.Fprintf(rw, `{"data":[%s],"next_cursor":"%d","has_more":%v}`, strings.Join(page, ","), from+len(page), from+len(page) < rows)
		return true
	}
}

// TestEntriesBeyondTheBoundCloseToo: the last page before the walk stops has brought more than a
// process reads when it starts. They close when their rows are good, though they are not remembered.
func TestEntriesBeyondTheBoundCloseToo(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		bad := func(n int) bool { return n >= api.PageLimit/2 }
		row := func(n int) string {
			name := `"good"`
			if bad(n) {
				name = "5"
			}
			return fmt.Sprintf(`{"id":"i%05d","deleted":false,"location_id":"l1","name":%s,"unit":"kg","stock":"1.000","min_stock":"0.000","below_min":false,`+
				`"category":null,"warehouse":null,"sku":null,"barcode":null,"is_prepared":false,"allergens":[],"created_at":null,"updated_at":"1999-12-31T23:00:00Z"}`, n, name)
		}
		const rows = sinks.MaxOpen + api.PageLimit
		f.on("/ingredients", listOf(rows, row))
		for n := range rows { // the resync asks for what is open and was not brought
			f.on(fmt.Sprintf("/ingredients/i%05d", n), func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, row(n)); return true })
		}
		only := Selection{Streams: []string{"ingredients"}}
		w.open(w.one())
		if _, err := w.syncer.RunOnce(t.Context(), only, nil); err != nil {
			t.Fatal(err)
		}
		if n := w.store.Open(); n <= sinks.MaxOpen+1 {
			t.Fatalf("%d open entries, want more than are read", n)
		}
		w.sink.Crash(0)
		bad = func(int) bool { return false }
		w.open(w.one())
		w.once(only)
		if _, err := w.full(only); err != nil || w.store.Open() != 0 {
			t.Errorf("%d entries of good rows are open: %v", w.store.Open(), err)
		}
	})
}

// TestAFullQuarantineEmptiesWhileOneRowIsBad: a full resync brings a row that is in quarantine
// already. It does not stop in front of that: the entries of the others close at its end.
func TestAFullQuarantineEmptiesWhileOneRowIsBad(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		bad := sinks.MaxOpen
		f.on(cats, listOf(sinks.MaxOpen, func(n int) string {
			id := ""
			if n >= bad {
				id = fmt.Sprintf(`"id":"c%d",`, n)
			}
			return fmt.Sprintf(`{%s"deleted":false,"location_id":null,"name":"n%d","position":1,"updated_at":"1999-12-31T23:00:00Z"}`, id, n)
		}))
		only := Selection{Streams: []string{"categories"}}
		w.open(w.one())
		w.once(only)
		bad = 1
		if _, err := w.full(only); err != nil || w.store.Open() != 1 {
			t.Errorf("%d entries are open, want 1: %v", w.store.Open(), err)
		}
	})
}

// interruptedIn ends a run while what is stored of people is looked at.
type interruptedIn struct {
	sinks.Sink
	interrupt context.CancelFunc
}

func (s interruptedIn) Personal() sinks.Personal {
	return interruptedPersonal{s.Sink.Personal(), s.interrupt}
}

type interruptedPersonal struct {
	sinks.Personal
	interrupt context.CancelFunc
}

func (p interruptedPersonal) Recover(ctx context.Context) error {
	p.interrupt()
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestARunThatIsInterruptedHasNoTrouble: the source is as well as before.
func TestARunThatIsInterruptedHasNoTrouble(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 71, Orders: 20, Days: 2}, func(t *testing.T, w *world) {
		var log bytes.Buffer
		ctx, interrupt := context.WithCancel(t.Context())
		w.tune = func(o *Options) {
			o.Sink = interruptedIn{o.Sink, interrupt}
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		}
		if _, err := w.open().RunOnce(ctx, Selection{}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
		if state := w.syncer.Status().Sources[0].State; state != status.StateStarting || log.Len() > 0 {
			t.Errorf("the source is %s:\n%s", state, log.String())
		}
	})
}
