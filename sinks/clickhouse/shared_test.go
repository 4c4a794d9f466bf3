package clickhouse_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/simulated"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// warehouses are the migrated databases that no test has: to empty one takes a
// twentieth of what it takes to migrate another.
var warehouses struct {
	sync.Mutex
	free []warehouse
	made int
}

type warehouse struct{ database, schema string }

// take gives a test a migrated database without rows, which another test may have
// had. One that changes the schema, or the migrations, takes enginetest.Database.
func take(t testing.TB) (database string) {
	t.Helper()
	w := freeWarehouse(t)
	t.Cleanup(func() {
		if t.Failed() {
			return // it may be in any state
		}
		empty(t, w.database)
		if w.schema != fingerprint(t, w.database) {
			t.Error("the test has changed the schema: it needs a database of its own")
			return
		}
		warehouses.Lock()
		defer warehouses.Unlock()
		warehouses.free = append(warehouses.free, w)
	})
	return w.database
}

func freeWarehouse(t testing.TB) warehouse {
	t.Helper()
	warehouses.Lock()
	defer warehouses.Unlock()
	if last := len(warehouses.free) - 1; last >= 0 {
		w := warehouses.free[last]
		warehouses.free = warehouses.free[:last]
		return w
	}
	warehouses.made++
	w := warehouse{database: fmt.Sprintf("test_taken_%d", warehouses.made)}
	if err := openSink(t, clickhouse.Options{Database: w.database}).Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	simulated.KeepRuns(t, w.database) // the tests' runs have days of 2026
	w.schema = fingerprint(t, w.database)
	return w
}

// empty removes all rows.
func empty(t testing.TB, database string) {
	t.Helper()
	conn := enginetest.Conn(t, "default")
	for _, table := range strings.Fields(answer(t, "SELECT arrayStringConcat(groupArray(name), ' ') FROM system.tables WHERE total_rows > 0 AND name != 'migrations' AND database = "+sqlText(database+"_raw"))) {
		if err := conn.Exec(context.Background(), "TRUNCATE TABLE `"+database+"_raw`.`"+table+"` SYNC"); err != nil {
			t.Fatal(err)
		}
	}
}

// fingerprint is another one when any table or view was made anew or changed, or a
// migration was forgotten or invented.
func fingerprint(t testing.TB, database string) string {
	t.Helper()
	return answer(t, fmt.Sprintf(`SELECT concat(toString(groupBitXor(cityHash64(database, name, uuid, create_table_query))), ' ',
(SELECT toString(groupBitXor(cityHash64(version, name))) FROM %[2]s.migrations FINAL))
FROM system.tables WHERE database IN (%[1]s, concat(%[1]s, '_raw'))`, sqlText(database), "`"+database+"_raw`"))
}

func answer(t testing.TB, sql string) (text string) {
	t.Helper()
	if err := enginetest.Conn(t, "default").QueryRow(context.Background(), sql).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}
