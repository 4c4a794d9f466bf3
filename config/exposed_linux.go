package config

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// mountedSecret reports whether an orchestrator has mounted a file. path is as configured,
// real where its links lead.
func mountedSecret(path, real string) bool {
	var fs unix.Statfs_t
	if err := unix.Statfs(real, &fs); err != nil {
		return false
	}
	inMemory := fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC
	return mounted(path, inMemory, fs.Flags&unix.ST_RDONLY != 0, inContainer())
}

// mounted recognises a secret by where and how it is mounted: in memory and not to
// be written; or at the place that is meant for secrets, and not to be written or within
// a container. On a machine with other users, neither place keeps a secret by itself.
func mounted(path string, inMemory, readOnly, container bool) bool {
	place := strings.HasPrefix(path, "/run/secrets/") || strings.HasPrefix(path, "/var/run/secrets/")
	return inMemory && readOnly || place && (readOnly || container)
}

// inContainer reports whether Docker, Podman or Kubernetes runs this process.
func inContainer() bool {
	if os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return true
	}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}

func ownerOf(info os.FileInfo) (int, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
