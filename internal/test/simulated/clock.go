package simulated

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// The calls that read the engine's clock, in views and in queries.
var (
	nowCall   = regexp.MustCompile(`\bnow\((?:'Europe/Bucharest')?\)`)
	now64Call = regexp.MustCompile(`\bnow64\(6(?:, 'Europe/Bucharest')?\)`)
	todayCall = regexp.MustCompile(`\btoday\(\)|\byesterday\(\)`)
	otherCall = regexp.MustCompile(`(?i)\b(?:now|now64|nowInBlock|today|current_date|current_timestamp|yesterday|UTCTimestamp)\(`)
)

// Clock is the time that SQL reads in place of the engine's clock, which is the machine's
// and cannot be set.
type Clock struct{ At time.Time }

// In returns SQL that reads this clock.
func (c Clock) In(sql string) string {
	instant := c.At.UTC().Format("2006-01-02 15:04:05")
	sql = now64Call.ReplaceAllString(sql, fmt.Sprintf("toDateTime64(toDateTime('%s', 'UTC'), 6, 'Europe/Bucharest')", instant))
	sql = nowCall.ReplaceAllString(sql, fmt.Sprintf("toTimeZone(toDateTime('%s', 'UTC'), 'Europe/Bucharest')", instant))
	return todayCall.ReplaceAllStringFunc(sql, func(call string) string {
		day := c.At
		if strings.HasPrefix(call, "yesterday") {
			day = day.AddDate(0, 0, -1)
		}
		return fmt.Sprintf("toDate('%s')", day.Format("2006-01-02"))
	})
}

// KeepRuns keeps the runs of a database of the shared engine, however old they are by the
// engine's clock, by which others are removed after a year.
func KeepRuns(t testing.TB, database string) {
	t.Helper()
	if err := enginetest.Conn(t, database).Exec(context.Background(), "ALTER TABLE `"+database+"_raw`.runs REMOVE TTL"); err != nil {
		t.Fatalf("keep the runs of %s: %v", database, err)
	}
}

// Set gives this clock to the views of a database of the shared engine.
func (c Clock) Set(t testing.TB, database string) {
	t.Helper()
	conn := enginetest.Conn(t, database)
	exec := func(sql string) {
		t.Helper()
		if err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatalf("set the clock of %s: %v\n%s", database, err, sql)
		}
	}
	rows, err := conn.Query(context.Background(), "SELECT create_table_query FROM system.tables WHERE engine = 'View' AND database = '"+database+"'")
	if err != nil {
		t.Fatal(err)
	}
	var views []string
	for rows.Next() {
		var sql string
		if err := rows.Scan(&sql); err != nil {
			t.Fatal(err)
		}
		set := c.In(sql)
		if call := otherCall.FindString(set); call != "" {
			t.Fatalf("a view of %s reads the engine's clock by %s, which no clock of a test replaces:\n%s", database, call, sql)
		}
		if set != sql {
			views = append(views, strings.Replace(set, "CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(views) < 4 {
		t.Fatalf("%d views read the time", len(views))
	}
	for _, view := range views {
		exec(view)
	}
}
