package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/syncer"
)

// Beside a command that makes a pass of its own, the others say which process that is,
// that it is no daemon, and what to do.
func TestASecondCommandSaysWhoHoldsTheFolder(t *testing.T) {
	w := newWorld(t, sandbox.Options{Seed: 14, Orders: 50, Days: 5, NoLimits: true})
	if err := w.AddFault(faults.Fault{Kind: faults.Hang, Route: "/products", Probability: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		_, err := w.another(w.app.Config, w.app.Log.Handler()).Sync(ctx, syncer.Selection{}, time.Minute, func(syncer.Status) {
			select {
			case begun <- struct{}{}:
			default:
			}
		})
		ended <- err
	}()
	<-begun
	commands := map[string]func() error{
		"sync": func() error { _, err := w.app.Sync(t.Context(), syncer.Selection{}, 0, nil); return err },
		"verify": func() error {
			_, err := w.app.Verify(t.Context(), syncer.Selection{}, 0, control.Verifying{})
			return err
		},
		"reconcile": func() error { _, err := w.app.Reconcile(t.Context(), syncer.ReconcileRequest{}, 0, nil); return err },
		// An engine is open in this process already, so what another would be told is given.
		"run": func() error {
			return w.app.HeldBy(t.Context(), &exit.WarehouseError{Err: &embedded.HeldError{Path: w.app.Config.Warehouse.DSN.Dir(), PID: os.Getpid()}})
		},
	}
	for name, command := range commands {
		err := command()
		want := fmt.Sprintf("held by process %d, ", os.Getpid())
		if exit.Code(err) != exit.Warehouse || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a larder sync") || !strings.Contains(err.Error(), "wait until it has ended") {
			t.Errorf("%s: exit code %d, %v", name, exit.Code(err), err)
		}
	}
	var says []string
	w.app.checker().CheckTables(t.Context(), func(f check.Finding) { says = append(says, f.Text) })
	if got, want := strings.Join(says, "\n"), fmt.Sprintf("a larder sync (process %d) holds it", os.Getpid()); !strings.Contains(got, want) {
		t.Errorf("check says %q, want %q", got, want)
	}
	w.app.Config.Web.Listen = "127.0.0.1:1" // which is not looked at
	if _, err := w.app.Open(t.Context(), nil); exit.Code(err) != exit.Warehouse || !strings.Contains(err.Error(), "a larder sync: wait until it has ended") {
		t.Errorf("a daemon: %v", err)
	}
	if s, err := w.app.Status(t.Context()); err != nil || s.Command != "larder sync" || s.StartedAt.IsZero() {
		t.Errorf("status: %v, of %q", err, s.Command)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the first sync: %v", err)
	}
}
