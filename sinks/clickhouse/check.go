package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// oldestVersion is the first ClickHouse whose FINAL, deleted rows and settings
// are those that the schema counts on.
var oldestVersion = [2]int{24, 8}

// Info is what a check found.
type Info struct {
	Version  string // of ClickHouse
	Address  string // host and port, or what stands for it
	Database string
	Migrated bool // the schema is this program's
}

// Ping returns nil when the warehouse answers, else [connection.ErrUnreachable]. Like a beat it
// waits for no question.
func (s *Sink) Ping(ctx context.Context) error {
	return s.claims.warehouse.Rows(ctx, "SELECT 1", func(rows driver.Rows) error {
		var one uint8
		return rows.Scan(&one)
	})
}

// Check finds out, without changing anything, whether the warehouse answers, is
// new enough, and lets the user create and write: an error says what is wrong and
// what to do.
func (h *migrator) Check(ctx context.Context) (Info, error) {
	info := Info{Address: h.warehouse.Address(), Database: h.warehouse.Database}
	err := h.warehouse.Rows(ctx, "SELECT version()", func(rows driver.Rows) error { return rows.Scan(&info.Version) })
	if err != nil {
		return info, err
	}
	if tooOld(info.Version) {
		return info, fmt.Errorf("ClickHouse %s is too old: Larder needs %d.%d or newer", info.Version, oldestVersion[0], oldestVersion[1])
	}
	if err := h.checkRights(ctx); err != nil {
		return info, err
	}
	err = h.CheckSchema(ctx)
	if errors.Is(err, ErrNotMigrated) {
		return info, nil
	}
	info.Migrated = err == nil
	return info, err
}

func tooOld(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return false
	}
	return major < oldestVersion[0] || major == oldestVersion[0] && minor < oldestVersion[1]
}

// needed are the rights that Larder uses.
var needed = []string{"SELECT", "INSERT", "CREATE TABLE", "ALTER ADD COLUMN", "ALTER VIEW MODIFY QUERY", "CREATE VIEW", "DROP VIEW", "CREATE DATABASE",
	"ALTER UPDATE", "ALTER DELETE", "ALTER SETTINGS", "DROP TABLE"}

// checkRights asks for each right; CHECK GRANT answers 1 or 0. Servers that are
// too old for the question, and the embedded engine, which has no users, are
// taken to allow everything.
func (h *migrator) checkRights(ctx context.Context) error {
	if h.warehouse.Address() == connection.EmbeddedAddress {
		return nil
	}
	for _, database := range []string{h.warehouse.Raw(), h.warehouse.Database} {
		for _, right := range needed {
			var granted uint8 = 1
			err := h.warehouse.Rows(ctx, "CHECK GRANT "+right+" ON "+schema.Quote(database)+".*", func(rows driver.Rows) error {
				return rows.Scan(&granted)
			})
			if errors.Is(err, connection.ErrUnreachable) {
				return err
			}
			if err == nil && granted == 0 {
				return fmt.Errorf("the user may not %s on %s: an administrator can allow it with GRANT %s ON %s.* TO <user>",
					right, database, right, schema.Quote(database))
			}
		}
	}
	return nil
}
