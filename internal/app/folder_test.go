package app

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// A data folder that is removed under a running daemon: the page and /readyz say so, nothing is
// acknowledged, and what reads makes no new folder.
func TestTheDataFolderIsRemovedUnderTheDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 12, Orders: 200, Days: 10, NoLimits: true})
	w.migrated(t)
	d, stop := w.daemon(t, w.app)
	if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	dir := w.app.Config.Warehouse.DSN.Dir()
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	until(t, d, http.StatusServiceUnavailable, "the data folder was removed or replaced under this process: "+dir)
	if _, body := polling.Fetch(t, d.page.URL()+"/"); !strings.Contains(body, "put the folder back") {
		t.Errorf("the page says nothing of the folder:\n%.2000s", body)
	}
	saysNothingIsStored(t, d)

	err := w.another(w.app.Config, w.app.Log.Handler()).Query(t.Context(), "SELECT 1", "TSV", os.Stderr)
	if exit.Code(err) != exit.Warehouse || !strings.Contains(err.Error(), "there is no data at "+dir) {
		t.Errorf("sql: %v", err)
	}
	w.change(t)
	pass := make(chan error, 1)
	go func() {
		report, err := d.RunOnce(t.Context(), syncer.Selection{}, nil)
		pass <- errors.Join(err, report.Err())
	}()
	until(t, d, http.StatusServiceUnavailable, "No rows are stored")
	stop()
	if err := <-pass; err == nil {
		t.Error("a pass into a lost folder ended well")
	}

	// With the folder put back, everything is there, and what changed meanwhile comes.
	if err := os.Rename(dir+".old", dir); err != nil {
		t.Fatal(err)
	}
	w.sync(t)
	w.equalsTruth(t)
}
