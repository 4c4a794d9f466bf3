package app

import (
	"context"
	"errors"
	"io"

	"github.com/larder-sync/larder/sinks/clickhouse"
)

// TableFormat is the format of a table for people.
const TableFormat = clickhouse.DefaultFormat

// Query runs a reading query on the warehouse and writes its answer in one of
// ClickHouse's formats.
func (a *App) Query(ctx context.Context, sql, format string, out io.Writer) (err error) {
	if err := a.existing(); err != nil {
		return err
	}
	l := &lifecycle{log: a.log}
	defer func() { err = errors.Join(err, l.close()) }()
	w, err := a.anyEngine(ctx, l)
	if err != nil {
		return err
	}
	sink, err := a.openSink(ctx, l, w, nil)
	if err != nil {
		return err
	}
	return a.unreachable(sink.Query(ctx, sql, format, out))
}

// MigrationText writes the statements that Migrate would run.
func (a *App) MigrationText(out io.Writer) error {
	return clickhouse.PrintMigrations(out, a.cfg.Warehouse.Database, a.cfg.Warehouse.Cluster)
}
