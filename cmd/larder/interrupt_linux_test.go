package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/polling"
)

// Whoever presses Ctrl-C has stopped the question; the warehouse was there.
func TestInterruptedQuery(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	const endless = "SELECT number, sleep(1), repeat('x', 1000000), repeat('y', 1000000) FROM numbers(600) SETTINGS max_block_size = 1"
	alone := h.onTerminal(80, "sql", "--format", "TSV", endless)
	alone.shows("\n1\t0\t") // the answer has begun
	alone.interrupt()
	interrupted(t, alone.ends(1))

	h.configure(local("embedded:./data"))
	polling.Page(t, h.start("--set", "warehouse.http_listen=")+"/readyz", http.StatusOK, "ready")
	beside := h.onTerminal(80, "sql", "--format", "TSV", endless)
	beside.shows("\n1\t0\t")
	beside.interrupt()
	interrupted(t, beside.ends(1))
}

func interrupted(t *testing.T, text string) {
	t.Helper()
	text = text[max(0, len(text)-1000):]
	if !strings.HasSuffix(text, "larder: interrupted\n") || strings.Contains(text, "could not be reached") {
		t.Errorf("an interrupted query says\n%s", text)
	}
}

// The ^C that a terminal shows does not stay in front of what the command says at its
// end, whether or not there were bars to draw anew.
func TestAnInterruptedPassStartsItsTableOnALineOfItsOwn(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, sandbox.Options{Orders: 100, Days: 5, NoLimits: true, Record: true})
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	h.want(0, "ok", "sync")
	if err := h.AddFault(faults.Fault{Kind: faults.Hang, Route: "/products", Probability: 1}); err != nil {
		t.Fatal(err)
	}
	requests := len(h.Requests())
	sync := h.onTerminal(80, "sync", "--stream", "products")
	polling.Until(t, "the command asks the service", func() bool { return len(h.Requests()) > requests })
	h.want(0, "No daemon runs", "status")
	sync.interrupt()
	screen := screenOf(sync.ends(1), 80)
	for _, line := range screen {
		if strings.Contains(line, "^C") {
			t.Errorf("%q in\n%s", line, strings.Join(screen, "\n"))
		}
	}
	if !slices.ContainsFunc(screen, func(line string) bool { return strings.HasPrefix(line, "source ") }) {
		t.Errorf("no table:\n%s", strings.Join(screen, "\n"))
	}
}

// The reader of the daemon's log may end: the daemon goes on.
func TestADaemonOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(local("embedded:./data"))
	h.migrated()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	listen := freePort(t)
	c := h.command("run", "--set", "web.listen="+listen, "--set", "log.level=debug")
	c.Stderr = write
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	h.daemon = c.Process
	if err := errors.Join(write.Close(), read.Close()); err != nil {
		t.Fatal(err)
	}
	polling.Page(t, "http://"+listen+"/readyz", http.StatusOK, "ready") // it has logged that much by then
	h.hangUp()
	polling.Page(t, "http://"+listen+"/metrics", http.StatusOK, `larder_config_reloads_total{result="success"} 1`)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("larder run ends with %v", err)
	}
}

// The daemon brings a full resync to its end, whether or not someone waits for it.
func TestInterruptedResyncGoesOnInTheDaemon(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, sandbox.Options{Orders: 3000, Days: 30, NoLimits: true})
	h.configure(local("embedded:./data"))
	h.migrated()
	page := h.start()
	polling.Page(t, page+"/readyz", http.StatusOK, "ready")
	h.want(0, "ok", "sync")
	if err := h.AddFault(faults.Fault{Kind: faults.Latency, Delay: 700 * time.Millisecond, Route: "/sales/orders", Probability: 1}); err != nil {
		t.Fatal(err)
	}
	sync := h.onTerminal(80, "sync", "--full", "--stream", "sales_orders")
	sync.shows("full resync: ")
	sync.interrupt()
	const words = "larder: interrupted; the daemon goes on by itself, and with the full resyncs that have begun; larder status shows how far it is, and a full resync that has not begun, or a confirmed sweep, has to be asked for again\n"
	if text := sync.ends(1); !strings.HasSuffix(text, words) {
		t.Errorf("the end is not %q:\n%s", words, text)
	}
	polling.Until(t, "the resync goes on", func() bool {
		// A command in this process waits for those of other tests, until the resync may have ended.
		out, _ := h.command("status").Output() // its exit code is about problems, of which a busy machine has some
		return strings.Contains(string(out), "full resync: ")
	})
}

// What is typed, as the ^C of an interruption, leaves no remains in the bars; and a
// pass of one stream shows no other's.
func TestBarsOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, sandbox.Options{Orders: 3000, Days: 30, NoLimits: true})
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	if err := h.AddFault(faults.Fault{Kind: faults.Latency, Delay: 300 * time.Millisecond, Probability: 1}); err != nil {
		t.Fatal(err)
	}
	sync := h.onTerminal(80, "sync", "--stream", "sales_orders", "--stream", "products")
	sync.shows("bistro sales_orders")
	sync.typed("bibi")
	seen := len(sync.output())
	polling.Until(t, "some frames more", func() bool { return strings.Count(sync.output()[seen:], "bistro sales_orders") >= 2 })
	for _, line := range screenOf(sync.output(), 80) {
		if strings.Contains(line, "bib") || strings.Contains(line, "bistro ") && !strings.HasPrefix(line, "bistro ") {
			t.Errorf("remains: %q", line)
		}
	}
	text := sync.ends(0)
	for _, line := range screenOf(text, 80) {
		if strings.Contains(line, "bib") {
			t.Errorf("remains at the end: %q in\n%s", line, strings.Join(screenOf(text, 80), "\n"))
		}
	}
	if strings.Contains(text, "ingredients") {
		t.Errorf("another stream shows:\n%s", text)
	}
}

// On a terminal bars take the log's place, unless a level is set. A demo whose daemon has begun
// (its first line is about webhooks) exits with 0 when it is interrupted, ready or not.
func TestADemoOnATerminalLogsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	demo := newHouse(t).onTerminal(80, "demo", "--days", "3", "--set", "web.listen=", "--set", "log.level=info")
	demo.shows("level=INFO msg=webhooks")
	demo.interrupt()
	demo.ends(0)
}

// A demo that is interrupted before its daemon has begun exits with 1.
func TestADemoThatIsInterruptedBeforeItsDaemonBegins(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	r := newHouse(t).runUntil(ctx, strings.NewReader(""), "demo", "--days", "2", "--orders-per-day", "5")
	if r.code != 1 || r.out != "" || !strings.HasSuffix(r.errors, "\nlarder: interrupted\n") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.errors)
	}
}
