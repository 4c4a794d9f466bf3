package engine

import (
	"os"

	"golang.org/x/sys/unix"
)

// showLock lets others see that a file is locked without taking its lock, which asking for an
// flock would do for a moment. The flock stays the lock: not every system has this kind, and it is
// no error where it is missing; the file then looks free.
func showLock(file *os.File) {
	_ = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
}

// isLocked reports whether a file is locked. It takes nothing.
func isLocked(file *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock)
	return err == nil && lock.Type != unix.F_UNLCK
}
