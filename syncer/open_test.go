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
