package app

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/dashboards"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// Every metric of which the alerts speak is there in a daemon that has mirrored, walked
// everything again, and compared its days.
func TestMetricsOfTheAlerts(t *testing.T) {
	notInShort(t)
	t.Parallel()
	rules, err := os.ReadFile("../../deploy/prometheus/larder.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var wanted []string
	for line := range strings.Lines(string(rules)) {
		if expr, ok := strings.CutPrefix(strings.TrimSpace(line), "expr: "); ok {
			if strings.HasPrefix(expr, ">") || strings.HasPrefix(expr, "|") {
				t.Fatal("an expression on lines of its own is not read here: write it on one")
			}
			wanted = append(wanted, regexp.MustCompile(`larder_[a-z_]+`).FindAllString(expr, -1)...)
		}
	}
	if len(wanted) < 10 {
		t.Fatalf("the rules name %v only: are they read right?", wanted)
	}
	wanted = append(wanted, metricsOfTheDashboard(t)...)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)

	w := newWorld(t, sandbox.Options{Seed: 21, Orders: 100, Days: 5, NoLimits: true})
	w.migrated(t)
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
	code, metrics := polling.Fetch(t, d.page.URL()+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("GET /metrics = %d, %s", code, metrics)
	}
	for _, name := range wanted {
		if !regexp.MustCompile(`(?m)^` + name + `[ {]`).MatchString(metrics) {
			t.Errorf("the alerts or the dashboard speak of %s, which /metrics has not", name)
		}
	}
}

// metricsOfTheDashboard are those of which the dashboard of Prometheus speaks, but for one
// that is there only while a long walk is under way: of that the source must have the name.
func metricsOfTheDashboard(t *testing.T) []string {
	t.Helper()
	b, err := fs.ReadFile(dashboards.Files(), "en/larder.json")
	if err != nil {
		t.Fatal(err)
	}
	var board dashboards.Model
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			all = append(all, regexp.MustCompile(`(larder|process)_[a-z_]+`).FindAllString(target.Expr, -1)...)
		}
	}
	if len(all) < 15 {
		t.Fatalf("the dashboard names %v only: is it read right?", all)
	}
	const whileWalking = "larder_walk_expected_left_seconds"
	source, err := os.ReadFile("../../syncer/metrics.go")
	if err != nil || !strings.Contains(string(source), `streamGauge("`+whileWalking+`"`) {
		t.Errorf("syncer has no metric %s (%v)", whileWalking, err)
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == whileWalking })
}
