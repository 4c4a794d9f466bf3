//go:build promtool

package dashboards

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromtool lets Prometheus' own tool parse every expression, as a rule. `make test` has
// it; .ci/promtool says how to get it.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if tool, err = filepath.Abs("../.cache/promtool"); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name string, expressions []string) (string, error) {
		t.Helper()
		var rules strings.Builder
		rules.WriteString("groups:\n  - name: dashboards\n    rules:\n")
		for i, expr := range expressions {
			expr = strings.NewReplacer("$__rate_interval", "5m", "$source", ".*").Replace(expr)
			fmt.Fprintf(&rules, "      - {record: panel:%d, expr: '%s'}\n", i, strings.ReplaceAll(expr, "'", "''"))
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), tool, "check", "rules", file).CombinedOutput()
		return string(out), err
	}
	var m Model
	if err := json.Unmarshal(file(t, "ro", "larder"), &m); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range m.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	if out, err := check("good.yaml", all); err != nil || len(all) < 20 {
		t.Errorf("%d expressions: %v (.ci/promtool fetches a tool that is missing)\n%s", len(all), err, out)
	}
	if out, err := check("bad.yaml", []string{"sum by (code (rate(larder_api_requests_total[5m]))"}); err == nil {
		t.Errorf("a mistake was not found: %s", out)
	}
}

// Processes that share their sources' series each have the oldest of their own: the panel has the oldest of all.
func TestTheOldestOfAllProcessesIsShown(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if tool, err = filepath.Abs("../.cache/promtool"); err != nil {
			t.Fatal(err)
		}
	}
	var tests strings.Builder
	for _, p := range program.panels {
		for _, of := range p.promql {
			name := map[string]string{"proof_age": "proven_until", "resync_age": "full_resync"}[of.legend]
			if name == "" {
				continue
			}
			fmt.Fprintf(&tests, "  - input_series:\n")
			for instance, age := range map[string]string{"a": "-1123200", "b": "-86400"} {
				fmt.Fprintf(&tests, "      - {series: 'larder_%s_timestamp_seconds{instance=\"%s\"}', values: '%s'}\n", name, instance, age)
			}
			fmt.Fprintf(&tests, "    promql_expr_test:\n      - {expr: '%s', eval_time: 0m, exp_samples: [{value: 13}]}\n", strings.ReplaceAll(of.expr, "$source", ".*"))
		}
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte("tests:\n"+tests.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), tool, "test", "rules", file).CombinedOutput(); err != nil || tests.Len() == 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
