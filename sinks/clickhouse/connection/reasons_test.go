package connection

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
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

// No network is between Larder and the engine that it carries itself.
func TestNothingOfTheNetworkIsSaidOfTheEmbeddedEngine(t *testing.T) {
	inside, err := Parse(Address{Dial: func(context.Context, string) (net.Conn, error) { return nil, net.ErrClosed }})
	if err != nil {
		t.Fatal(err)
	}
	outside, err := Parse(Address{DSN: "http://db:8123"})
	if err != nil {
		t.Fatal(err)
	}
	if got := outside.reasonOf(context.DeadlineExceeded); !strings.Contains(got, "firewall") {
		t.Errorf("of a server elsewhere: %q", got)
	}
	for _, failure := range []error{context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ECONNREFUSED, syscall.EPIPE, net.ErrClosed, io.EOF} {
		got := inside.reasonOf(failure)
		for _, word := range []string{"firewall", "port", "TLS", "ClickHouse running"} {
			if strings.Contains(got, word) {
				t.Errorf("%v: %q", failure, got)
			}
		}
		if !strings.Contains(got, "; ") {
			t.Errorf("%v: %q does not say what to do", failure, got)
		}
	}
}
