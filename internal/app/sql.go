package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
)

// Query runs a reading query on the warehouse and writes its answer in one of
// ClickHouse's formats.
func (a *App) Query(ctx context.Context, sql, format string, out io.Writer) error {
	if err := a.existing(ctx); err != nil {
		return err
	}
	return a.withWarehouse(ctx, func(o opened) error {
		err := o.sink.Query(ctx, sql, format, out)
		if err != nil && ctx.Err() != nil { // the engine may have its own words for a query that was stopped
			return context.Cause(ctx)
		}
		refused, ok := errors.AsType[*connection.StatementError](err)
		switch {
		case !ok:
			return a.Unreachable(err)
		case refused.ReadOnly():
			return fmt.Errorf("larder sql only reads; larder sync fills the tables, larder migrate changes them, "+
				"and tables of your own belong on a ClickHouse server, with its own client. ClickHouse says: %w", err)
		case refused.UnknownTable() && errors.Is(o.sink.CheckSchema(ctx), clickhouse.ErrEmpty):
			return lifecycle.WarehouseError(fmt.Errorf("%s: %w", a.Config.Warehouse.DSN, clickhouse.ErrEmpty))
		case (refused.UnknownTable() || refused.UnknownColumn()) && errors.Is(o.sink.CheckViews(ctx), clickhouse.ErrOtherViews):
			return lifecycle.WarehouseError(fmt.Errorf("%w; %w", err, clickhouse.ErrOtherViews))
		case refused.UnknownTable():
			return fmt.Errorf("%w; larder sql 'SHOW TABLES' lists what there is", err)
		}
		return err
	})
}

// opened is a warehouse that is open.
type opened struct {
	life  *lifecycle.Cleanups // ends it
	route *warehouse.Route
	sink  *clickhouse.Sink
}

// withWarehouse has f use the warehouse.
func (a *App) withWarehouse(ctx context.Context, f func(opened) error) (err error) {
	l := &lifecycle.Cleanups{Log: a.Log}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := a.folderReplaced(ctx); err != nil {
		return err
	}
	w, err := a.Reach(ctx, l)
	if err != nil {
		return err
	}
	sink, err := a.OpenSink(ctx, l, w, nil)
	if err != nil {
		return err
	}
	return f(opened{l, w, sink})
}

// Migrate brings the warehouse's schema up to date.
func (a *App) Migrate(ctx context.Context) error {
	return a.withWarehouse(ctx, func(o opened) error {
		return a.Retry(ctx, o.sink.Migrate, warehouse.ReachWait, a.LogDown)
	})
}
