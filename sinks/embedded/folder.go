package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// ErrFolderLost is what errors.Is finds once the data folder was removed or replaced
// under the engine that has it open.
var ErrFolderLost = errors.New("the data folder was removed or replaced")

// folder knows whether the data folder is still the one that was opened. The engine
// does not: it writes on, by name or into files that nobody will find again, and
// acknowledges.
type folder struct {
	path string
	lock os.FileInfo // of the lock that is held

	mu   sync.Mutex
	lost error
}

func newFolder(path string, lock *os.File) (*folder, error) {
	info, err := lock.Stat()
	if err != nil {
		return nil, Unwritable(path, err)
	}
	return &folder{path: path, lock: info}, nil
}

// check compares the lock that is held with the one at the folder's place. Once lost, a
// folder stays lost, though it be put back: what was written meanwhile is not in it. first
// is true for who finds out.
func (f *folder) check() (err error, first bool) { //nolint:revive // the error is the answer
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost != nil {
		return f.lost, false
	}
	at, err := os.Stat(filepath.Join(f.path, LockName))
	if err == nil && os.SameFile(at, f.lock) {
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
	err, first := e.folder.check()
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
