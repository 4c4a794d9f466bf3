package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/larder-sync/larder/syncer/status"
)

const (
	rulesFile      = "prometheus/larder.rules.yaml"
	ruleTestsFile  = "prometheus/larder.rules.test.yaml"
	operationsFile = "../docs/operations.md"
	dashboardFile  = "../dashboards/en/larder.json"
	operationsURL  = "https://github.com/larder-sync/larder/blob/main/docs/operations.md"
)

type rule struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func rules(t *testing.T) []rule {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	decode(t, rulesFile, &file)
	var all []rule
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no rules", rulesFile)
	}
	return all
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	ourMetric   = regexp.MustCompile(`\blarder_[a-z_]+`)
	panelMetric = regexp.MustCompile(`\b(larder_[a-z_]+|up)\b`)
	heading     = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	anchored    = regexp.MustCompile(`\]\(#([^)]+)\)`)
	notWord     = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	healthSet   = regexp.MustCompile(`health!~"([^"]*)"`)
)

// anchor is how GitHub calls a heading in a link.
func anchor(heading string) string {
	return strings.ReplaceAll(notWord.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// entries are the alerts that the documents tell of, with what they say of each.
func entries(t *testing.T) map[string]string {
	t.Helper()
	_, text, _ := strings.Cut(read(t, operationsFile), "\n## Alerts\n")
	text, _, ok := strings.Cut(text, "\n## ")
	if !ok {
		t.Fatalf("%s has no section Alerts with one behind it", operationsFile)
	}
	all := map[string]string{}
	for _, part := range strings.Split(text, "\n### ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		all[name] = body
	}
	return all
}

// Every alert has an entry in the documents that names its metrics, and every entry a
// rule; what a person is told by an alert leads there and to a dashboard.
func TestAlertsAndTheirEntries(t *testing.T) {
	told := entries(t)
	for _, r := range rules(t) {
		body, ok := told[r.Alert]
		if !ok {
			t.Errorf("%s has no entry in %s", r.Alert, operationsFile)
		}
		delete(told, r.Alert)
		for _, metric := range ourMetric.FindAllString(r.Expr, -1) {
			if !strings.Contains(body, metric) && metric != "larder_build_info" {
				t.Errorf("the entry of %s does not name %s", r.Alert, metric)
			}
		}
		if want := operationsURL + "#" + anchor(r.Alert); r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url %q, want %q", r.Alert, r.Annotations["runbook_url"], want)
		}
		if s := r.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity %q", r.Alert, s)
		}
		if r.For == "" || r.Annotations["summary"] == "" || len(r.Annotations["description"]) < 100 {
			t.Errorf("%s lacks for, a summary, or a description that says what to do", r.Alert)
		}
	}
	for name := range told {
		t.Errorf("%s tells of %s, which is no rule", operationsFile, name)
	}
}

// panels are what each panel of the dashboard that alerts lead to asks Prometheus for.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	var board struct {
		UID    string
		Panels []struct {
			ID      int
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &board); err != nil {
		t.Fatalf("%s: %v", dashboardFile, err)
	}
	all := map[string][]string{}
	for _, p := range board.Panels {
		link := fmt.Sprintf("{{ $externalLabels.grafana }}/d/%s?viewPanel=%d", board.UID, p.ID)
		for _, target := range p.Targets {
			all[link] = append(all[link], panelMetric.FindAllString(target.Expr, -1)...)
		}
	}
	return all
}

// shownAs is the figure that tells a person more than the one that an alert goes by.
var shownAs = map[string]string{"larder_stream_behind": "larder_stream_lag_seconds"}

// An alert leads to the very panel that shows its figure, of its source where it has one.
func TestAlertsLeadToTheirPanels(t *testing.T) {
	shown := panels(t)
	for _, r := range rules(t) {
		link, source, _ := strings.Cut(r.Annotations["dashboard"], "&")
		metrics, ok := shown[link]
		if !ok {
			t.Errorf("%s: %q leads to no panel of %s", r.Alert, link, dashboardFile)
			continue
		}
		if !slices.ContainsFunc(panelMetric.FindAllString(r.Expr, -1), func(metric string) bool {
			if better, ok := shownAs[metric]; ok {
				metric = better
			}
			return slices.Contains(metrics, metric)
		}) {
			t.Errorf("%s: its panel shows %q, and not what it goes by: %s", r.Alert, metrics, r.Expr)
		}
		ofSource := strings.Contains(r.Annotations["summary"], "$labels.source")
		if want := "var-source={{ $labels.source }}"; ofSource != (source == want) || !ofSource && source != "" {
			t.Errorf("%s: its link ends in %q", r.Alert, source)
		}
	}
}

func TestLinksWithinOperations(t *testing.T) {
	text := read(t, operationsFile)
	var there []string
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		there = append(there, anchor(h[1]))
	}
	links := anchored.FindAllStringSubmatch(text, -1)
	for _, l := range links {
		if !slices.Contains(there, l[1]) {
			t.Errorf("%s links to #%s, which is not there", operationsFile, l[1])
		}
	}
	if len(links) < 10 {
		t.Errorf("%d links found", len(links))
	}
}

// promtool runs what is in the file; that it has something of every alert is seen here.
func TestEveryAlertIsTested(t *testing.T) {
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert    string `yaml:"alertname"`
				Expected []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	decode(t, ruleTestsFile, &file)
	lives := map[string]string{} // the longest of each alert: quiet, fires, quiet again
	for _, test := range file.Tests {
		of := map[string]string{}
		for _, c := range test.Cases {
			state := "-"
			if len(c.Expected) > 0 {
				state = "!"
			}
			if !strings.HasSuffix(of[c.Alert], state) {
				of[c.Alert] += state
			}
		}
		for alert, life := range of {
			if len(life) > len(lives[alert]) {
				lives[alert] = life
			}
		}
	}
	for _, r := range rules(t) {
		if !strings.Contains(lives[r.Alert], "-!-") {
			t.Errorf("%s: no test in which it is quiet, fires, and ends", r.Alert)
		}
		delete(lives, r.Alert)
	}
	for alert := range lives {
		t.Errorf("%s is tested, and is no rule", alert)
	}
}

// What is not the matter is written in a rule by its names: each must be one.
func TestKindsOfHealthInRules(t *testing.T) {
	known := []string{
		status.HealthRefused, status.HealthWarehouse, status.HealthDamage, status.HealthUnserved, status.HealthHeld, status.HealthDrift,
		status.HealthQuarantine, status.HealthConfiguration, status.HealthBehind, status.HealthUnproven, status.HealthStarting,
		status.HealthBackfill, status.HealthGood, status.HealthWaiting,
	}
	found := 0
	for _, r := range rules(t) {
		for _, m := range healthSet.FindAllStringSubmatch(r.Expr, -1) {
			for kind := range strings.SplitSeq(m[1], "|") {
				if found++; !slices.Contains(known, kind) {
					t.Errorf("%s: %q is no kind of health", r.Alert, kind)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no rule looks at the kinds of health")
	}
}
