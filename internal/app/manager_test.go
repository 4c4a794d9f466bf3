package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
)

// listenAsManager is a service manager that records its notifications.
func listenAsManager(t *testing.T) <-chan string {
	t.Helper()
	address := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	l, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	t.Setenv("NOTIFY_SOCKET", address.Name)
	sent := make(chan string, 1000)
	go func() {
		for b := make([]byte, 8192); ; {
			n, _, err := l.ReadFromUnix(b)
			if err != nil {
				return
			}
			sent <- string(b[:n])
		}
	}()
	return sent
}

// nextNotification returns the next notification, but for the beats of the watchdog.
func nextNotification(t *testing.T, sent <-chan string) string {
	t.Helper()
	for {
		select {
		case text := <-sent:
			if text != "WATCHDOG=1" {
				return text
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("the service manager gets no notification")
		}
	}
}

// A service manager hears that the daemon is ready when the pages answer and the
// warehouse has been reached, no sooner, and of the end.
func TestServiceManager(t *testing.T) {
	notInShort(t)
	r := newRemote(t)
	w := newWorld(t, sandbox.Options{Seed: 31, Orders: 50, Days: 5, NoLimits: true})
	w.use(t, r)
	r.down.Store(true)
	sent := listenAsManager(t)
	t.Setenv("WATCHDOG_USEC", "200000")
	t.Setenv("WATCHDOG_PID", "")

	d, stop := w.daemon(t, w.app)
	if text := nextNotification(t, sent); !strings.HasPrefix(text, "STATUS=Waiting for the warehouse: ") || strings.Contains(text, "\n") {
		t.Errorf("with the warehouse away it gets %q", text)
	}
	r.down.Store(false)
	for text := nextNotification(t, sent); text != "READY=1"; text = nextNotification(t, sent) {
		if !strings.HasPrefix(text, "STATUS=") {
			t.Fatalf("before READY=1 it gets %q", text)
		}
	}
	select {
	case <-d.ready:
	default:
		t.Error("it gets READY=1 before there is a syncer")
	}
	if code, body := polling.Fetch(t, d.page.URL()+"/healthz"); code != http.StatusOK {
		t.Errorf("after READY=1 the page answers %d, %s", code, body)
	}

	for deadline := time.After(time.Minute); ; {
		select {
		case text := <-sent:
			if text != "WATCHDOG=1" {
				continue
			}
		case <-deadline:
			t.Error("the watchdog hears nothing")
		}
		break
	}
	stop()
	if text := nextNotification(t, sent); text != "STOPPING=1\nSTATUS=Stopping" {
		t.Errorf("at the end it gets %q", text)
	}
	select {
	case text := <-sent:
		t.Errorf("after its end it gets %q", text)
	default:
	}
}

// Who cannot say how it is, is not alive; and nobody beats where nobody watches.
func TestWatchdogOfOneThatHangs(t *testing.T) {
	m := &manager{log: slog.New(slog.DiscardHandler)}
	m.watched(t.Context(), func() { t.Error("there is no watchdog") })

	sent := listenAsManager(t)
	t.Setenv("WATCHDOG_USEC", "2000")
	t.Setenv("WATCHDOG_PID", "")
	ctx, cancel := context.WithCancel(t.Context())
	hangs, goesOn, ended := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		m.watched(ctx, func() { hangs <- true; <-goesOn })
	}()
	<-hangs
	select {
	case text := <-sent:
		t.Errorf("while it hangs it gets %q", text)
	default:
	}
	goesOn <- true
	if text := <-sent; text != "WATCHDOG=1" {
		t.Errorf("when it goes on it gets %q", text)
	}
	<-hangs
	cancel()
	goesOn <- true
	<-ended
}
