package app

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// TestTwoDaemonsOnOneWarehouse starts two and ends the one that serves (DESIGN R12), on a
// server and on the embedded engine, which ends with the first and is started again by the
// second.
func TestTwoDaemonsOnOneWarehouse(t *testing.T) {
	t.Run("a server", func(t *testing.T) {
		r := newRemote(t)
		w := newWorld(t, sandbox.Options{Seed: 8, Orders: 200, Days: 10, NoLimits: true})
		w.use(t, r)
		twoDaemons(t, w, func() {
			w.app.Config.Web.Listen = "127.0.0.1:1" // no daemon there to be asked instead
			_, err := w.app.Sync(t.Context(), syncer.Selection{}, time.Second, nil)
			if lifecycle.ExitCode(err) != lifecycle.ExitProblem || !strings.Contains(err.Error(), "held by "+w.app.thisProcess().Name) {
				t.Errorf("sync beside a daemon: exit code %d, %v", lifecycle.ExitCode(err), err)
			}
		})
	})
	t.Run("the embedded engine", func(t *testing.T) {
		w := newWorld(t, sandbox.Options{Seed: 8, Orders: 200, Days: 10, NoLimits: true})
		twoDaemons(t, w, func() { w.sync(t) }) // the first makes it
	})
}

func twoDaemons(t *testing.T, w *world, beside func()) {
	t.Helper()
	first, stopFirst := w.daemon(t, w.app)
	expectState(t, first, status.StateRunning)
	second, stopSecond := w.daemon(t, w.another(w.app.Config, slog.DiscardHandler))
	expectState(t, second, status.StateWaiting)

	source := second.Status().Sources[0]
	if !strings.Contains(source.Detail, "held by "+w.app.thisProcess().Name) || source.Requests > 0 {
		t.Errorf("the second made %d requests, and is %s: %s", source.Requests, source.State, source.Detail)
	}
	beside()
	stopFirst()
	orders := w.Restaurant(0).IDs(sandbox.StreamSalesOrders)
	if err := w.Restaurant(0).Touch(sandbox.StreamSalesOrders, orders[:20]...); err != nil {
		t.Fatal(err)
	}
	expectState(t, second, status.StateRunning)
	if w.app.Config.Warehouse.DSN.Embedded() && !polling.For(t.Context(), func() bool { return w.app.served(t.Context()) }) {
		t.Error("the second does not take what commands ask for")
	}
	if _, err := second.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	stopSecond()
	w.sync(t) // nobody holds anything any more
}

// RunOnce makes a pass beside those of the daemon's schedule.
func (d *Daemon) RunOnce(ctx context.Context, sel syncer.Selection, onProgress func(status.Status)) (syncer.Report, error) {
	y, err := d.Syncer(ctx)
	if err != nil {
		return syncer.Report{}, err
	}
	return y.RunOnce(ctx, sel, onProgress)
}

// daemon starts a daemon; stop ends it in good order, once.
func (w *world) daemon(t *testing.T, a *App) (d *Daemon, stop func()) {
	t.Helper()
	d, err := a.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(ctx) }()
	return d, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the daemon ends with %v", err)
		}
	})
}

// expectState waits until the first source is in a state; one that waits must know
// for whom.
func expectState(t *testing.T, d *Daemon, want string) {
	t.Helper()
	var source status.SourceStatus
	if !polling.For(t.Context(), func() bool {
		source = d.Status().Sources[0]
		return source.State == want && (want != status.StateWaiting || strings.Contains(source.Detail, "held by"))
	}) {
		t.Fatalf("the source is %s, want %s: %s", source.State, want, source.Detail)
	}
}
