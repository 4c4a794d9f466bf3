package clickhouse_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// However many questions of sources wait for each other, a beat does not wait for them: a
// process that cannot beat gives all of its sources up. Nor do rows, or who looks whether the
// warehouse is there: that a question waits is no outage.
func TestOnlyQuestionsWaitForQuestions(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	var log bytes.Buffer
	s := openSink(t, clickhouse.Options{Database: database, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	table := tables(t, s)["allergens"]
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for range 20 { // more than may run at once
		asking.Go(func() {
			_ = clickhouse.Ask(ctx, s, "SELECT count() FROM system.numbers WHERE NOT ignore('"+database+"')") // it ends with ctx
		})
	}
	defer asking.Wait()
	defer cancel()
	conn := enginetest.Conn(t, "default")
	polling.Until(t, "as many questions as may run at once are under way", func() bool {
		var n uint64
		return conn.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE ?", "%NOT ignore('"+database+"')%").Scan(&n) == nil && n >= 8
	})
	limited, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	claims, err := s.Beat(limited, sinks.Process{ID: "p", Name: "n"}, []string{"a"})
	if err != nil || len(claims) != 1 {
		t.Errorf("%v, %v", claims, err)
	}
	if _, err := s.MaxVersion(limited); err != nil {
		t.Errorf("the highest version: %v", err)
	}
	if err := s.Ping(limited); err != nil {
		t.Errorf("ping: %v", err)
	}
	receipt, err := s.Write(t.Context(), &sinks.Commit{Source: "a", Business: "b", Stream: "allergens", Batch: simple(table, "id")})
	if err == nil {
		err = receipt.Wait(limited)
	}
	if err != nil {
		t.Errorf("the rows: %v", err)
	}
	short, done := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer done()
	if err := clickhouse.Ask(short, s, "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sinks.ErrUnreachable) {
		t.Errorf("a question that waits no longer: %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("nothing is wrong with the warehouse, and the log says: %s", log.String())
	}
}

// TestConnectionsAreDialledOnce has as many questions at once as there may be, again and again.
func TestConnectionsAreDialledOnce(t *testing.T) {
	var n atomic.Int64
	dial := enginetest.Engine(t).Dial
	s := openSink(t, clickhouse.Options{Database: "default", Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		n.Add(1)
		return dial(ctx, addr)
	}})
	for range 5 {
		var asking sync.WaitGroup
		for range 8 {
			asking.Go(func() {
				if err := clickhouse.Ask(t.Context(), s, "SELECT sleep(0.2)"); err != nil {
					t.Error(err)
				}
			})
		}
		asking.Wait()
	}
	if n.Load() > 12 { // 8, but for one that is not given back yet
		t.Errorf("%d connections were dialled", n.Load())
	}
}
