//go:build systemd

package deploy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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

// The unit's command removes old backups and what killed ones have left, in a folder that is a link, as
// systemd makes it for a user of its own, and nothing else.
func TestSystemdRemovesOldBackups(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "larder-backup")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for name, days := range map[string]int{
		"2026-01-01T021500": 16, "2026-01-02T021500": 14, "2026-01-16T021500": 0, "mine": 400,
		".2026-01-10T021500.unfinished": 2, ".2026-01-16T021501.unfinished": 0,
	} {
		path, at := filepath.Join(real, name), time.Now().AddDate(0, 0, -days)
		if err := errors.Join(os.MkdirAll(filepath.Join(path, "rows"), 0o700), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	_, command, found := strings.Cut(read(t, "systemd/larder-backup.service"), "\nExecStartPost=")
	command, _, _ = strings.Cut(command, "\n")
	if !found {
		t.Fatalf("the unit removes nothing: %q", command)
	}
	args := strings.Fields(strings.NewReplacer("/var/lib/larder-backup", link, "${KEEP_DAYS}", "14", `"`, "").Replace(command))
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	left, err := os.ReadDir(real)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if want := []string{".2026-01-16T021501.unfinished", "2026-01-02T021500", "2026-01-16T021500", "mine"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("left: %q, want %q; %v", names, want, err)
	}
}
