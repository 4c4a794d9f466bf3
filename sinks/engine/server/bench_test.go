package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// BenchmarkQuery is the cost of one small query through the driver.
func BenchmarkQuery(b *testing.B) {
	conn := enginetest.Conn(b, "default")
	for b.Loop() {
		var one uint8
		if err := conn.QueryRow(context.Background(), "SELECT 1").Scan(&one); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInsert is the cost of one durable insert, by its size.
func BenchmarkInsert(b *testing.B) {
	for _, rows := range []int{1, 10000, 200000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			db := enginetest.Database(b)
			conn := enginetest.Conn(b, db)
			if err := conn.Exec(context.Background(), "CREATE TABLE b (a UInt64, s String) ENGINE = MergeTree ORDER BY a"); err != nil {
				b.Fatal(err)
			}
			var data strings.Builder
			for i := range rows {
				fmt.Fprintf(&data, "%d\tsome text %x\n", i, i)
			}
			b.SetBytes(int64(data.Len()))
			for b.Loop() {
				if err := conn.InsertFormat(context.Background(), "TSV", "INSERT INTO b", strings.NewReader(data.String())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead is the speed of a large result through the driver.
func BenchmarkRead(b *testing.B) {
	conn := enginetest.Conn(b, "default")
	b.SetBytes(8 * 5_000_000)
	for b.Loop() {
		rows, err := conn.Query(context.Background(), "SELECT number FROM numbers(5000000)")
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			b.Fatal(err)
		}
	}
}
