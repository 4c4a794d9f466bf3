package cookbook

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// What asks the engine for the time, in the views and in the cookbook.
var (
	nowCall   = regexp.MustCompile(`\bnow\((?:'Europe/Bucharest')?\)`)
	now64Call = regexp.MustCompile(`\bnow64\(6, 'Europe/Bucharest'\)`)
	todayCall = regexp.MustCompile(`\btoday\(\)|\byesterday\(\)`)
)

// atEvening makes SQL ask for the evening in place of the engine's clock, which is
// the machine's and cannot be set.
func atEvening(sql string) string {
	instant := evening.UTC().Format("2006-01-02 15:04:05")
	sql = now64Call.ReplaceAllString(sql, fmt.Sprintf("toDateTime64(toDateTime('%s', 'UTC'), 6, 'Europe/Bucharest')", instant))
	sql = nowCall.ReplaceAllString(sql, fmt.Sprintf("toTimeZone(toDateTime('%s', 'UTC'), 'Europe/Bucharest')", instant))
	return todayCall.ReplaceAllStringFunc(sql, func(call string) string {
		day := evening
		if strings.HasPrefix(call, "yesterday") {
			day = day.AddDate(0, 0, -1)
		}
		return fmt.Sprintf("toDate('%s')", day.Format("2006-01-02"))
	})
}

// setClock gives the views the clock of the evening.
func (r *restaurant) setClock(t *testing.T, database string) {
	t.Helper()
	conn := enginetest.Conn(t, database)
	views := 0
	for _, row := range r.rows(t, "SELECT name, create_table_query AS sql FROM system.tables WHERE database = '"+database+"'") {
		sql := row["sql"].(string)
		set := atEvening(sql)
		if set == sql {
			continue
		}
		views++
		if err := conn.Exec(context.Background(), strings.Replace(set, "CREATE VIEW", "CREATE OR REPLACE VIEW", 1)); err != nil {
			t.Fatalf("set the clock of %s: %v", row["name"], err)
		}
	}
	if views < 4 {
		t.Fatalf("%d views ask for the time", views)
	}
}

// rows are the answer of a query, decimals and integers as texts.
func (r *restaurant) rows(t *testing.T, sql string) (rows []map[string]any) {
	t.Helper()
	var out strings.Builder
	if err := r.sink.Query(context.Background(), sql, "JSONEachRow", &out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for line := range strings.Lines(out.String()) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}
