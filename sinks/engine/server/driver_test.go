package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

func TestDriverRoundTripsEveryTypeOfTheWarehouse(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	db := enginetest.Database(t)
	for name, compression := range map[string]*clickhouse.Compression{
		"plain": nil,
		"lz4":   {Method: clickhouse.CompressionLZ4},
		"zstd":  {Method: clickhouse.CompressionZSTD},
		"gzip":  {Method: clickhouse.CompressionGZIP, Level: 1},
		"br":    {Method: clickhouse.CompressionBrotli, Level: 1},
		"defl":  {Method: clickhouse.CompressionDeflate, Level: 1},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := clickhouse.Open(&clickhouse.Options{
				Protocol: clickhouse.HTTP, Addr: []string{"embedded"}, Compression: compression,
				Auth: clickhouse.Auth{Database: db}, DialContext: enginetest.Engine(t).Dial,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			writeAllTypes(t, conn, name)
			readAllTypes(t, conn, name)
		})
	}
}

func writeAllTypes(t *testing.T, conn driver.Conn, name string) {
	t.Helper()
	ctx := context.Background()
	create := `CREATE TABLE all_types_` + name + ` (
		id String, n Nullable(Int64), money Decimal(18,2), qty Nullable(Decimal(38,10)),
		nested Array(Array(String)), m Map(LowCardinality(String), Decimal(18,2)),
		lc LowCardinality(String), lcn LowCardinality(Nullable(String)), d Date32, at DateTime64(6,'UTC'), at0 DateTime,
		b Bool, tup Tuple(a UInt8, b String)
	) ENGINE = ReplacingMergeTree ORDER BY id`
	if err := conn.Exec(ctx, create); err != nil {
		t.Fatal(err)
	}
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO all_types_"+name)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 29, 3, 30, 0, 123456000, time.UTC)
	n, lcn := int64(-5), "x"
	qty := decimal.RequireFromString("12345678901234567890.0123456789")
	m := map[string]decimal.Decimal{"cash": decimal.RequireFromString("-1.5")}
	for _, row := range [][]any{
		{"id/1 'ș", &n, decimal.RequireFromString("-19.99"), &qty, [][]string{{"a", "b\x00c"}, {}}, m, "lei", &lcn, time.Date(1925, 1, 1, 0, 0, 0, 0, time.UTC), at, at, true, []any{uint8(7), "t"}},
		{"id2", nil, decimal.Zero, nil, [][]string{}, map[string]decimal.Decimal{}, "", nil, time.Date(2299, 12, 31, 0, 0, 0, 0, time.UTC), at, at, false, []any{uint8(0), ""}},
	} {
		if err := batch.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

func readAllTypes(t *testing.T, conn driver.Conn, name string) {
	t.Helper()
	ctx := context.Background()
	rows, err := conn.Query(ctx, "SELECT id, n, money, qty, nested, m, lc, lcn, d, at, b, tup.2 FROM all_types_"+name+" ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		var (
			id, lc, tup string
			n           *int64
			money       decimal.Decimal
			qty         *decimal.Decimal
			nested      [][]string
			m           map[string]decimal.Decimal
			lcn         *string
			d, at       time.Time
			b           bool
		)
		if err := rows.Scan(&id, &n, &money, &qty, &nested, &m, &lc, &lcn, &d, &at, &b, &tup); err != nil {
			t.Fatal(err)
		}
		line := id + "|" + money.StringFixed(2) + "|" + lc + "|" + tup + "|" + at.UTC().Format(time.RFC3339Nano)
		if n != nil {
			line += "|" + qty.String() + "|" + nested[0][1] + "|" + m["cash"].String() + "|" + *lcn
		}
		got = append(got, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"id/1 'ș|-19.99|lei|t|2026-03-29T03:30:00.123456Z|12345678901234567890.0123456789|b\x00c|-1.5|x",
		"id2|0.00|||2026-03-29T03:30:00.123456Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	empty, err := conn.Query(ctx, "SELECT id, lc FROM all_types_"+name+" WHERE id = 'none'")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"id", "lc"}, empty.Columns()); diff != "" {
		t.Errorf("an empty result keeps its columns: %s", diff)
	}
	if empty.Next() {
		t.Error("a row in an empty result")
	}
}
