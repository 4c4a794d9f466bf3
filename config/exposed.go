package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Exposed is a file with a secret that every user of this machine can read.
type Exposed struct {
	Key  string // of the configuration
	Path string
	Mend string // the command that mends it
}

func (e Exposed) String() string {
	return fmt.Sprintf("%s: every user of this machine can read the secret in %s", e.Key, e.Path)
}

// readableByAll and searchableByAll are the permissions of everyone else.
const (
	readableByAll   fs.FileMode = 0o004
	searchableByAll fs.FileMode = 0o001
)

// Exposed returns the files with secrets that every user of this machine can read, the configuration
// itself among them when it contains one. A file that is only readable for a group is not one of
// them: it was given to the group on purpose. Nor is what an orchestrator mounts (Kubernetes, Docker,
// Podman): those are readable for all users of a container, which has no others, and cannot be
// changed from within.
func (c *Config) Exposed() (all []Exposed) {
	add := func(key, path string) {
		if path != "" && exposed(path) {
			all = append(all, Exposed{key, path, mend(path)})
		}
	}
	if c.secretInside {
		add("configuration", c.File)
	}
	files := func(of string, settings []setting) {
		for _, s := range settings {
			if s.key == "warehouse.personal_data_key_file" { // which has a default place
				add(s.key, c.Warehouse.PersonalKeyFile())
			} else if s.kind == "file" {
				add(of+s.key, s.value.String())
			}
		}
	}
	files("", c.settings())
	for i := range c.Sources {
		files("source "+c.Sources[i].Name+": ", c.Sources[i].settings())
	}
	return all
}

// exposed reports whether everyone can read a file: its own permissions say so, and no
// folder above it keeps them away. What cannot be looked at is not exposed, as far as
// anyone knows here.
func exposed(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return false
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode()&readableByAll == 0 || mounted(path, readOnly(real)) {
		return false
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&searchableByAll == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// readOnly reports whether a file is on a mount that is read-only. Asking whether it may be written is
// not enough: for a file that the permissions keep from this user, the answer does not name the mount.
func readOnly(path string) bool {
	const flag = 1 // ST_RDONLY of Linux, MNT_RDONLY of macOS
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&flag != 0
}

// mounted recognises a secret of an orchestrator: by the place that is meant for them, or by a mount
// that is read-only.
func mounted(path string, readOnly bool) bool {
	return strings.HasPrefix(path, "/run/secrets/") || strings.HasPrefix(path, "/var/run/secrets/") || readOnly
}

// mend is the command that leaves a file readable for this process alone.
func mend(path string) string {
	quoted, own := shellQuoted(path), os.Geteuid()
	var file unix.Stat_t
	if err := unix.Stat(path, &file); err == nil && own != 0 && int(file.Uid) != own {
		return fmt.Sprintf("sudo chown %d %s && sudo chmod 600 %s", own, quoted, quoted)
	}
	return "chmod 600 " + quoted
}

// shellQuoted is a path as a shell takes it.
func shellQuoted(path string) string {
	plain := strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@:,") == ""
	if plain && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
