package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/larder-sync/larder/sinks/engine/exception"
)

// ErrFolderLost is what errors.Is finds once the data folder was removed or replaced
// under the engine that has it open.
var ErrFolderLost = errors.New("the data folder was removed or replaced")

// Folder is a data folder that was opened. It finds out whether that is still the one at its
// path. The engine does not: it writes on, by name or into files that nobody will find again,
// and acknowledges.
type Folder struct {
	path string
	lock *os.File // of the folder, open: so nothing else gets its inode
	info os.FileInfo

	mu   sync.Mutex
	lost error
}

func newFolder(path string, lock *os.File) (*Folder, error) {
	info, err := lock.Stat()
	if err != nil {
		return nil, Unwritable(path, err)
	}
	return &Folder{path: path, lock: lock, info: info}, nil
}

// WatchFolder watches a data folder that an engine has opened.
func WatchFolder(path string) (*Folder, error) {
	lock, err := os.Open(filepath.Join(path, LockName))
	if err != nil {
		return nil, err
	}
	f, err := newFolder(path, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

// Close ends the watching.
func (f *Folder) Close() error { return f.lock.Close() }

// Check compares the folder that was opened with the one at its path, by their locks. Once
// lost, a folder stays lost, though it be put back: what was written meanwhile is not in it.
// first is true for who finds out.
func (f *Folder) Check() (err error, first bool) { //nolint:revive // the error is the answer
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost != nil {
		return f.lost, false
	}
	at, err := os.Stat(filepath.Join(f.path, LockName))
	if err == nil && os.SameFile(at, f.info) {
		return nil, false
	}
	f.lost = fmt.Errorf("%w under this process: %s; no rows are taken any more, and none that were acknowledged before are in another folder there. "+
		"Stop this process, put the folder back (or a backup of it), and start again; with no folder there, everything is fetched anew", ErrFolderLost, f.path)
	return f.lost, true
}

// Health is nil while the engine can keep what it acknowledges: while the data folder is
// the one that was opened. Else it says what is wrong and what to do.
func (e *Engine) Health() error {
	if e.folder == nil {
		return nil // a mirror keeps nothing
	}
	err, first := e.folder.Check()
	if first {
		e.log.Error("embedded engine: " + err.Error())
	}
	return err
}

// codeFolderLost is ClickHouse's for a table that cannot be written by anyone.
const codeFolderLost = 242

// Admit is Health for a statement: it refuses in the engine's form.
func (e *Engine) Admit() error {
	if err := e.Health(); err != nil {
		return exception.Refuse(codeFolderLost, "TABLE_IS_READ_ONLY", "Not taken: %v", err)
	}
	return nil
}
