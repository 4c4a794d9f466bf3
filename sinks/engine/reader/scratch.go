package reader

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// scratchIn makes a folder for the scratch folders of a supervisor, in the data folder: what a
// statement writes aside is on the disk that has room for it. It is locked as long as the
// supervisor lives. Those that are not, of processes that were killed, are removed.
func scratchIn(data string) (dir string, lock *os.File, err error) {
	all := filepath.Join(data, "readers")
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", nil, err
	}
	turn, err := locked(all, unix.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	defer turn.Close()
	left, err := os.ReadDir(all)
	if err != nil {
		return "", nil, err
	}
	for _, entry := range left {
		path := filepath.Join(all, entry.Name())
		if lock, err := locked(path, unix.LOCK_EX|unix.LOCK_NB); err == nil {
			if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
				return "", nil, err
			}
		}
	}
	if dir, err = os.MkdirTemp(all, ""); err != nil {
		return "", nil, err
	}
	lock, err = locked(dir, unix.LOCK_EX)
	return dir, lock, err
}

// locked opens a folder and locks it until it is closed.
func locked(path string, how int) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
