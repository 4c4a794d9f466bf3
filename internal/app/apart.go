package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/syncer"
)

// apartError says that a daemon runs for this warehouse whose data folder is not the one
// that is at its place now: it was removed or replaced. A command that opened the folder
// would be a second engine, beside rows that nobody sees.
type apartError struct {
	dir    string
	status syncer.Status // the daemon's own
}

func (e *apartError) Error() string {
	return fmt.Sprintf("a daemon is running for %s, and the folder that is there now is not the one that it has open: it was removed or replaced; "+
		"stop the daemon, put the folder back (or a backup of it), and start it again", e.dir)
}

// apart is an *apartError when the daemon of this configuration, asked at its status page,
// runs for the data folder without holding what is there.
func (a *App) apart(ctx context.Context) error {
	if a.cfg.Web.Listen == "" {
		return nil
	}
	s, err := a.askPage(ctx)
	if err != nil {
		return nil //nolint:nilerr // no daemon, or another's
	}
	return &WarehouseError{&apartError{a.cfg.Warehouse.DSN.Dir(), s}}
}

// sameFolder tells whether a DSN as it is shown names this configuration's data folder.
func (a *App) sameFolder(shown string) bool {
	dsn, err := config.ParseDSN(shown)
	if shown == "" || err != nil || !dsn.Embedded() {
		return false
	}
	return absolute(dsn.Dir()) == absolute(a.cfg.Warehouse.DSN.Dir())
}

func absolute(dir string) string {
	full, err := filepath.Abs(strings.TrimSpace(dir))
	if err != nil {
		return dir
	}
	return full
}
