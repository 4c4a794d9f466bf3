package clickhouse

import (
	"testing"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
)

func TestTheNameOfAnErrorIsSaidOnce(t *testing.T) {
	const want = "Unknown format Nope. (UNKNOWN_FORMAT)"
	for _, message := range []string{
		want,
		"DB::Exception: Unknown format Nope. (UNKNOWN_FORMAT). (UNKNOWN_FORMAT)",
		"Unknown format Nope. (UNKNOWN_FORMAT) (UNKNOWN_FORMAT) (UNKNOWN_FORMAT) (version 26.7.2.1 (official build))",
	} {
		if got := sentence(&clickhousego.Exception{Message: message}); got != want {
			t.Errorf("sentence(%q) = %q", message, got)
		}
	}
}
