package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks/engine"
)

// remembered are the views of what the API does not remember.
var remembered = []string{"product_history", "stock_history", "sales_orders_removed", "order_events"}

// stored are answers that a restored warehouse must give again: row by row what only it has.
func (h *house) stored() (all string) {
	h.t.Helper()
	for _, view := range remembered {
		rows := h.want(0, "", "sql", "--format", "TSV", "SELECT * FROM "+view+" ORDER BY ALL").out
		if rows == "" {
			h.t.Errorf("%s is empty: its rows are not compared", view)
		}
		all += view + "\n" + rows
	}
	return all + h.want(0, "", "sql", "--format", "TSV", `SELECT (SELECT (count(), sum(totals_net_sales)) FROM sales_orders),
		(SELECT groupArray(n) FROM (SELECT count() AS n FROM larder_raw.checkpoints FINAL))`).out
}

// moves changes products and stock, and removes orders.
func (h *house) moves(products, ingredients, orders int) {
	h.t.Helper()
	r := h.Restaurant(0)
	for i, id := range r.IDs(sandbox.StreamProducts)[:products] {
		if err := r.EditProduct(id, sandbox.ProductChange{Name: "Altul " + strconv.Itoa(i), Price: int64(1000 + i)}); err != nil {
			h.t.Fatal(err)
		}
	}
	for i, id := range r.IDs(sandbox.StreamIngredients)[:ingredients] {
		if err := r.SetStock(id, int64(1000*i+500)); err != nil {
			h.t.Fatal(err)
		}
	}
	ids := r.IDs(sandbox.StreamSalesOrders)
	if err := errors.Join(r.Delete(sandbox.StreamSalesOrders, ids[:orders]...), r.UnpayOrder(ids[orders])); err != nil {
		h.t.Fatal(err)
	}
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
	h.interrupted(middle, func(c *exec.Cmd) { _ = c.Process.Kill() }, func(*exec.Cmd) bool { return middle() }, clean, args...)
}

// interrupted has kill end something while a command is in the middle of its work, until it
// was done in time, and returns what the command says.
func (h *house) interrupted(middle func() bool, kill func(*exec.Cmd), inTime func(*exec.Cmd) bool, clean []string, args ...string) string {
	h.t.Helper()
	for range 20 {
		c := h.command(args...)
		var said bytes.Buffer
		c.Stderr = &said
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
		kill(c)
		<-ended
		if inTime(c) {
			return said.String()
		}
		for _, path := range clean {
			if err := os.RemoveAll(path); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	h.t.Fatalf("larder %v was never interrupted in the middle", args)
	return ""
}

// killEngine kills the engine of the data folder.
func (h *house) killEngine(*exec.Cmd) {
	text, err := os.ReadFile(h.path("data/" + engine.LockName))
	if err != nil {
		h.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		h.t.Fatal(err)
	}
	program, err := os.FindProcess(pid)
	if err == nil {
		_ = program.Kill() // it may have ended
	}
}

// giveAway makes a user the one who opened the data folder.
func (h *house) giveAway(user int) {
	h.t.Helper()
	if err := os.Chown(h.path("data/"+engine.LockName), user, user); err != nil {
		h.t.Fatal(err)
	}
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, sandbox.Options{Orders: 50, Days: 5, NoLimits: true, OnlineOrders: 60})
	guests := h.OnlineOrders(0)
	guests.Advance(h.now().UnixMicro())
	guests.StopGuests()
	h.configure(quiet + local("embedded:./data"))
	h.key("main")
	h.want(4, "there is no data at", "backup", "one")
	h.migrated()
	h.want(0, "rows:", "sync")
	h.moves(3, 3, 2)
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
		h.moves(2, 2, 1)
		h.start("--set", "schedule.incremental=@every 1h", "--set", "schedule.online_orders=@every 1h", "--set", "schedule.snapshots=@every 1h")
		h.want(0, "", "sync")
		if os.Geteuid() == 0 { // the rule is for root
			h.giveAway(1)
			h.want(4, "have its service do it", "backup", "two", "--base", "it's one")
			h.giveAway(0)
		}
		h.want(0, "Backed up", "backup", "two", "--base", "it's one")
	})
	h.want(0, "Backed up", "backup", "three", "--base", "two")
	before := h.stored()

	// Killed in the middle, neither leaves anything at its place, and the next one goes well.
	unmade := []string{h.path("four"), h.path(".four.unfinished")}
	writing := func() bool {
		parts, err := filepath.Glob(h.path("data/backup-tmp/*/checkpoints"))
		return err == nil && len(parts) > 0 && !slices.ContainsFunc(entries(h.dir), func(name string) bool { return strings.Contains(name, "four") })
	}
	said := h.interrupted(writing, h.killEngine, func(c *exec.Cmd) bool { return c.ProcessState.ExitCode() != 0 }, unmade, "backup", "four")
	if !strings.Contains(said, "what was written of the backup was removed: start it again") || writing() {
		t.Errorf("with its engine killed, larder backup says %q and leaves %q", said, entries(h.path("data/backup-tmp")))
	}
	h.want(0, "tables are in place", "check")
	h.killed(writing, unmade, "backup", "four")
	h.want(2, "is no finished backup", "restore", "four")
	h.want(0, "! warehouse: a backup did not finish, and has left ", "check")
	t.Run("a daemon on what a backup has left", func(t *testing.T) {
		outer := h.t
		h.t = t
		t.Cleanup(func() { h.t = outer })
		h.start()
	})
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
	h.want(0, "rows:", "sync")
	if h.run("verify").code != 0 { // the service rejects orders that nobody answers in time, also now
		h.want(0, "rows:", "sync")
		// The daemon's deep run, which asks for older days again, may not have come so far before the backup.
		h.want(0, "rows:", "sync", "--full", "--stream", "sales_products", "--stream", "sales_daily")
		h.want(0, "", "verify")
	}

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
