package app

import (
	"context"
	"log/slog"
	"slices"
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

// TestTwoDaemonsOnOneWarehouse starts two and ends the one that serves (docs/rules.md R12), on a
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

// Two daemons on one server divide the sources by themselves, and the one that is left has all.
func TestDaemonsShareTheSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 9, Businesses: 6, Orders: 40, Days: 5, NoLimits: true})
	w.use(t, newRemote(t))
	w.app.Config.Shard.Auto = true
	first, stopFirst := w.daemon(t, w.app)
	second, stopSecond := w.daemon(t, w.another(w.app.Config, slog.DiscardHandler))
	serve := func(daemons ...*Daemon) {
		t.Helper()
		var served []string
		if !polling.For(t.Context(), func() bool {
			served = nil
			for _, d := range daemons {
				s := d.Status()
				for i := range s.Sources {
					if of := &s.Sources[i]; of.State == status.StateRunning && max(s.Processes, 1) == len(daemons) {
						served = append(served, of.Name)
					}
				}
			}
			slices.Sort(served)
			return slices.Equal(served, []string{"r0", "r1", "r2", "r3", "r4", "r5"})
		}) {
			t.Fatalf("%d daemons serve %q", len(daemons), served)
		}
	}
	pass := func(d *Daemon) {
		t.Helper()
		if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	serve(first, second)
	pass(first)
	pass(second)
	w.equalsTruth(t)
	stopFirst()
	for i := range 6 {
		if err := w.Restaurant(i).Touch(sandbox.StreamSalesOrders, w.Restaurant(i).IDs(sandbox.StreamSalesOrders)[:5]...); err != nil {
			t.Fatal(err)
		}
	}
	serve(second)
	pass(second)
	w.equalsTruth(t)
	stopSecond()
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
