package server_test

import (
	"context"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
)

// The columns of an answer are the same with rows and without: those without come from the
// engine's analysis, or where that leaves a doubt, from DESCRIBE.
func TestAnEmptyAnswerHasTheColumnsOfAFullOne(t *testing.T) {
	conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{"embedded"}, DialContext: embeddedtest.Engine(t).Dial})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	columns := func(sql string) (all [][2]string) {
		rows, err := conn.Query(context.Background(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		defer rows.Close()
		for i, typ := range rows.ColumnTypes() {
			all = append(all, [2]string{rows.Columns()[i], typ.DatabaseTypeName()})
		}
		return all
	}
	for _, list := range []string{
		"number AS n, toString(n) AS text, n + 1",
		"toNullable(number) AS n, toLowCardinality(toNullable('x')) AS lc",
		"1.5::Decimal(18, 2) AS money, toNullable(1.5::Decimal(38, 10)) AS kg, sum(money) OVER () AS total",
		"now64(6, 'Europe/Bucharest') AS at, today()::Date32 AS day, toNullable(at) AS maybe_at",
		"map('cash', 1.5::Decimal(18, 2)) AS paid, [[1]] AS nested, tuple(1 AS x, 'a' AS y) AS pair, [toNullable(1)] AS list",
		"CAST('a b', 'Enum8(\\'a b\\' = 1, \\'String\\' = 2)') AS e, toFixedString('x', 4) AS fixed, true AS b",
		"1 AS `a b`, 2 AS `a String`, 3 AS `a Nullable(Int8)`, 4 AS `ț`",
		"1 AS `a Tuple(b)`", "1 AS `a UInt8\n    b`", "1 AS `a UInt8\n  PROJECTION\n`", "1 AS `\n  PROJECTION COLUMNS\n    a UInt8\n  PROJECTION\n`",
		"1 AS `a UInt8\n  PROJECTION\n    LIST x, nodes: 1`", "1 AS `a UInt8\n    b UInt8\n  PROJECTION\n    LIST x, nodes: 2`",
		"(SELECT max(number) FROM numbers(3)) AS most, number IN (SELECT 1) AS one",
	} {
		for _, from := range []string{" FROM numbers(2)", " FROM numbers(2) UNION ALL SELECT " + list + " FROM numbers(1)"} {
			full := columns("SELECT * FROM (SELECT " + list + from + ")")
			empty := columns("SELECT * FROM (SELECT " + list + from + ") WHERE rand() > 5000000000 -- none")
			if diff := cmp.Diff(full, empty); diff != "" || len(full) == 0 {
				t.Errorf("SELECT %s%s: with rows, and without: %s", list, from, diff)
			}
		}
	}
}
