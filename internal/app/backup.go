package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/backup"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
)

// BackupProgress is how far a backup or a restore is; Of is 0 when it is not known.
type BackupProgress struct {
	Doing    string
	Done, Of uint64 // bytes, or files of a restore
}

var errRemoteBackup = errors.New("a backup of a remote warehouse is its server's own affair (BACKUP DATABASE … TO Disk(…), clickhouse-backup, or the provider's backups): " +
	"larder backup and larder restore are for the embedded one; docs/operations.md says how")

// Backup writes a backup of the embedded warehouse into a new folder, on top of base if it
// is not empty, beside a daemon or without one.
func (a *App) Backup(ctx context.Context, dir, base string, progress func(BackupProgress)) (m backup.Manifest, err error) {
	dsn := a.Config.Warehouse.DSN
	if !dsn.Embedded() {
		return m, lifecycle.UsageError(errRemoteBackup)
	}
	if dir, err = backup.Place(dir, dsn.Dir()); err != nil {
		return m, lifecycle.UsageError(err)
	}
	if m, err = (backup.Manifest{Larder: a.version, Database: a.Config.Warehouse.Database}).On(base); err != nil {
		return m, lifecycle.UsageError(err)
	}
	if err := a.existing(ctx); err != nil {
		return m, err
	}
	if engine.Foreign(dsn.Dir()) != nil {
		return m, lifecycle.WarehouseError(fmt.Errorf("the data folder %s is another user's, whose engine could not write a backup into a folder of root's: "+
			"run larder backup as that user, or have its service do it (systemctl start larder-backup)", dsn.Dir()))
	}
	err = a.withWarehouse(ctx, func(o opened) (err error) {
		if err := o.sink.CheckSchema(ctx); err != nil {
			return a.Unreachable(err)
		}
		m, err = a.backUp(ctx, o.sink, dir, m, progress)
		return err
	})
	return m, a.Unreachable(err)
}

// backUp has the engine write below its data folder, to which it may be confined, and moves
// the result from there.
func (a *App) backUp(ctx context.Context, sink *clickhouse.Sink, dir string, m backup.Manifest, progress func(BackupProgress)) (_ backup.Manifest, err error) {
	switch running, err := sink.BackupRuns(ctx); {
	case err != nil:
		return m, err
	case running:
		return m, errors.New("the engine is still writing an earlier backup, whose command was ended: wait a little, and run it again")
	}
	work, unlock, err := backup.Work(a.Config.Warehouse.DSN.Dir(), a.Log)
	if err != nil {
		return m, err
	}
	defer unlock()
	if err := backup.RemoveUnfinished(backup.Unfinished(dir), a.Log); err != nil {
		return m, err
	}
	remove := func() error { return errors.Join(os.RemoveAll(work), os.RemoveAll(backup.Unfinished(dir))) }
	defer func() { err = errors.Join(err, remove()) }()
	if err := os.Mkdir(backup.Unfinished(dir), 0o700); err != nil { // a place that cannot be written
		return m, fmt.Errorf("back up to %s: %w", dir, err)
	} else if err := os.Remove(backup.Unfinished(dir)); err != nil {
		return m, err
	}
	to := clickhouse.BackupFolders{Claims: filepath.Join(work, "checkpoints"), Rows: filepath.Join(work, "rows")}
	if m.Base != "" {
		staged, err := backup.Stage(m.Base, work)
		if err != nil {
			return m, lifecycle.UsageError(err)
		}
		to.Base = staged.Rows
	}
	atMost := uint64(0)
	if m.Rows, atMost, err = sink.Stored(ctx); err != nil {
		return m, err
	}
	if m.Base != "" { // which lacks also the merges that were under way when it was made
		atMost = min(atMost, backup.SizeSince(filepath.Join(a.Config.Warehouse.DSN.Dir(), "store"), m.BaseMadeAt.Add(-time.Hour)))
	}
	if err := cmp.Or(backup.NeedFree(work, atMost+backup.LeftFree), backup.NeedFree(filepath.Dir(dir), atMost)); err != nil {
		return m, fmt.Errorf("back up to %s: %w", dir, err)
	}
	m.MadeAt = time.Now().UTC()
	if m, err = write(ctx, sink, to, m, dir, atMost, progress); err != nil {
		err = fmt.Errorf("back up to %s: %w", dir, a.Unreachable(err))
		if remove() == nil {
			err = fmt.Errorf("%w; what was written of the backup was removed: start it again", err)
		}
	}
	return m, err
}

// write has the engine write a backup of at most so many bytes, and moves it to its place.
func write(ctx context.Context, sink *clickhouse.Sink, to clickhouse.BackupFolders, m backup.Manifest, dir string, atMost uint64, progress func(BackupProgress)) (backup.Manifest, error) {
	stop := twiceASecond(ctx, func() { progress(BackupProgress{"backup", uint64(backup.Size(to.Rows)), atMost}) })
	err := sink.Backup(ctx, to)
	stop()
	if err != nil {
		return m, err
	}
	total := uint64(backup.Size(to.Claims) + backup.Size(to.Rows))
	stop = twiceASecond(ctx, func() { progress(BackupProgress{"copy", uint64(backup.Size(backup.Unfinished(dir))), total}) })
	defer stop()
	return backup.Publish(ctx, to, m, dir)
}

// twiceASecond calls f until the returned function is called.
func twiceASecond(ctx context.Context, f func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lifecycle.Pause(ctx, 500*time.Millisecond) {
			f()
		}
	}()
	return func() { cancel(); <-done }
}

// Restore makes the data folder from a backup. There must be none, or an empty one.
func (a *App) Restore(ctx context.Context, dir string, progress func(BackupProgress)) (m backup.Manifest, err error) {
	dsn := a.Config.Warehouse.DSN
	if !dsn.Embedded() {
		return m, lifecycle.UsageError(errRemoteBackup)
	}
	if m, err = backup.Read(dir); err != nil {
		return m, lifecycle.UsageError(err)
	}
	if m.Database != a.Config.Warehouse.Database {
		return m, lifecycle.UsageError(fmt.Errorf("the backup %s is of the database %q: set warehouse.database to that", dir, m.Database))
	}
	data, err := filepath.Abs(dsn.Dir())
	if err != nil {
		return m, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return m, engine.Unwritable(data, err)
	}
	if data, err = filepath.EvalSymlinks(data); err != nil { // as the engine names what it may read
		return m, engine.Unwritable(data, err)
	}
	unlock, err := backup.Lock(data)
	if errors.Is(err, backup.ErrLocked) {
		return m, lifecycle.WarehouseError(fmt.Errorf("another larder restore to %s is running: wait until it has ended", data))
	} else if err != nil {
		return m, lifecycle.WarehouseError(engine.Unwritable(data, err))
	}
	defer unlock()
	hidden := filepath.Join(data, warehouse.RestoringFolder)
	if err := emptyFolder(data, hidden, a.Log); err != nil {
		return m, err
	}
	if err := a.restoreInto(ctx, hidden, dir, progress); err != nil {
		return m, errors.Join(fmt.Errorf("restore %s: %w", dir, err), os.RemoveAll(hidden))
	}
	return m, backup.Lift(hidden)
}

// emptyFolder refuses a data folder with something in it.
func emptyFolder(data, hidden string, log *slog.Logger) error {
	entries, err := os.ReadDir(data)
	if err != nil {
		return engine.Unwritable(data, err)
	}
	began := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == warehouse.RestoringFolder })
	switch {
	case began && len(entries) > 1:
		return lifecycle.UsageError(fmt.Errorf("an earlier restore to the data folder %s did not finish: empty it, and run larder restore again", data))
	case began:
		return backup.RemoveUnfinished(hidden, log)
	case len(entries) > 0:
		return lifecycle.UsageError(fmt.Errorf("the data folder %s is not empty, and larder restore overwrites nothing: stop the daemon, move the folder away, and run it again", data))
	}
	return nil
}

// restoreInto fills a new folder by an engine that also reads the backup: it is not confined to
// the folder.
func (a *App) restoreInto(ctx context.Context, hidden, dir string, progress func(BackupProgress)) (err error) {
	there := *a
	there.Unconfined = true
	cfg := *a.Config
	if cfg.Warehouse.DSN, err = config.ParseDSN("embedded:" + hidden); err != nil {
		return err
	}
	there.Config = &cfg
	work := filepath.Join(hidden, engine.BackupFolder)
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	from, err := backup.Stage(dir, work)
	if err != nil {
		return lifecycle.UsageError(err)
	}
	err = there.withWarehouse(ctx, func(o opened) error {
		if err := o.sink.Restore(ctx, from, func(n, of uint64) { progress(BackupProgress{"restore", n, of}) }); err != nil {
			return err
		}
		return there.Retry(ctx, o.sink.Migrate, warehouse.ReachWait, there.LogDown)
	})
	return errors.Join(err, os.RemoveAll(work))
}
