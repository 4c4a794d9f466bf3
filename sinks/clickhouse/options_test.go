package clickhouse_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
)

func TestOpenRefuses(t *testing.T) {
	for name, o := range map[string]clickhouse.Options{
		"nothing":       {},
		"scheme":        {DSN: "postgres://u:hunter2@h:1/db"},
		"no url":        {DSN: "clickhouse://u:hunter2%@h:1/db"},
		"database":      {DSN: "clickhouse://u:hunter2@h:9000/db", Database: "a b"},
		"cluster":       {DSN: "clickhouse://u:hunter2@h:9000/db", Cluster: "a'b"},
		"dsn database":  {DSN: "clickhouse://u:hunter2@h:9000/d`b"},
		"negative":      {DSN: "clickhouse://u:hunter2@h:9000/db", FlushRows: -1},
		"bad parameter": {DSN: "clickhouse://u:hunter2@h:9000/db?dial_timeout=hunter2"},
	} {
		s, err := clickhouse.Open(context.Background(), o)
		if err == nil {
			t.Errorf("%s: accepted", name)
			_ = s.Close(context.Background())
			continue
		}
		if strings.Contains(err.Error(), "hunter2") && name != "bad parameter" {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}

// TestUnreachable asks a port where nobody listens, over every protocol.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dsn := range []string{
		"clickhouse://larder:hunter2@" + addr + "/larder", "http://larder:hunter2@" + addr + "/larder",
		"https://larder:hunter2@" + addr + "/larder", "clickhouse://" + addr + "/larder?username=larder&password=hunter2",
		"clickhouse://larder@" + addr + "/larder?secure=true",
	} {
		s := openSink(t, clickhouse.Options{DSN: dsn, Password: "hun%ter3"})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		for what, err := range map[string]error{"ping": s.Ping(ctx), "migrate": s.Migrate(ctx), "schema": s.CheckSchema(ctx)} {
			if !errors.Is(err, connection.ErrUnreachable) {
				t.Errorf("%s: %s: %v", dsn, what, err)
			} else if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "ter3") {
				t.Errorf("%s: the error tells the password: %v", what, err)
			} else if want := "(" + addr + "): connection refused: nothing listens there; is ClickHouse running, and the port right?"; !strings.HasSuffix(text, want) {
				t.Errorf("%s: %s: %v", dsn, what, err)
			}
		}
		cancel()
	}
}
