package warehouse

import (
	"context"
	"fmt"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/syncer"
)

// FolderReplacedError says that a daemon runs for this warehouse whose data folder is not the one
// that is at its place now: it was removed or replaced. A command that opened the folder
// would be a second engine, beside rows that nobody sees.
type FolderReplacedError struct {
	dir    string
	Status syncer.Status // the daemon's own
}

func (e *FolderReplacedError) Error() string {
	return fmt.Sprintf("a daemon is running for %s, and the folder that is there now is not the one that it has open: it was removed or replaced; "+
		"stop the daemon, put the folder back (or a backup of it), and start it again", e.dir)
}

// folderReplaced is an error when a process runs for the data folder without holding what is
// there. It is a *FolderReplacedError when the daemon answers at the status page of this
// configuration, else the error of the lock of the folder's place. The lock also finds a
// process whose page does not answer, or that has none. The page also finds one that the lock
// does not, such as one in another container.
func (a *Opener) folderReplaced(ctx context.Context) error {
	dir := a.Config.Warehouse.DSN.Dir()
	if a.Config.Web.Listen != "" {
		if s, err := a.Page().Status(ctx); err == nil {
			return &exit.WarehouseError{Err: &FolderReplacedError{dir, s}}
		}
	}
	if err := embedded.OpenElsewhere(dir); err != nil {
		return &exit.WarehouseError{Err: err}
	}
	return nil
}
