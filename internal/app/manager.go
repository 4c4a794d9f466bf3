package app

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

// manager is the service manager that has started the daemon, as systemd is. It is notified
// when the daemon is ready, of what it is doing, and when it stops (sd_notify(3)). Where there is none
// (NOTIFY_SOCKET is not set), nothing is sent.
type manager struct {
	log    *slog.Logger
	failed atomic.Bool // a notification could not be sent, which was logged

	mu     sync.Mutex
	status string // the one that was sent last
}

// ready notifies the manager that the pages listen and the warehouse was reached.
func (m *manager) ready() { m.notify(sd.SdNotifyReady) }

// stops notifies the manager that the daemon comes to its end.
func (m *manager) stops() { m.notify(sd.SdNotifyStopping, statusLine("Stopping")) }

// setStatus sends a line of what the daemon is doing.
func (m *manager) setStatus(status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.status != status {
		m.status = status
		m.notify(statusLine(status))
	}
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
	for lifecycle.Pause(ctx, within/2) {
		alive()
		m.notify(sd.SdNotifyWatchdog)
	}
}

func (m *manager) notify(lines ...string) {
	_, err := sd.SdNotify(false, strings.Join(lines, "\n"))
	if err != nil && m.failed.CompareAndSwap(false, true) {
		m.log.Warn("the service manager cannot be told how Larder is; it is not said again", "error", err)
	}
}

// statusLine is a status in one line: what services and warehouses say may have more.
func statusLine(status string) string {
	return "STATUS=" + text.Visible(strings.Join(strings.Fields(status), " "))
}
