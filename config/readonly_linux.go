package config

import "golang.org/x/sys/unix"

// readOnly reports whether a file is on a mount that is read-only. Asking whether it may be written is
// not enough: for a file that the permissions keep from this user, the answer does not name the mount.
func readOnly(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}
