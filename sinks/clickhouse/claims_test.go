package clickhouse_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// However many questions of sources wait for each other, a beat does not wait for them: a
// process that cannot beat gives all of its sources up.
func TestABeatWaitsForNoQuestion(t *testing.T) {
	database := enginetest.Database(t)
	s := openSink(t, clickhouse.Options{Database: database})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for range 20 { // more than there are connections
		asking.Go(func() {
			_ = clickhouse.Ask(ctx, s, "SELECT count() FROM system.numbers WHERE NOT ignore('"+database+"')") // it ends with ctx
		})
	}
	defer asking.Wait()
	defer cancel()
	conn := enginetest.Conn(t, "default")
	polling.Until(t, "all connections are busy", func() bool {
		var n uint64
		return conn.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE ?", "%NOT ignore('"+database+"')%").Scan(&n) == nil && n >= 8
	})
	claims, err := s.Beat(t.Context(), sinks.Process{ID: "p", Name: "n"}, []string{"a"})
	if err != nil || len(claims) != 1 {
		t.Errorf("%v, %v", claims, err)
	}
	if err := clickhouse.Ask(t.Context(), s, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("the connections were not all busy: %v", err)
	}
}
