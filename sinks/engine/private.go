package engine

import (
	"errors"
	"os"
	"path/filepath"
)

// A data folder that somebody made before Larder did, or that a group may look into, is
// left as it is. What the engine keeps in it is not for everyone, whatever password stands
// before the reading interface: the engine itself leaves it readable for all.

// engineFolders are those of the engine in the data folder.
var engineFolders = []string{"data", "metadata", "store", "tmp"}

// keepPrivate takes the rights of everyone else from the engine's folders, and makes those
// that are not there yet. Not every file system has rights to take.
func (e *Engine) keepPrivate() error {
	for _, name := range engineFolders {
		path := filepath.Join(e.path, name)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return Unwritable(e.path, err)
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode()&0o007 != 0 {
			err = os.Chmod(path, info.Mode().Perm()&^0o007)
		}
		if err != nil {
			e.log.Warn("embedded engine: every user of this machine may look into the folder", "path", path, "error", err)
		}
	}
	return nil
}
