package config

import "testing"

// What Kubernetes, Docker and Podman mount is readable for all users of a container.
func TestMountedSecrets(t *testing.T) {
	for _, c := range []struct {
		what                          string
		path                          string
		inMemory, readOnly, container bool
		want                          bool
	}{
		{"a secret volume of Kubernetes", "/etc/larder/keys/bistro", true, true, true, true},
		{"a secret of a Docker swarm", "/run/secrets/bistro", true, true, true, true},
		{"a secret of Docker compose: a bind mount", "/run/secrets/bistro", false, true, true, true},
		{"a secret of Podman", "/run/secrets/bistro", false, false, true, true},
		{"a read-only memory disk of systemd", "/run/credentials/larder.service/bistro", true, true, false, true},
		{"a key in /run of a machine with users", "/run/larder/bistro", true, false, false, false},
		{"a key in /run/secrets of one", "/run/secrets/bistro", true, false, false, false},
		{"a key in the memory disk of a container", "/tmp/bistro", true, false, true, false},
		{"a key on a disk", "/etc/larder/bistro", false, false, false, false},
		{"a key in an image", "/etc/larder/bistro", false, false, true, false},
		{"a key on a read-only disk", "/etc/larder/bistro", false, true, false, false},
	} {
		if got := mounted(c.path, c.inMemory, c.readOnly, c.container); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
