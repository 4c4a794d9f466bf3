package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ErrLocked is what errors.Is finds when another command has locked a folder.
var ErrLocked = errors.New("locked by another command")

// Lock locks a folder against other commands until unlock, or until this process ends.
func Lock(dir string) (unlock func(), err error) {
	// Left takes the lock for an instant.
	for range 10 {
		if unlock, err = lock(dir, syscall.LOCK_EX); !errors.Is(err, ErrLocked) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return unlock, err
}

func lock(dir string, how int) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = file.Close() } // nothing was written; the lock goes with it
	if err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); err == nil {
		return unlock, nil
	}
	unlock()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("lock %s: %w", dir, err)
}

// Left reports whether killed backups have left something in the folder that backups are written
// in: whether it has any content while none is under way.
func Left(dir string) (bool, error) {
	unlock, err := lock(dir, syscall.LOCK_SH)
	switch {
	case errors.Is(err, ErrLocked), errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	defer unlock()
	left, err := os.ReadDir(dir)
	return len(left) > 0, err
}
