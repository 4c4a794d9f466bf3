package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
)

// exchange puts a configuration in place as an editor does: a new file, renamed.
func (h *house) exchange(content string) {
	h.t.Helper()
	h.write("larder.yaml.new", content)
	if err := os.Rename(filepath.Join(h.dir, "larder.yaml.new"), filepath.Join(h.dir, "larder.yaml")); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) hangUp() {
	h.t.Helper()
	if err := h.daemon.Signal(syscall.SIGHUP); err != nil {
		h.t.Fatal(err)
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.write("key2", h.Key(0, sandbox.RoleSales).Value)
	source := func(name, key string) string {
		return fmt.Sprintf("  - {name: %s, base_url: %q, key_file: %s}\n", name, h.url, key)
	}
	rest := local("embedded:./data") + "metrics: {detail: true}\n"
	one, two := "sources:\n"+source("bistro", "key")+rest, "sources:\n"+source("bistro", "key")+source("second", "key2")+rest
	h.write("larder.yaml", one)
	h.write("good.yaml", two) // for the commands beside it
	h.migrated()
	page := h.start()
	polling.Page(t, page+"/readyz", http.StatusOK, "ready")

	h.exchange(two)
	polling.Page(t, page+"/metrics", http.StatusOK, `larder_source_up{source="second"} 1`)
	polling.Page(t, page+"/metrics", http.StatusOK, `larder_config_reloads_total{result="success"} 1`)

	h.exchange(two + "shedule: {incremental: '@every 1m'}\n")
	polling.Page(t, page+"/metrics", http.StatusOK, "\nlarder_config_last_reload_successful 0\n")
	polling.Page(t, page+"/", http.StatusOK, "shedule: unknown key; did you mean")
	polling.Page(t, page+"/readyz", http.StatusOK, "ready")
	polling.Page(t, page+"/metrics", http.StatusOK, `larder_source_up{source="second"} 1`)
	h.want(1, "is refused, the one before stays in use: larder.yaml: line ", "status", "--config", "good.yaml")

	h.exchange(one)
	polling.Page(t, page+"/metrics", http.StatusOK, "\nlarder_config_last_reload_successful 1\n")
	h.want(0, "A daemon has been running", "status", "--config", "good.yaml")
	if r := h.run("status", "--config", "good.yaml"); strings.Contains(r.out, "refused") || strings.Contains(r.out, "second") {
		t.Errorf("after a good configuration without the second source:\n%s", r.out)
	}

	if err := os.Remove(filepath.Join(h.dir, "larder.yaml")); err != nil {
		t.Fatal(err)
	}
	h.hangUp()
	polling.Page(t, page+"/status.json", http.StatusOK, "larder.yaml: no such file")
	h.write("larder.yaml", one)
	polling.Page(t, page+"/metrics", http.StatusOK, "\nlarder_config_last_reload_successful 1\n")
	polling.Page(t, page+"/", http.StatusOK, "bistro")

	h.write("key2", "") // a source whose key cannot be read is no source
	h.exchange(two)
	polling.Page(t, page+"/status.json", http.StatusOK, "source second: ")
	h.write("key2", h.Key(0, sandbox.RoleSales).Value)
	h.hangUp() // the same file: a person says that it is right now
	polling.Page(t, page+"/metrics", http.StatusOK, `larder_source_up{source="second"} 1`)
	for _, path := range []string{"/", "/status.json", "/metrics"} {
		code, body := polling.Fetch(t, page+path)
		for _, k := range h.Keys() {
			if code != http.StatusOK || strings.Contains(body, k.Value) {
				t.Errorf("GET %s = %d, or it shows a key", path, code)
			}
		}
	}
}
