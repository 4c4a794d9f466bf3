package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// claimTables state what other tables contain. They are in the first part of a backup, and
// the rows in the second, so that a checkpoint may be older than the rows, and never newer.
var claimTables = []string{"checkpoints", "proofs"}

// processTables contain which processes run now: after a restore none of them does.
var processTables = []string{"processes", "claims"}

// BackupFolders are where the engine writes or reads the two parts of a backup; Base is the
// second part of an earlier backup, or empty.
type BackupFolders struct{ Claims, Rows, Base string }

// Backup has the engine write the storage tables into folders that do not exist yet.
func (s *Sink) Backup(ctx context.Context, to BackupFolders) error {
	d := s.warehouse.Dialect
	claims := make([]string, len(claimTables))
	for i, name := range claimTables {
		claims[i] = "TABLE " + d.Table(name)
	}
	if err := s.inBackground(ctx, "BACKUP "+strings.Join(claims, ", ")+" TO "+backupFile(to.Claims), "", nil); err != nil {
		return err
	}
	settings := ""
	if to.Base != "" {
		settings = "base_backup = " + backupFile(to.Base)
	}
	except := strings.ReplaceAll(strings.Join(claims, ", "), "TABLE ", "")
	return s.inBackground(ctx, "BACKUP DATABASE "+schema.Quote(d.Raw())+" EXCEPT TABLES "+except+" TO "+backupFile(to.Rows), settings, nil)
}

// Restore has the engine read the storage tables from a backup into a warehouse without
// any. progress receives how many of the backup's files have been read.
func (s *Sink) Restore(ctx context.Context, from BackupFolders, progress func(files, of uint64)) error {
	d := s.warehouse.Dialect
	if err := s.inBackground(ctx, "RESTORE DATABASE "+schema.Quote(d.Raw())+" FROM "+backupFile(from.Rows), "", progress); err != nil {
		return err
	}
	for _, name := range claimTables {
		if err := s.inBackground(ctx, "RESTORE TABLE "+d.Table(name)+" FROM "+backupFile(from.Claims), "", nil); err != nil {
			return err
		}
	}
	for _, name := range processTables {
		if err := s.warehouse.Exec(ctx, "TRUNCATE TABLE "+d.Local(name), nil); err != nil {
			return err
		}
	}
	return nil
}

// Stored returns how many rows and bytes are in the storage tables.
func (s *Sink) Stored(ctx context.Context) (rows, bytes uint64, err error) {
	err = s.warehouse.Rows(ctx, "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = "+schema.Literal(s.warehouse.Raw()),
		func(r driver.Rows) error { return r.Scan(&rows, &bytes) })
	return rows, bytes, err
}

func backupFile(path string) string { return "File(" + schema.Literal(path) + ")" }

// BackupRuns reports whether the engine is writing a backup whose command may have gone.
func (s *Sink) BackupRuns(ctx context.Context) (runs bool, err error) {
	err = s.warehouse.Rows(ctx, "SELECT count() > 0 FROM system.backups WHERE id LIKE 'larder-%' AND status = 'CREATING_BACKUP'",
		func(r driver.Rows) error { return r.Scan(&runs) })
	return runs, err
}

// inBackground runs a BACKUP or RESTORE apart from the request that started it, which may
// take longer than a request is waited for. One that is cancelled is waited for all the same,
// so that its folder can be removed.
func (s *Sink) inBackground(ctx context.Context, sql, settings string, progress func(files, of uint64)) error {
	id := fmt.Sprintf("larder-%d", time.Now().UnixNano())
	settings = strings.TrimPrefix(settings+", id = "+schema.Literal(id), ", ")
	if err := s.warehouse.Exec(ctx, sql+" SETTINGS "+settings+" ASYNC", clickhousego.Settings{}); err != nil {
		return err
	}
	asking := context.WithoutCancel(ctx)
	for {
		status, problem, files, read := "", "", uint64(0), uint64(0)
		err := s.warehouse.Rows(asking, "SELECT toString(status), error, num_files, files_read FROM system.backups WHERE id = "+schema.Literal(id),
			func(r driver.Rows) error { return r.Scan(&status, &problem, &files, &read) })
		switch {
		case err != nil:
			return err
		case status == "BACKUP_CREATED" || status == "RESTORED":
			return context.Cause(ctx)
		case status == "":
			return errors.New("the engine was started anew meanwhile; run the command again")
		case status != "CREATING_BACKUP" && status != "RESTORING":
			return fmt.Errorf("the engine reports: %s", problem)
		}
		if progress != nil {
			progress(read, files)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
