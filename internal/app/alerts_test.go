package app

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer"
)

// Every metric of which the alerts speak is there in a daemon that has mirrored, walked
// everything again, and compared its days.
func TestMetricsOfTheAlerts(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/larder.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var wanted []string
	for line := range strings.Lines(string(rules)) {
		if expr, ok := strings.CutPrefix(strings.TrimSpace(line), "expr: "); ok {
			wanted = append(wanted, regexp.MustCompile(`larder_[a-z_]+`).FindAllString(expr, -1)...)
		}
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	if len(wanted) < 10 {
		t.Fatalf("the rules name %v only: are they read right?", wanted)
	}

	w := newWorld(t, sandbox.Options{Seed: 21, Orders: 100, Days: 5, NoLimits: true})
	w.app.settleAfter = time.Second
	d, stop := w.daemon(t, w.app)
	defer stop()
	newReloader(d, Reload{}) // as `larder run` has one
	if _, err := d.RunOnce(t.Context(), syncer.Selection{Full: true}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.app.Reconcile(t.Context(), syncer.ReconcileRequest{}, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	code, metrics := fetch(t, d.page.URL()+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("GET /metrics = %d, %s", code, metrics)
	}
	for _, name := range wanted {
		if !regexp.MustCompile(`(?m)^` + name + `[ {]`).MatchString(metrics) {
			t.Errorf("the alerts speak of %s, which /metrics has not", name)
		}
	}
}
