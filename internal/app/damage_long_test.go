//go:build long

package app

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
)

// A full resync of the schedule ends a notice, as one of the command does.
func TestTheScheduledResyncEndsTheNotice(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 17, Orders: 300, Days: 10, NoLimits: true})
	w.migrated(t)
	w.app.settleAfter = time.Second
	w.sync(t)
	tables := append([]string{"product_history"}, damagedTables...)
	w.damage(t, tables...)
	w.app.Config.Schedule.FullResync, w.app.Config.Schedule.Snapshots = "@every 5s", "@every 1s"
	d, stop := w.daemon(t, w.app)
	defer stop()
	if n := len(d.app.Damages(d.route).Problems()); n != len(tables) {
		t.Fatalf("%d parts are damaged, not %d", n, len(tables))
	}
	if !polling.For(t.Context(), func() bool { return len(d.Status().Problems) == 0 }) {
		t.Fatalf("the notices stay: %v", d.Status().Problems)
	}
	w.equalsTruth(t)
	w.identical(t)
}
