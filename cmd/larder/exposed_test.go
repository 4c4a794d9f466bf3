package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/test/polling"
)

// A key that every user of the machine can read is told of, with what mends it.
func TestExposedKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(local("embedded:./data"))
	h.migrated()
	if r := h.want(0, "configuration: larder.yaml, 1 source", "check", "--set", "web.listen="); strings.Contains(r.out, "unwise") {
		t.Errorf("a key of one's own is unwise:\n%s", r.out)
	}
	key := filepath.Join(h.dir, "key")
	for path, mode := range map[string]os.FileMode{key: 0o644, h.dir: 0o755, filepath.Dir(h.dir): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	h.want(0, "! configuration, but unwise: source bistro: key_file: every user of this machine can read the secret in "+key+"\n  → chmod 600 "+key+"\n", "check", "--set", "web.listen=")
	if r := h.want(0, "", "sync", "--stream", "allergens"); strings.Contains(r.errors, "chmod") {
		t.Errorf("every command tells it:\n%s", r.errors)
	}
	polling.Page(t, h.start()+"/readyz", http.StatusOK, "ready")
	if log := h.log.String(); !strings.Contains(log, `level=WARN msg="configuration: source bistro: key_file: every user`) || !strings.Contains(log, `next="chmod 600 `+key+`"`) {
		t.Errorf("larder run does not tell it:\n%s", log)
	}
}
