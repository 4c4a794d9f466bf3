package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzLoad reads any file, variable and flag: nothing panics, and what is wrong is
// told key by key, without a secret.
func FuzzLoad(f *testing.F) {
	for _, file := range []string{
		minimal, minimal + "warehouse: {dsn: 'https://u:p@h:8443/mirror', flush_interval: -1s}\n", "sources: {a: {name: x}}\n", "sources: [1, [], null, {}]\n",
		"sources:\n- &a {name: x, base_url: 'http://h/v1', key: hush}\n- *a\n", "web: [1]\nlog: 7\nshard: {index: 1e9, count: 0}\n",
		"a: {b: {c: {d: 1}}}\n? [x]\n: y\n", "sources:\n  - name: A B\n    base_url: '::'\n    webhook: {secret_file: {}}\n", "\x00", "- x", "web:\n  listen: !!binary aGk=\n",
		"schedule: {incremental: '@every -1s', reconcile: '* * *'}\n", "1: 2\ntrue: false\n? \n: x\n", "warehouse.dsn: embedded:x\n", "sources.0.name: x\n",
	} {
		f.Add(file, "LARDER_WEB__LISTEN", "127.0.0.1:1", "log.level=debug")
		f.Add(file, "LARDER_SOURCES__0__KEY", "hush", "sources.0=x")
	}
	f.Add(minimal, "LARDER_SOURCES__-1__NAME", "x", "sources.99999999999.name=x")
	f.Add(minimal, "LARDER___", "x", "=")
	f.Add(minimal, "LARDER_WEB__LISTEN__X", "x", "web=")
	f.Fuzz(func(t *testing.T, content, name, value, set string) {
		file := filepath.Join(t.TempDir(), "larder.yaml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, envPrefix) && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00") {
			t.Setenv(name, value)
		}
		c, err := Load(Request{File: file, Set: []string{set}})
		if err == nil {
			if len(c.Sources) == 0 || slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Name == "" || s.BaseURL == "" }) {
				t.Fatalf("taken without a source: %+v", c.Sources)
			}
			return
		}
		wrong, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("not told key by key: %v", err)
		}
		for _, p := range wrong.Problems {
			if p.Message == "" || p.Key == "" && p.Origin == "" && !strings.Contains(p.Message, "YAML") {
				t.Fatalf("a problem that names neither key nor place: %+v", p)
			}
		}
	})
}
