package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

var (
	// ErrSchemaNewer says that a newer Larder has migrated the warehouse.
	ErrSchemaNewer = errors.New("the warehouse's schema is newer than this program")
	// ErrSchemaOld says that a Larder from before the first release made the warehouse,
	// whose schema is not carried over.
	ErrSchemaOld = errors.New("the warehouse was made by a version of Larder from before its first release, whose tables are not carried over")
	// ErrNotMigrated says that the warehouse lacks migrations that this program needs.
	ErrNotMigrated = errors.New("the warehouse's schema is older than this program")
	// ErrOtherViews reports that the warehouse has the views of another program, or lacks one.
	ErrOtherViews = errors.New("the views of the warehouse are not those of this version of Larder: larder migrate makes them anew")
	// ErrEmpty is the [ErrNotMigrated] of a warehouse that nothing has been put into yet.
	ErrEmpty error = emptyError{}
)

type emptyError struct{}

func (emptyError) Error() string {
	return "there is nothing in the warehouse yet: larder sync or larder run fills it"
}

func (emptyError) Is(target error) bool { return target == ErrNotMigrated }

// migrator makes the tables and views, and finds out whether they are there.
type migrator struct {
	warehouse *connection.Warehouse
	log       *slog.Logger
}

// migrationsTable remembers what has been applied.
const migrationsTable = "migrations"

// remember is the statement that notes a migration as applied.
func remember(d schema.Dialect, m schema.Migration) string {
	return fmt.Sprintf("INSERT INTO %s (version, name) SELECT %d, %s", d.Table(migrationsTable), m.Version, schema.Literal(m.Name))
}

// Migrate brings the schema of the warehouse up to this program's. It may be run
// again, by several processes at once too: every statement is harmless when its
// work is done already. A schema that a newer program has migrated is left alone
// with [ErrSchemaNewer], one from before the first release with [ErrSchemaOld].
func (h *migrator) Migrate(ctx context.Context) error {
	h.warehouse.Outage.Begin()
	all, applied, err := h.migrations(ctx)
	if err != nil {
		return err
	}
	d := h.warehouse.Dialect
	if d.NoCodec, err = h.lacksCodecSetting(ctx); err != nil {
		return err
	}
	table, err := d.MigrationsTable()
	if err != nil {
		return err
	}
	for _, sql := range slices.Concat(d.Databases(), table) {
		if err := h.warehouse.Exec(ctx, sql, nil); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
	for _, m := range all {
		if slices.Contains(applied, m.Version) {
			continue
		}
		if err := h.apply(ctx, d, m); err != nil {
			return err
		}
	}
	h.warehouse.ForgetTypes()
	return h.makeViews(ctx, d)
}

// makeViews makes the views anew when the warehouse notes another text of them, or lacks
// one. It runs at the start only: programs of two versions on one warehouse each make theirs
// once. It drops none: a view that is retired gets a DROP VIEW in the files of the views.
func (h *migrator) makeViews(ctx context.Context, d schema.Dialect) error {
	views, err := d.Views()
	if err != nil {
		return err
	}
	same, err := h.hasViews(ctx, views)
	if same || err != nil {
		return err
	}
	for _, sql := range append(views.Statements, remember(d, views.Migration)) {
		if err := h.warehouse.Exec(ctx, sql, nil); err != nil {
			return fmt.Errorf("make the views: %w", err)
		}
	}
	h.log.Info("views made", "views", len(views.Names), "text", views.Name)
	return nil
}

// hasViews is true when the warehouse has all views, and their text is the one noted last.
func (h *migrator) hasViews(ctx context.Context, views schema.Views) (same bool, err error) {
	names := make([]string, len(views.Names))
	for i, name := range views.Names {
		names[i] = schema.Literal(name)
	}
	sql := fmt.Sprintf(`SELECT (SELECT argMax(name, applied_at) FROM %s WHERE version = %d) = %s
AND (SELECT count() FROM system.tables WHERE engine = 'View' AND database = %s AND name IN (%s)) = %d`,
		h.warehouse.Table(migrationsTable), schema.ViewsVersion, schema.Literal(views.Name),
		schema.Literal(h.warehouse.Database), strings.Join(names, ", "), len(names))
	if err = h.warehouse.Rows(ctx, sql, func(rows driver.Rows) error { return rows.Scan(&same) }); err != nil {
		return false, fmt.Errorf("read which views there are: %w", err)
	}
	return same, nil
}

func (h *migrator) apply(ctx context.Context, d schema.Dialect, m schema.Migration) error {
	statements, err := d.Statements(m)
	if err != nil {
		return err
	}
	for _, sql := range statements {
		if err := h.warehouse.Exec(ctx, sql, nil); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
	}
	if err := h.warehouse.Exec(ctx, remember(d, m), clickhousego.Settings{}); err != nil {
		return fmt.Errorf("migration %s: remember it: %w", m.Name, err)
	}
	h.log.Info("schema migrated", "migration", m.Name)
	return nil
}

// lacksCodecSetting is true when the server is too old for one setting of the
// storage tables that it can do without.
func (h *migrator) lacksCodecSetting(ctx context.Context) (bool, error) {
	var known uint64
	err := h.warehouse.Rows(ctx, "SELECT count() FROM system.merge_tree_settings WHERE name = 'default_compression_codec'",
		func(rows driver.Rows) error { return rows.Scan(&known) })
	if err != nil {
		return false, fmt.Errorf("ask the warehouse what it knows: %w", err)
	}
	return known == 0, nil
}

// appliedMigrations are the versions applied to the warehouse: none before the
// first migration.
func (h *migrator) appliedMigrations(ctx context.Context) ([]int, error) {
	var versions []int
	sql := "SELECT DISTINCT version FROM " + h.warehouse.Table(migrationsTable) + " ORDER BY version"
	err := h.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var version int64
		if err := rows.Scan(&version); err != nil {
			return err
		}
		versions = append(versions, int(version))
		return nil
	})
	if connection.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the migrations applied: %w", err)
	}
	return versions, nil
}

// migrations are those that this program knows, and those applied to the warehouse, which
// must fit.
func (h *migrator) migrations(ctx context.Context) (all []schema.Migration, applied []int, err error) {
	if all, err = schema.Migrations(); err != nil {
		return nil, nil, err
	}
	if applied, err = h.appliedMigrations(ctx); err != nil {
		return nil, nil, err
	}
	return all, applied, fits(all, applied)
}

// fits refuses a schema that a newer program has migrated, and one from before the
// first migration of this kind, whose tables are others.
func fits(all []schema.Migration, applied []int) error {
	for _, version := range applied {
		if version < all[0].Version {
			return fmt.Errorf("%w: it has migration %04d, and this program begins with %04d. Sync anew: "+
				"name another database with warehouse.database (or another folder with warehouse.dsn: embedded:FOLDER), then run larder sync", ErrSchemaOld, version, all[0].Version)
		}
		if version == schema.ViewsVersion {
			continue // views are made anew, whoever made them
		}
		if !slices.ContainsFunc(all, func(m schema.Migration) bool { return m.Version == version }) {
			return fmt.Errorf("%w: it has migration %04d, and this program knows none after %04d: use the newer program",
				ErrSchemaNewer, version, all[len(all)-1].Version)
		}
	}
	return nil
}

// CheckSchema returns nil when this program can work with the warehouse as it is, else
// [ErrSchemaNewer], [ErrSchemaOld], [ErrNotMigrated] or [ErrEmpty].
func (h *migrator) CheckSchema(ctx context.Context) error {
	all, applied, err := h.migrations(ctx)
	if err != nil {
		return err
	}
	if len(applied) == 0 {
		return ErrEmpty
	}
	for _, m := range all {
		if !slices.Contains(applied, m.Version) {
			return fmt.Errorf("%w: migration %s has not been applied: run larder migrate", ErrNotMigrated, m.Name)
		}
	}
	return nil
}

// CheckViews returns nil when the warehouse has the views of this program, else [ErrOtherViews].
// Commands that read no views work with any.
func (h *migrator) CheckViews(ctx context.Context) error {
	views, err := h.warehouse.Views()
	if err != nil {
		return err
	}
	same, err := h.hasViews(ctx, views)
	if err == nil && !same {
		err = ErrOtherViews
	}
	return err
}

// PrintMigrations writes the statements that Migrate would run on an empty
// warehouse, for people who apply them themselves.
func PrintMigrations(w io.Writer, database, cluster string) error {
	o := Options{Database: database, Cluster: cluster}.withDefaults()
	if err := o.validate(); err != nil {
		return err
	}
	d := schema.Dialect{Database: o.Database, Cluster: o.Cluster}
	all, err := schema.Migrations()
	if err != nil {
		return err
	}
	table, err := d.MigrationsTable()
	if err != nil {
		return err
	}
	if err := printStatements(w, "databases", slices.Concat(d.Databases(), table)); err != nil {
		return err
	}
	for _, m := range all {
		statements, err := d.Statements(m)
		if err != nil {
			return err
		}
		if err := printStatements(w, m.Name, append(statements, remember(d, m))); err != nil {
			return err
		}
	}
	views, err := d.Views()
	if err != nil {
		return err
	}
	return printStatements(w, views.Name, append(views.Statements, remember(d, views.Migration)))
}

func printStatements(w io.Writer, title string, statements []string) error {
	if _, err := fmt.Fprintf(w, "-- %s\n\n", title); err != nil {
		return err
	}
	for _, sql := range statements {
		if _, err := fmt.Fprintf(w, "%s;\n\n", sql); err != nil {
			return err
		}
	}
	return nil
}
