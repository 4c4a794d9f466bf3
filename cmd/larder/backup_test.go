package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// stored are answers that a restored warehouse must give again.
func (h *house) stored() string {
	h.t.Helper()
	return h.want(0, "", "sql", "--format", "TSV", `SELECT (SELECT (count(), sum(totals_net_sales)) FROM sales_orders), (SELECT count() FROM sales_orders_removed),
		(SELECT (count(), sum(cityHash64(*))) FROM larder_raw.product_history), (SELECT count() FROM larder_raw.stock_history), (SELECT count() FROM order_events),
		(SELECT groupArray(n) FROM (SELECT count() AS n FROM larder_raw.checkpoints FINAL))`).out
}

func (h *house) path(name string) string { return filepath.Join(h.dir, name) }

func entries(dir string) (names []string) {
	left, _ := os.ReadDir(dir) // one that is not there has none
	for _, e := range left {
		names = append(names, e.Name())
	}
	return names
}

// killed kills a command that is in the middle of its work. One that was faster is done again.
func (h *house) killed(middle func() bool, clean []string, args ...string) {
	h.t.Helper()
	for range 20 {
		c := h.command(args...)
		if err := c.Start(); err != nil {
			h.t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = c.Wait(); close(ended) }() // how it ended shows in the folders
		for running := true; running && !middle(); {
			select {
			case <-ended:
				running = false
			case <-time.After(time.Millisecond):
			}
		}
		_ = c.Process.Kill()
		<-ended
		if middle() {
			return
		}
		for _, path := range clean {
			if err := os.RemoveAll(path); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	h.t.Fatalf("larder %v was never killed in the middle", args)
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.key("main")
	h.want(4, "there is no data at", "backup", "one")
	h.want(0, "rows:", "sync")
	h.want(0, "Backed up", "backup", "it's one")
	h.want(2, "there is something at", "backup", "it's one")
	h.want(2, "create it first", "backup", "missing/one")
	h.want(2, "choose another one", "backup", ".one.unfinished")
	h.want(2, "is in the data folder", "backup", "data/one")
	h.want(2, "a folder for the backup is needed", "backup", "")
	h.want(2, "is no finished backup", "backup", "two", "--base", "data")
	h.want(2, "is not empty, and larder restore overwrites nothing", "restore", "it's one")
	h.want(2, "is no finished backup", "restore", "larder.yaml")
	if info, err := os.Stat(h.path("it's one")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the backup's folder: %v, %v; only its owner may enter", info, err)
	}

	t.Run("beside a daemon, on the earlier one", func(t *testing.T) {
		outer := h.t
		h.t = t
		t.Cleanup(func() { h.t = outer })
		h.start("--set", "schedule.incremental=@every 1h", "--set", "schedule.online_orders=@every 1h", "--set", "schedule.snapshots=@every 1h")
		h.want(0, "Backed up", "backup", "two", "--base", "it's one")
	})
	h.want(0, "Backed up", "backup", "three", "--base", "two")
	before := h.stored()

	// Killed in the middle, neither leaves anything at its place, and the next one goes well.
	h.killed(func() bool {
		return len(entries(h.path("data/backup-tmp"))) > 0 && !slices.ContainsFunc(entries(h.dir), func(name string) bool { return strings.Contains(name, "four") })
	}, []string{h.path("four"), h.path(".four.unfinished")}, "backup", "four")
	h.want(2, "is no finished backup", "restore", "four")
	h.want(0, "did not finish; what it left is removed", "backup", "four")
	if err := os.Rename(h.path("data"), h.path("lost")); err != nil {
		t.Fatal(err)
	}
	h.killed(func() bool {
		return len(entries(h.path("data/.restoring"))) > 0 && len(entries(h.path("data"))) == 1
	}, []string{h.path("data")}, "restore", "three")
	h.want(4, "or was stopped before it was done", "sync")
	h.want(0, "did not finish; what it left is removed", "restore", "three")
	if after := h.stored(); after != before {
		t.Errorf("restored:\n%swant\n%s", after, before)
	}
	h.want(0, "", "verify")
	h.want(0, "rows:", "sync")

	// The chain holds when all of it was moved, and says what is missing.
	moved := h.path("moved")
	if err := os.Mkdir(moved, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"it's one", "two", "three"} {
		if err := os.Rename(h.path(name), filepath.Join(moved, name)); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := "warehouse.dsn=embedded:./linked/else'where"
	if err := os.Symlink(".", h.path("linked")); err != nil {
		t.Fatal(err)
	}
	h.want(0, "Restored", "restore", "moved/three", "--set", elsewhere)
	if err := os.RemoveAll(filepath.Join(moved, "two")); err != nil {
		t.Fatal(err)
	}
	h.want(2, "needs its base", "restore", "moved/three", "--set", "warehouse.dsn=embedded:./third")
	if left, err := filepath.Glob(h.path("*/backup-tmp/*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	for _, command := range []string{"backup", "restore"} {
		r := h.want(2, "its server's own affair", command, "x", "--set", "warehouse.dsn=https://u:secret@db:8443/larder")
		if strings.Contains(r.errors, "secret") {
			t.Error("the password is shown")
		}
	}
}
