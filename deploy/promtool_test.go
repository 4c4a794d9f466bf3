//go:build promtool

package deploy

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPromtool lets Prometheus' own tool read the files and run the rules' tests.
// `make test` has it; .ci/promtool says how to get it.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if tool, err = filepath.Abs("../.cache/promtool"); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"check", "config", "--syntax-only", "prometheus.yaml"},
		{"check", "rules", "--lint=all", "--lint-fatal", filepath.Base(rulesFile)},
		{"test", "rules", filepath.Base(ruleTestsFile)},
	} {
		c := exec.CommandContext(t.Context(), tool, args...)
		c.Dir = filepath.Dir(rulesFile)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %v (.ci/promtool fetches a tool that is missing)\n%s", c.Args, err, out)
		}
	}
}
