package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/backup"
	"github.com/larder-sync/larder/internal/exit"
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
		return m, exit.UsageError(errRemoteBackup)
	}
	if dir, err = backup.Place(dir, dsn.Dir()); err != nil {
		return m, exit.UsageError(err)
	}
	if base, err = a.baseOf(base); err != nil {
		return m, exit.UsageError(err)
	}
	if err := a.Existing(ctx); err != nil {
		return m, err
	}
	err = a.withSink(ctx, func(sink *clickhouse.Sink) (err error) {
		if err := sink.CheckSchema(ctx); err != nil {
			return a.Unreachable(err)
		}
		m, err = a.backUp(ctx, sink, dir, base, progress)
		return err
	})
	return m, a.Unreachable(err)
}

// baseOf is the absolute path of a base, which must be a finished backup.
func (a *App) baseOf(base string) (string, error) {
	if base == "" {
		return "", nil
	}
	m, err := backup.Read(base)
	if err != nil {
		return "", fmt.Errorf("--base: %w", err)
	}
	if m.Database != a.Config.Warehouse.Database {
		return "", fmt.Errorf("--base: %s is of the database %q, and warehouse.database is %q", base, m.Database, a.Config.Warehouse.Database)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return "", err
	}
	return filepath.Abs(base)
}

// leftFree is what a backup leaves to the daemon of the data folder's disk, in bytes.
const leftFree = 256 << 20

// backUp has the engine write below its data folder, to which it may be confined, and moves
// the result from there.
func (a *App) backUp(ctx context.Context, sink *clickhouse.Sink, dir, base string, progress func(BackupProgress)) (m backup.Manifest, err error) {
	switch running, err := sink.BackupRuns(ctx); {
	case err != nil:
		return m, err
	case running:
		return m, errors.New("the engine is still writing an earlier backup, whose command was ended: wait a little, and run it again")
	}
	work, unlock, err := a.backupFolder()
	if err != nil {
		return m, err
	}
	defer unlock()
	if err := a.removeUnfinished(backup.Unfinished(dir)); err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work), os.RemoveAll(backup.Unfinished(dir))) }()
	to := clickhouse.BackupFolders{Claims: filepath.Join(work, "checkpoints"), Rows: filepath.Join(work, "rows")}
	if base != "" {
		staged, err := backup.Stage(base, work)
		if err != nil {
			return m, exit.UsageError(err)
		}
		to.Base = staged.Rows
	}
	rows, bytes, err := sink.Stored(ctx)
	if err != nil {
		return m, err
	}
	m = backup.Manifest{MadeAt: time.Now().UTC(), Larder: a.version, Database: a.Config.Warehouse.Database, Rows: rows}
	if m.Base = base; base != "" {
		earlier, err := backup.Read(base)
		if err != nil {
			return m, exit.UsageError(err)
		}
		m.BaseMadeAt = earlier.MadeAt
	}
	switch free, err := backup.Free(work); {
	case err != nil:
		return m, err
	case base == "" && free < float64(bytes)+leftFree:
		return m, fmt.Errorf("back up to %s: the disk of %s has %s free, and a backup of %s passes through it: free some space, or write only what is new with --base",
			dir, work, config.Size(int64(free)), config.Size(int64(bytes)))
	}
	if base != "" {
		bytes = 0 // how much of it the base has is not known before
	}
	stop := twiceASecond(ctx, func() { progress(BackupProgress{"backup", uint64(backup.Size(to.Rows)), bytes}) })
	err = sink.Backup(ctx, to)
	stop()
	if err != nil {
		return m, fmt.Errorf("back up to %s: %w", dir, err)
	}
	total := uint64(backup.Size(to.Claims) + backup.Size(to.Rows))
	stop = twiceASecond(ctx, func() { progress(BackupProgress{"copy", uint64(backup.Size(backup.Unfinished(dir))), total}) })
	m, err = backup.Publish(to, m, dir)
	stop()
	if err != nil {
		err = fmt.Errorf("back up to %s: %w", dir, err)
	}
	return m, err
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

// backupFolder makes a folder for the engine to write to, and removes those of backups that
// were killed. One backup is made at a time.
func (a *App) backupFolder() (work string, unlock func(), err error) {
	data, err := filepath.Abs(a.Config.Warehouse.DSN.Dir())
	if err == nil {
		data, err = filepath.EvalSymlinks(data)
	}
	if err != nil {
		return "", nil, err
	}
	parent := filepath.Join(data, engine.BackupFolder)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", nil, engine.Unwritable(data, err)
	}
	if unlock, err = alone(parent); err != nil {
		return "", nil, fmt.Errorf("another larder backup of %s is running: wait until it has ended", data)
	}
	left, err := os.ReadDir(parent)
	for _, e := range left {
		a.Log.Warn("an earlier backup did not finish; what it left is removed", "path", filepath.Join(parent, e.Name()))
		err = errors.Join(err, os.RemoveAll(filepath.Join(parent, e.Name())))
	}
	work = filepath.Join(parent, strconv.FormatInt(time.Now().UnixNano(), 36))
	if err = errors.Join(err, os.Mkdir(work, 0o700)); err != nil {
		unlock()
	}
	return work, unlock, err
}

// alone locks a folder against other commands, or is an error when one of them has it.
func alone(dir string) (unlock func(), err error) {
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = lock.Close() } // nothing was written; the lock goes with it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// removeUnfinished removes what a killed command left.
func (a *App) removeUnfinished(hidden string) error {
	if _, err := os.Lstat(hidden); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	a.Log.Warn("an earlier attempt did not finish; what it left is removed", "path", hidden)
	return os.RemoveAll(hidden)
}

// Restore makes the data folder from a backup. There must be none, or an empty one.
func (a *App) Restore(ctx context.Context, dir string, progress func(BackupProgress)) (m backup.Manifest, err error) {
	dsn := a.Config.Warehouse.DSN
	if !dsn.Embedded() {
		return m, exit.UsageError(errRemoteBackup)
	}
	if m, err = backup.Read(dir); err != nil {
		return m, exit.UsageError(err)
	}
	if m.Database != a.Config.Warehouse.Database {
		return m, exit.UsageError(fmt.Errorf("the backup %s is of the database %q: set warehouse.database to that", dir, m.Database))
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
	unlock, err := alone(data)
	if err != nil {
		return m, exit.WarehouseError(fmt.Errorf("another larder restore to %s is running: wait until it has ended", data))
	}
	defer unlock()
	hidden := filepath.Join(data, warehouse.RestoringFolder)
	if err := a.emptyFolder(data, hidden); err != nil {
		return m, err
	}
	if err := a.restoreInto(ctx, hidden, dir, progress); err != nil {
		return m, errors.Join(fmt.Errorf("restore %s: %w", dir, err), os.RemoveAll(hidden))
	}
	return m, backup.Lift(hidden)
}

// emptyFolder refuses a data folder with something in it.
func (a *App) emptyFolder(data, hidden string) error {
	entries, err := os.ReadDir(data)
	if err != nil {
		return engine.Unwritable(data, err)
	}
	began := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == warehouse.RestoringFolder })
	switch {
	case began && len(entries) > 1:
		return exit.UsageError(fmt.Errorf("an earlier restore to the data folder %s did not finish: empty it, and run larder restore again", data))
	case began:
		return a.removeUnfinished(hidden)
	case len(entries) > 0:
		return exit.UsageError(fmt.Errorf("the data folder %s is not empty, and larder restore overwrites nothing: stop the daemon, move the folder away, and run it again", data))
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
		return exit.UsageError(err)
	}
	err = there.withSink(ctx, func(sink *clickhouse.Sink) error {
		if err := sink.Restore(ctx, from, func(n, of uint64) { progress(BackupProgress{"restore", n, of}) }); err != nil {
			return err
		}
		return there.Migrated(ctx, sink, warehouse.ReachWait, there.TellDown)
	})
	return errors.Join(err, os.RemoveAll(work))
}
