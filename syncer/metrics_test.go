package syncer

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/syncer/status"
)

// Each gauge has a value of a status that lacks nothing, and as many labels as it was described
// with: else it would end the daemon, when it is scraped for the first time that it has one.
func TestEveryGaugeTakesItsLabels(t *testing.T) {
	now := time.Now()
	source := status.SourceStatus{State: status.StateRunning, Proof: &status.ProofStatus{ProvenUntil: "2026-03-01"}}
	stream := status.StreamStatus{
		State: status.StateRunning, Watermark: now, LastSuccess: now, LastErrorAt: now, LastResync: now, Next: now,
		SweepHeld: &status.SweepHeld{Rows: 1}, Progress: &status.Progress{Walk: "full", RequestsLeft: 1, Suspects: 1},
	}
	takeLabels(t, sourceGauges, source, "s")
	takeLabels(t, streamGauges, stream, "s", "st")
}

func takeLabels[T any](t *testing.T, gauges []gauge[T], of T, names ...string) {
	t.Helper()
	for _, g := range gauges {
		set := false
		g.value(of, func(v float64, labels ...string) {
			set = true
			if _, err := prometheus.NewConstMetric(g.desc, prometheus.GaugeValue, v, slices.Concat(names, labels)...); err != nil {
				t.Errorf("%s: %v", g.desc, err)
			}
		})
		if !set {
			t.Errorf("%s has no value: give the status what it reads", g.desc)
		}
	}
}
