package warehouse

import (
	"context"
	"fmt"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/syncer/status"
)

// FolderReplacedError means that the data folder of a running daemon was removed or replaced. A command
// that opened the folder at its path now would start a second engine, beside rows that nobody sees.
type FolderReplacedError struct {
	dir    string
	Status status.Status // the daemon's own
}

func (e *FolderReplacedError) Error() string {
	return fmt.Sprintf("a daemon is running for %s, and the folder that is there now is not the one that it has open: it was removed or replaced; "+
		"stop the daemon, put the folder back (or a backup of it), and start it again", e.dir)
}

// FolderReplaced returns a *FolderReplacedError when no engine has the data folder open, and the
// status page of this configuration is served by a daemon that has lost it.
func (a *Opener) FolderReplaced(ctx context.Context) error {
	if a.Config.Web.Listen == "" || a.Listens(ctx) {
		return nil
	}
	s, err := a.pageStatus(ctx)
	if err != nil {
		return nil //nolint:nilerr // no page of such a daemon
	}
	return exit.WarehouseError(&FolderReplacedError{a.Config.Warehouse.DSN.Dir(), s})
}
