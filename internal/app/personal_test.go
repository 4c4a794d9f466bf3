package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/personal"
)

// personalApp is an app whose data folder would be in dir.
func personalApp(t *testing.T, dir, more string, log *slog.Logger) *App {
	t.Helper()
	file := filepath.Join(dir, "larder.yaml")
	text := "sources: [{name: a, base_url: https://host/v1, key_env: K, personal_data: pseudonymise}]\nwarehouse: {dsn: \"embedded:./data\"" + more + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Request{File: file})
	if err != nil {
		t.Fatal(err)
	}
	return New(cfg, log, "test")
}

func policyOf(t *testing.T, a *App) personal.Policy {
	t.Helper()
	p, err := a.reader().Policy(&a.Config.Sources[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The key is made once, for its owner alone, whoever begins at the same time, and is said in
// no log.
func TestTheKeyOfPseudonymsIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	apps := make([]*App, 8)
	for i := range apps {
		apps[i] = personalApp(t, dir, "", logger)
	}
	keys := make([]string, len(apps))
	var all sync.WaitGroup
	for i, a := range apps {
		all.Go(func() {
			p, err := a.reader().Policy(&a.Config.Sources[0])
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = p.CustomerKey("0722123456")
		})
	}
	all.Wait()
	for _, k := range keys {
		if k != keys[0] || k == "" {
			t.Errorf("pseudonyms %q and %q", k, keys[0])
		}
	}
	file := filepath.Join(dir, "data.personal-data-key")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	secret, err := os.ReadFile(file)
	if err != nil || len(bytes.TrimSpace(secret)) < 32 || strings.Contains(log.String(), strings.TrimSpace(string(secret))) {
		t.Errorf("a key of %d bytes, %v, log %s", len(secret), err, &log)
	}
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if p := policyOf(t, personalApp(t, dir, "", logger)); p.CustomerKey("0722123456") != keys[0] {
		t.Error("another start has another key")
	}
}

// A key that is configured is never made: it is wherever the warehouse is used from.
func TestAConfiguredKeyOfPseudonymsMustBeThere(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"": "no such file or directory", "short": "at least 16", " \n": "is empty"} {
		file := filepath.Join(dir, "key")
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a := personalApp(t, dir, ", personal_data_key_file: key", slog.New(slog.DiscardHandler))
		if _, err := a.reader().Policy(&a.Config.Sources[0]); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
		_ = os.Remove(file) // not there the first time
	}
}
