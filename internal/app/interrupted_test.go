package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// onMessage calls a function, when there is one, when a line is logged.
type onMessage struct {
	slog.Handler
	message string
	call    *atomic.Pointer[context.CancelFunc]
}

func (h onMessage) Enabled(context.Context, slog.Level) bool { return true }

func (h onMessage) Handle(_ context.Context, r slog.Record) error {
	if call := h.call.Load(); call != nil && h.message != "" && strings.HasPrefix(r.Message, h.message) {
		(*call)()
	}
	return nil
}

func (h onMessage) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h onMessage) WithGroup(string) slog.Handler { return h }

// After Ctrl-C on a full resync beside a daemon, at any moment, the error names what
// becomes of it.
func TestWhatBecomesOfAnInterruptedResync(t *testing.T) {
	notInShort(t)
	t.Parallel()
	for _, tt := range []struct {
		name string
		at   string // the beginning of a line of the daemon's log; empty: when its status shows the resync
		goes bool   // it must go on; else it may
	}{
		{"asked for", "a command asks for ", false},
		{"it begins", "full resync begins", false},
		{"begun, and nothing heard of it yet", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{Seed: 21, Orders: 600, Days: 5, NoLimits: true})
			w.migrated(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var logged atomic.Pointer[context.CancelFunc]
			d, stop := w.daemon(t, w.another(w.app.Config, onMessage{message: tt.at, call: &logged}))
			defer stop()
			w.sync(t)
			logged.Store(&interrupt)
			if err := w.AddFault(faults.Fault{Kind: faults.Hang, Route: "/sales/orders", Probability: 1}); err != nil {
				t.Fatal(err)
			}
			var looking sync.WaitGroup
			if tt.at == "" {
				looking.Go(func() {
					polling.For(t.Context(), func() bool { return resyncs(d) })
					interrupt()
				})
			}
			_, err := w.app.Sync(ctx, syncer.Selection{Full: true, Streams: []string{sandbox.StreamSalesOrders}}, time.Minute, nil)
			looking.Wait()
			var interrupted *lifecycle.InterruptedError
			if !errors.As(err, &interrupted) {
				t.Fatalf("it says %v", err)
			}
			if !strings.Contains(interrupted.Next, "the full resyncs that have begun") || !strings.Contains(interrupted.Next, "asked for again") {
				t.Errorf("it says: %s", interrupted.Next)
			}
			if tt.goes && !resyncs(d) {
				t.Error("the resync that had begun is not under way")
			}
		})
	}
}

func resyncs(d *Daemon) bool {
	s := d.Status()
	st := s.Stream("r0", sandbox.StreamSalesOrders)
	return st != nil && st.Progress != nil && st.Progress.Resync()
}
