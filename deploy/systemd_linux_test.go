//go:build systemd

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The unit, as systemd reads it, and what its own judgement of it is: 1.5 of 10 at most
// (it was 1.1 with systemd 252). That Larder runs under it is not tried here.
// `make test` has the tool; .ci/systemd says how to get it.
func TestSystemdUnit(t *testing.T) {
	unit := read(t, "systemd/larder.service")
	self, err := os.Executable() // stands for the binary, which is not installed
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(unit, "ExecStart=/usr/local/bin/larder run") {
		t.Fatal("the unit starts something else")
	}
	file := filepath.Join(t.TempDir(), "larder.service")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(unit, "/usr/local/bin/larder", self)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--man=no", file},
		{"security", "--offline=true", "--threshold=15", "--no-pager", file},
	} {
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %v: %v (.ci/systemd fetches a tool that is missing)\n%s", args, err, out)
		}
	}
}

// The backup's service and timer, as systemd reads them.
func TestSystemdBackup(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	service := strings.ReplaceAll(read(t, "systemd/larder-backup.service"), "/usr/local/bin/larder", self)
	for name, text := range map[string]string{"larder-backup.service": service, "larder-backup.timer": read(t, "systemd/larder-backup.timer")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", filepath.Join(dir, "larder-backup.timer"), filepath.Join(dir, "larder-backup.service")).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
