package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// LockName is the file in a data folder whose lock says that the folder is open.
const LockName = "larder.lock"

// ErrHeld is what errors.Is finds when another process holds the data folder.
var ErrHeld = errors.New("the data folder is held")

// HeldBy is the error of a data folder that another process holds.
func HeldBy(path string) error {
	who := "another process"
	if content, err := os.ReadFile(filepath.Join(path, LockName)); err == nil && len(content) > 1 {
		who = "process " + strings.TrimSpace(string(content))
	}
	return fmt.Errorf("%w by %s: %s: stop it, or give this one another folder", ErrHeld, who, path)
}

// Held is HeldBy when a process has the data folder open, else nil. It takes no lock.
func Held(path string) error {
	file, err := os.Open(filepath.Join(path, LockName))
	if err != nil {
		return nil //nolint:nilerr // it was never opened
	}
	locked := isLocked(file)
	_ = file.Close() // it was only read
	if !locked {
		return nil
	}
	return HeldBy(path)
}

// lockFolder takes the folder for this process. The lock is the kernel's and
// ends with the process, however it ends; the file itself stays and names the
// holder's process id.
func lockFolder(path string) (*Folder, error) {
	file, err := os.OpenFile(filepath.Join(path, LockName), os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, Unwritable(path, err)
	}
	folder, err := newFolder(path, file)
	if err == nil {
		err = takeLock(file, path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return folder, nil
}

func takeLock(file *os.File, path string) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return HeldBy(path)
		}
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	showLock(file)
	if err := file.Truncate(0); err != nil {
		return Unwritable(path, err)
	}
	if _, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return Unwritable(path, err)
	}
	return nil
}

// ErrUnwritable is what errors.Is finds when the data folder cannot be made or
// written.
var ErrUnwritable = errors.New("the data folder cannot be written")

// Unwritable is the error of a data folder that cannot be written.
func Unwritable(path string, err error) error {
	return fmt.Errorf("%w: %s: %w; make it a folder that this user can write, or name another in warehouse.dsn", ErrUnwritable, path, err)
}

// PrepareFolder creates the data folder, if it is not there, and returns its absolute path
// without links.
func PrepareFolder(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", Unwritable(path, err)
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return "", Unwritable(absolute, err)
	}
	// Two names of one folder must be one folder, also for the engine.
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = real
	}
	return absolute, nil
}

// ErrForeign is what errors.Is finds when root would open the data folder of another user.
var ErrForeign = errors.New("another user's data folder")

// Foreign says that this process is root, and another user's process opened the data folder
// before: that user could not read what root writes there.
func Foreign(path string) error { return foreign(path, os.Geteuid()) }

func foreign(path string, user int) error {
	info, err := os.Stat(filepath.Join(path, LockName))
	if err != nil || user != 0 {
		return nil //nolint:nilerr // it was never opened
	}
	owner, ok := ownerOf(info)
	if !ok || owner == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s is user %d's, who could not read what root writes there. Start Larder as that user and try again: root's commands work beside it. "+
		"Or give root the folder: chown -R root %s", ErrForeign, path, owner, path)
}
