package syncer

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// Totals that failed are made up for once the trouble has ended, and after a restart.
func TestTotalsThatFailedAreMadeUpForAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault   faults.Fault
		restart bool
	}{
		"trouble": {faults.Fault{Kind: faults.Reset, Probability: 1}, false},
		"restart": {faults.Fault{Kind: faults.ServerError, Route: "/sales/daily", Probability: 1}, true},
	} {
		inWorld(t, sandbox.Options{Seed: 57, Orders: 200, Days: 10}, func(t *testing.T, w *world) {
			w.run()
			w.until("filled", time.Hour, w.filled)
			w.compared()
			time.Sleep(time.Until(w.syncer.times.Load().Next(schedule.Reconcile, "r0", time.Now())) - time.Millisecond)
			if err := w.box.AddFault(c.fault); err != nil {
				t.Fatal(err)
			}
			w.until("failing", 5*time.Minute, func() bool { return w.stream(registry.Daily).State == status.StateFailing })
			if c.restart {
				w.halt()
			}
			w.box.ClearFaults()
			if c.restart {
				w.run()
			}
			w.until("served", 10*time.Minute, func() bool { return w.source().State == status.StateRunning })
			time.Sleep(time.Minute)
			if is := w.stream(registry.Daily).State; is != status.StateRunning {
				t.Errorf("%s: a minute after it, the totals are %s", name, is)
			}
		})
	}
}
