package app

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// Beside a command that makes a pass of its own, the others say which process has the source,
// and what asks the warehouse alone works.
func TestASecondCommandSaysWhoHasTheSource(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 14, Orders: 50, Days: 5, NoLimits: true})
	w.migrated(t)
	if err := w.AddFault(faults.Fault{Kind: faults.Hang, Route: "/products", Probability: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		_, err := w.another(w.app.Config, w.app.Log.Handler()).Sync(ctx, syncer.Selection{}, time.Minute, func(s status.Status) {
			if s.Sources[0].Requests > 0 {
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
		ended <- err
	}()
	<-begun
	for name, command := range map[string]func() error{
		"sync":      func() error { _, err := w.app.Sync(t.Context(), syncer.Selection{}, 0, nil); return err },
		"reconcile": func() error { _, err := w.app.Reconcile(t.Context(), syncer.ReconcileRequest{}, 0, nil); return err },
	} {
		err := command()
		if lifecycle.ExitCode(err) != lifecycle.ExitProblem || !strings.Contains(err.Error(), "held by "+w.app.thisProcess().Name) {
			t.Errorf("%s: exit code %d, %v", name, lifecycle.ExitCode(err), err)
		}
	}
	var says []string
	err := w.app.Checker().CheckTables(t.Context(), func(f check.Finding) { says = append(says, f.Text) })
	if got := strings.Join(says, "\n"); err != nil || !strings.Contains(got, "tables are in place") {
		t.Errorf("check says %q, %v", got, err)
	}
	var out bytes.Buffer
	if err := w.app.Query(t.Context(), "SELECT count() FROM locations", "TSV", &out); err != nil {
		t.Errorf("sql: %v", err)
	}
	if s, err := w.app.Status(t.Context()); err != nil || !s.StartedAt.IsZero() || len(s.Sources) != 1 {
		t.Errorf("status: %v, since %s", err, s.StartedAt)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the first sync: %v", err)
	}
}
