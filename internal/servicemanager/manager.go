// Package servicemanager tells the service manager that has started the daemon, as systemd
// is, how the daemon is.
//
// Contents: sd_notify(3) and the watchdog.
package servicemanager

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	sd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
)

// Manager is the service manager that has started the daemon, as systemd is. It is notified
// when the daemon is ready, reads its configuration anew, and stops (sd_notify(3)). Where
// there is none (NOTIFY_SOCKET is not set), nothing is sent.
type Manager struct {
	Log    *slog.Logger
	failed atomic.Bool // a notification could not be sent, which was logged

	mu     sync.Mutex
	ready  bool   // the manager has been notified of it
	status string // the one that was sent last
}

// IsReady notifies the manager that the pages listen and the warehouse was reached.
func (m *Manager) IsReady() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = true
	m.tell(sd.SdNotifyReady)
}

// Says sends a line that says what the daemon is doing.
func (m *Manager) Says(status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.status != status {
		m.status = status
		m.tell(statusLine(status))
	}
}

// Reloads notifies the manager that the configuration is being read, until done is called.
// Before the daemon is ready it sends nothing: the end of a reload would say that it is ready.
func (m *Manager) Reloads() (done func()) {
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

// Stops notifies the manager that the daemon comes to its end.
func (m *Manager) Stops() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = false
	m.tell(sd.SdNotifyStopping, statusLine("Stopping"))
}

// Watched shows until ctx ends that the daemon is alive, twice as often as the manager
// wants it. It is alive when alive returns.
func (m *Manager) Watched(ctx context.Context, alive func()) {
	within, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		m.Log.Warn("the service manager's watchdog is not understood", "error", err)
	}
	if within == 0 {
		return
	}
	for lifecycle.Pause(ctx, within/2) {
		alive()
		m.tell(sd.SdNotifyWatchdog)
	}
}

func (m *Manager) tell(lines ...string) {
	_, err := sd.SdNotify(false, strings.Join(lines, "\n"))
	if err != nil && m.failed.CompareAndSwap(false, true) {
		m.Log.Warn("the service manager cannot be told how Larder is; it is not said again", "error", err)
	}
}

// statusLine is a status in one line: what services and warehouses say may have more.
func statusLine(status string) string {
	return "STATUS=" + text.Visible(strings.Join(strings.Fields(status), " "))
}
