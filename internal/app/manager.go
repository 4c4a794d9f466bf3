package app

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	sd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/larder-sync/larder/internal/visible"
)

// manager is the service manager that has started the daemon, as systemd is: it is told
// when the daemon is ready, reads its configuration anew, and stops (sd_notify(3)).
// Where there is none (NOTIFY_SOCKET is not set), nothing is told.
type manager struct {
	log  *slog.Logger
	deaf atomic.Bool // it could not be told something, which was logged

	mu     sync.Mutex
	ready  bool   // it was told so
	status string // as it was told
}

// isReady tells that the pages listen and the warehouse was reached.
func (m *manager) isReady() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = true
	m.tell(sd.SdNotifyReady)
}

// says tells in a line what the daemon is about.
func (m *manager) says(status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.status != status {
		m.status = status
		m.tell(statusLine(status))
	}
}

// reloads tells that the configuration is read, until done is called. Before the daemon
// is ready it is not told: the end of a reload would say that it is.
func (m *manager) reloads() (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.ready {
		return func() {}
	}
	m.tell(sd.SdNotifyReloading, strings.TrimSpace(sd.SdNotifyMonotonicUsec()))
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.ready { // else it stops by now
			m.tell(sd.SdNotifyReady)
		}
	}
}

// stops tells that the daemon comes to its end.
func (m *manager) stops() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = false
	m.tell(sd.SdNotifyStopping, statusLine("Stopping"))
}

// watched shows until ctx ends that the daemon is alive, twice as often as the manager
// wants it. It is alive when alive returns.
func (m *manager) watched(ctx context.Context, alive func()) {
	within, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		m.log.Warn("the service manager's watchdog is not understood", "error", err)
	}
	if within == 0 {
		return
	}
	for pause(ctx, within/2) {
		alive()
		m.tell(sd.SdNotifyWatchdog)
	}
}

func (m *manager) tell(lines ...string) {
	_, err := sd.SdNotify(false, strings.Join(lines, "\n"))
	if err != nil && m.deaf.CompareAndSwap(false, true) {
		m.log.Warn("the service manager cannot be told how Larder is; it is not said again", "error", err)
	}
}

// statusLine is a status in one line: what services and warehouses say may have more.
func statusLine(text string) string {
	return "STATUS=" + visible.Text(strings.Join(strings.Fields(text), " "))
}
