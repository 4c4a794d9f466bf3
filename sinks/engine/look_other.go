//go:build !linux

package engine

import (
	"os"
	"syscall"
)

func showLock(*os.File) {}

// isLocked reports whether a file is locked. Without Linux's locks that can be looked at it
// takes a shared lock for a moment.
func isLocked(file *os.File) bool {
	if syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		return true
	}
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) // closing the file ends it as well
	return false
}
