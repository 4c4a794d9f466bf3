package backup

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/larder-sync/larder/sinks/engine"
)

// On begins the manifest of a backup on a base, which must be a finished one, or empty.
func (m Manifest) On(base string) (Manifest, error) {
	if base == "" {
		return m, nil
	}
	earlier, err := Read(base)
	if err != nil {
		return m, fmt.Errorf("--base: %w", err)
	}
	if earlier.Database != m.Database {
		return m, fmt.Errorf("--base: %s is of the database %q, and warehouse.database is %q", base, earlier.Database, m.Database)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return m, err
	}
	m.BaseMadeAt = earlier.MadeAt
	m.Base, err = filepath.Abs(base)
	return m, err
}

// Work makes a folder for the engine of a data folder to write to, and removes those of backups
// that were killed. One backup is made at a time.
func Work(data string, log *slog.Logger) (work string, unlock func(), err error) {
	if data, err = filepath.Abs(data); err == nil {
		data, err = filepath.EvalSymlinks(data)
	}
	if err != nil {
		return "", nil, err
	}
	parent := filepath.Join(data, engine.BackupFolder)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", nil, engine.Unwritable(filepath.Dir(parent), err)
	}
	if unlock, err = Lock(parent); errors.Is(err, ErrLocked) {
		return "", nil, fmt.Errorf("another larder backup of %s is running: wait until it has ended", filepath.Dir(parent))
	} else if err != nil {
		return "", nil, fmt.Errorf("%w; if another user has made %s, remove it, and run larder backup again", err, parent)
	}
	left, err := os.ReadDir(parent)
	for _, e := range left {
		log.Warn("an earlier backup did not finish; what it left is removed", "path", filepath.Join(parent, e.Name()))
		err = errors.Join(err, os.RemoveAll(filepath.Join(parent, e.Name())))
	}
	work = filepath.Join(parent, strconv.FormatInt(time.Now().UnixNano(), 36))
	if err = errors.Join(err, os.Mkdir(work, 0o700)); err != nil {
		unlock()
	}
	return work, unlock, err
}

// RemoveUnfinished removes what a killed command left in a hidden folder.
func RemoveUnfinished(hidden string, log *slog.Logger) error {
	if _, err := os.Lstat(hidden); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	log.Warn("an earlier attempt did not finish; what it left is removed", "path", hidden)
	return os.RemoveAll(hidden)
}
