package app

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// A data folder that is removed under a running daemon: the page, /readyz and every command
// say so, nothing is acknowledged, and no second engine makes a new folder.
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

	command := w.another(w.app.Config, w.app.Log.Handler())
	command.Config.Web.Listen = strings.TrimPrefix(d.page.URL(), "http://")
	for _, what := range []string{"removed", "replaced"} {
		s, err := command.Status(t.Context())
		if err != nil || len(s.Problems) == 0 || !strings.Contains(s.Problems[0], "removed or replaced") {
			t.Errorf("%s: status: %v %v", what, s.Problems, err)
		}
		_, err = command.Sync(t.Context(), syncer.Selection{}, time.Second, nil)
		if lifecycle.ExitCode(err) != lifecycle.ExitWarehouse || !strings.Contains(err.Error(), "a daemon is running for "+dir) {
			t.Errorf("%s: sync: %v", what, err)
		}
		err = command.Query(t.Context(), "SELECT 1", "TSV", os.Stderr)
		if lifecycle.ExitCode(err) != lifecycle.ExitWarehouse || !strings.Contains(err.Error(), "stop the daemon") {
			t.Errorf("%s: sql: %v", what, err)
		}
		var found []string
		err = command.Checker().Run(t.Context(), func(f check.Finding) { found = append(found, f.Mark+" "+f.Text) })
		all := strings.Join(found, "\n")
		if lifecycle.ExitCode(err) != lifecycle.ExitWarehouse || !strings.Contains(all, "✗ warehouse: a daemon is running for "+dir) || strings.Contains(all, "is taken by") || strings.Contains(all, "is free") {
			t.Errorf("%s: check: %v\n%s", what, err, all)
		}
		if _, err := os.Stat(dir + "/store"); err == nil {
			t.Errorf("%s: a command made a new warehouse", what)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
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
	if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".old", dir)); err != nil {
		t.Fatal(err)
	}
	w.sync(t)
	w.equalsTruth(t)
}
