package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// enginePID is the process of the engine that has the world's data folder open.
func (w *world) enginePID(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.app.Config.Warehouse.DSN.Dir(), engine.LockName))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// kill ends the engine, and waits until another has taken its place.
func (w *world) kill(t *testing.T) {
	t.Helper()
	pid := w.enginePID(t)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !polling.For(t.Context(), func() bool {
		return warehouse.Listens(t.Context(), w.app.Config.Warehouse.DSN.Dir()) && w.enginePID(t) != pid
	}) {
		t.Fatal("no engine was started in the place of the killed one")
	}
}

// An engine that is killed in the middle of a backfill, again and again: rows wait, nothing is
// lost or there twice, the daemon lives, and the page, the metrics and larder status say so.
func TestTheEngineIsKilledDuringTheBackfill(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 31, Orders: 3000, Days: 30, NoLimits: true})
	w.migrated(t)
	// The backfill lasts longer than it takes to kill the engine.
	if err := w.AddFault(faults.Fault{Kind: faults.Latency, Delay: 500 * time.Millisecond, Route: "/sales/orders", Probability: 1}); err != nil {
		t.Fatal(err)
	}
	d, stop := w.daemon(t, w.app)
	defer stop()
	expectState(t, d, status.StateRunning)
	const kills = 4
	for range kills {
		w.kill(t)
	}
	s, err := w.app.Status(t.Context())
	if s.Stream("r0", sandbox.StreamSalesOrders).Progress == nil {
		t.Error("the backfill had ended before the last kill: the test kills too late")
	}
	if text := strings.Join(s.Problems, "\n"); err != nil || !strings.Contains(text, fmt.Sprintf("The embedded engine has ended %d times", kills)) || !strings.Contains(text, "signal: killed") {
		t.Errorf("the status does not say how often the engine has ended: %v\n%s", err, text)
	}
	if _, body := polling.Fetch(t, d.page.URL()+"/"); !strings.Contains(body, "The embedded engine has ended") {
		t.Errorf("the page says nothing of it:\n%.2000s", body)
	}
	if _, metrics := polling.Fetch(t, d.page.URL()+"/metrics"); !strings.Contains(metrics, fmt.Sprintf("\nlarder_engine_ends_total{role=\"writer\"} %d\n", kills)) {
		t.Errorf("larder_engine_ends_total is not %d", kills)
	}
	if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	w.identical(t)
	until(t, d, http.StatusOK, "ready")
}

// The daemon does not load the engine: what ends that does not end it.
func TestTheDaemonDoesNotLoadTheEngine(t *testing.T) { // by itself: others have an engine in this process
	notInShort(t)
	w := newWorld(t, sandbox.Options{Seed: 32, Orders: 20, Days: 3, NoLimits: true})
	w.migrated(t)
	d, stop := w.daemon(t, w.app)
	defer stop()
	if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
		t.Fatal(err)
	}
	for pid, loaded := range map[int]bool{w.enginePID(t): true, os.Getpid(): false} {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil || strings.Contains(string(maps), "libchdb") != loaded {
			t.Errorf("process %d has loaded the library: %t, %v", pid, !loaded, err)
		}
	}
}
