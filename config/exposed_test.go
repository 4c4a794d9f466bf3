package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestExposedSecrets(t *testing.T) {
	dir := t.TempDir()
	for at := dir; at != filepath.Dir(at) && at != os.TempDir(); at = filepath.Dir(at) { // as a folder that others may enter
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := func(name string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open, link := secret("it's open", 0o644), filepath.Join(dir, "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	locked := secret("locked/key", 0o644)
	if err := os.Chmod(filepath.Dir(locked), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &Config{
		File:      secret("larder.yaml", 0o644), // without a secret in it
		Warehouse: Warehouse{PasswordFile: secret("warehouse", 0o604)},
		Web:       Web{PasswordFile: secret("web", 0o640)}, // given to a group
		Sources: []Source{
			{Name: "bistro", KeyFile: secret("bistro", 0o600), NextKeyFile: open, Webhook: Webhook{SecretFile: link}},
			{Name: "bar", KeyFile: locked, NextKeyFile: filepath.Join(dir, "not there yet")},
		},
	}
	keys := func() (all []string) {
		for _, e := range c.Exposed() {
			all = append(all, e.Key)
		}
		return all
	}
	if got, want := keys(), []string{"warehouse.password_file", "source bistro: next_key_file", "source bistro: webhook.secret_file"}; !slices.Equal(got, want) {
		t.Errorf("exposed are %q, want %q", got, want)
	}
	for _, e := range c.Exposed() {
		if !strings.Contains(e.String(), e.Path) || !strings.HasPrefix(e.Mend, "chmod 600 ") {
			t.Errorf("%s: %s", e, e.Mend)
		}
	}
	if got, want := c.Exposed()[1].Mend, "chmod 600 '"+strings.ReplaceAll(open, "'", `'\''`)+"'"; got != want {
		t.Errorf("mended by %s, want %s", got, want)
	}
	c.secretInside = true
	if !slices.Contains(keys(), "configuration") {
		t.Errorf("a configuration with a key in it is not exposed: %q", keys())
	}
}

func TestAKeyInTheFileMakesItASecret(t *testing.T) {
	if c := load(t, minimal); c.secretInside {
		t.Error("there is none in it")
	}
	if c := load(t, strings.Replace(minimal, "key_env:", "key:", 1)); !c.secretInside {
		t.Error("a key stands in it")
	}
	if c := load(t, minimal+"warehouse: {dsn: 'https://larder:hunter2@h:8443/mirror'}\n"); !c.secretInside {
		t.Error("a password stands in it")
	}
}

// What Kubernetes, Docker and Podman mount is readable for all users of a container.
func TestMountedSecrets(t *testing.T) {
	for _, c := range []struct {
		what, path string
		readOnly   bool
		want       bool
	}{
		{"a secret volume of Kubernetes", "/etc/larder/keys/bistro", true, true},
		{"a secret of Docker compose: a bind mount", "/run/secrets/bistro", true, true},
		{"a secret of Podman", "/run/secrets/bistro", false, true},
		{"a read-only memory disk of systemd", "/run/credentials/larder.service/bistro", true, true},
		{"a key in /run of a machine with users", "/run/larder/bistro", false, false},
		{"a key on a disk", "/etc/larder/bistro", false, false},
	} {
		if got := mounted(c.path, c.readOnly); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
