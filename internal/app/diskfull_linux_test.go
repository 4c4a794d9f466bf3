package app

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// onSmallDisk is a world whose embedded warehouse is on a disk that can be filled.
func onSmallDisk(t *testing.T, o sandbox.Options, test func(w *world, disk *enginetest.SmallDisk)) {
	t.Helper()
	enginetest.OnSmallDisk(t, 256<<20, func(disk *enginetest.SmallDisk) {
		w := newWorld(t, o)
		dsn, err := config.ParseDSN("embedded:" + filepath.Join(disk.Dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		w.app.Config.Warehouse.DSN = dsn
		test(w, disk)
	})
}

// change makes the next pass bring rows of two tables and a tombstone.
func (w *world) change(t *testing.T) {
	t.Helper()
	r := w.Restaurant(0)
	orders := r.IDs(sandbox.StreamSalesOrders)
	for what, err := range map[string]error{
		"touch orders":   r.Touch(sandbox.StreamSalesOrders, orders[:20]...),
		"delete order":   r.Delete(sandbox.StreamSalesOrders, orders[30]),
		"touch products": r.Touch(sandbox.StreamProducts, r.IDs(sandbox.StreamProducts)[:5]...),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// A disk that fills up under the daemon: the page says what to do, and when it is
// done everything lands, without a restart.
func TestFullDiskUnderTheDaemon(t *testing.T) {
	notInShort(t)
	onSmallDisk(t, sandbox.Options{Seed: 9, Orders: 300, Days: 10, NoLimits: true}, func(w *world, disk *enginetest.SmallDisk) {
		d, stop := w.daemon(t, w.app)
		if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
			t.Fatal(err)
		}
		w.equalsTruth(t)

		disk.Fill(0)
		w.change(t)
		pass := make(chan error, 1)
		go func() { _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); pass <- err }()
		until(t, d, http.StatusServiceUnavailable, "The disk of "+filepath.Join(disk.Dir, "data")+" is short of space")
		for path, want := range map[string]string{"/": "free some space", "/metrics": "larder_sink_failing 1"} {
			if _, body := polling.Fetch(t, d.page.URL()+path); !strings.Contains(body, want) {
				t.Errorf("GET %s lacks %q:\n%.2000s", path, want, body)
			}
		}
		saysNothingIsStored(t, d)
		select {
		case err := <-pass:
			t.Errorf("a pass ended while the disk was full: %v", err)
		default:
		}
		disk.Free()
		if err := <-pass; err != nil {
			t.Errorf("a pass over a full disk: %v", err)
		}
		w.equalsTruth(t)
		until(t, d, http.StatusOK, "ready")
		stop()
	})
}

// A command does not wait for space that nobody makes, nor is it the loss of a row.
func TestSyncGivesUpOnAFullDisk(t *testing.T) {
	notInShort(t)
	onSmallDisk(t, sandbox.Options{Seed: 10, Orders: 200, Days: 10, NoLimits: true}, func(w *world, disk *enginetest.SmallDisk) {
		w.sync(t)
		w.change(t)
		disk.Fill(0)
		_, err := w.app.Sync(t.Context(), syncer.Selection{}, time.Second, nil)
		if lifecycle.ExitCode(err) != lifecycle.ExitWarehouse || !strings.Contains(err.Error(), disk.Dir) || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("sync on a full disk: %v", err)
		}
		disk.Free()
		w.sync(t)
		w.equalsTruth(t)
	})
}
