package clickhouse_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// trouble is a way in which a disk stops taking writes, until over is called.
type trouble struct {
	name  string
	begin func() (over func())
	says  string // in the error, beside the folder
}

// troubles are a disk that others filled, and one that refuses writes although it
// has room (a quota, a failing device), which the engine itself does not notice.
func troubles(t *testing.T, disk *enginetest.SmallDisk) []trouble {
	return []trouble{
		{"full", func() func() { disk.Fill(0); return disk.Free }, "is short of space"},
		{"below what is kept free", func() func() { disk.Fill(100 << 20); return disk.Free }, "is short of space"},
		{"refuses writes", func() func() { return refuseWrites(t) }, "refused a write"},
	}
}

// refuseWrites refuses this process all writes to files.
func refuseWrites(t *testing.T) (over func()) {
	t.Helper()
	room, err := enginetest.RefuseWrites(0)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := room(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk holds rows back while the disk of the engine takes none, says so,
// and writes all of them, once, when it does.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("what a flush does at once, TestSinkOverHTTP does too")
	}
	enginetest.OnSmallDisk(t, 256<<20, func(disk *enginetest.SmallDisk) {
		engine, err := server.Open(t.Context(), engine.Options{Path: filepath.Join(disk.Dir, "data"), Databases: []string{"disk_*"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		}()
		for i, tr := range troubles(t, disk) {
			if !t.Run(tr.name, func(t *testing.T) { heldBack(t, engine, tr, 21*i) }) {
				return // the next would fail for what this one has left
			}
		}
	})
}

const diskDatabase = "disk_full"

// heldBack stores 21 rows more than there are, some while the disk takes none.
func heldBack(t *testing.T, engine *server.Server, tr trouble, there int) {
	registry := prometheus.NewRegistry()
	log := &polling.Text{}
	s := openSink(t, clickhouse.Options{Database: diskDatabase, Dial: engine.Dial, Registerer: registry,
		FlushInterval: time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	allergens := tables(t, s)["allergens"]
	write := func(first, n int) (receipts []*sinks.Receipt) {
		for i := range n {
			receipt, err := s.Write(t.Context(), &sinks.Commit{Source: "s", Business: "b", Stream: "allergens",
				Batch:      simple(allergens, fmt.Sprint("id-", first+i)),
				Tombstones: []sinks.Tombstone{{ID: fmt.Sprint("gone-", first+i), Version: 1, FetchedAt: time.Unix(1, 0)}},
				Checkpoint: &sinks.Checkpoint{Source: "s", Stream: "allergens", Walk: "full", Rows: uint64(first + i), UpdatedAt: time.Unix(int64(first+i), 0)}})
			if err != nil {
				t.Fatal(err)
			}
			receipts = append(receipts, receipt)
		}
		return receipts
	}
	settled(t, write(there+1, 10))
	over := tr.begin()
	held := write(there+11, 10)
	attempts(t, registry, 4)
	for _, r := range held {
		select {
		case <-r.Done():
			t.Error("a receipt is settled while the disk takes nothing")
		default:
		}
	}
	told(t, s, engine, tr.says, log.String())
	if gathered(t, registry, "larder_sink_failing", "") != 1 {
		t.Error("the metric does not tell")
	}
	expectStored(t, s, there+10)
	over()
	settled(t, held)
	settled(t, write(there+21, 1))
	expectStored(t, s, there+21)
	if err := s.Health(); err != nil {
		t.Errorf("health: %v", err)
	}
}

// told checks that what is wrong, where, and what to do stands where people look.
func told(t *testing.T, s *clickhouse.Sink, engine *server.Server, says, log string) {
	t.Helper()
	err := s.Health()
	if err == nil {
		t.Fatal("the sink calls itself healthy")
	}
	for _, want := range []string{engine.Path(), says, "free some space"} {
		if !strings.Contains(err.Error(), want) || !strings.Contains(log, want) {
			t.Errorf("%q is not told:\n%v\n%s", want, err, log)
		}
	}
}

// expectStored compares how many live rows there are, how many removed ones, and
// the rows of the checkpoint. Between a write that is refused and the engine's look at
// what it has left, reading is an error: then it reads again.
func expectStored(t *testing.T, s *clickhouse.Sink, n int) {
	t.Helper()
	const raw = "`" + diskDatabase + "_raw`."
	want := fmt.Sprintf("%[1]d\t%[1]d\t%[1]d\n", n)
	got := readable(t, s, "SELECT (SELECT count() FROM "+raw+"allergens FINAL WHERE NOT ignore(*)), (SELECT uniqExact(id) FROM "+raw+"allergens WHERE _deleted), (SELECT max(rows) FROM "+raw+"checkpoints)")
	if got != want {
		t.Errorf("live, removed, checkpoint: %q, want %q", got, want)
	}
}

// readable is the answer to a query once there is one.
func readable(t *testing.T, s *clickhouse.Sink, sql string) string {
	t.Helper()
	var answer bytes.Buffer
	var err error
	if !polling.For(t.Context(), func() bool {
		answer.Reset()
		err = s.Query(t.Context(), sql, "TSV", &answer)
		return err == nil
	}) {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer.String()
}

func settled(t *testing.T, receipts []*sinks.Receipt) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n, r := range receipts {
		if err := r.Wait(ctx); err != nil {
			t.Fatalf("receipt %d: %v", n, err)
		}
	}
}

// attempts waits until so many attempts to write have failed.
func attempts(t *testing.T, registry *prometheus.Registry, n float64) {
	t.Helper()
	polling.Until(t, fmt.Sprintf("%v attempts have failed", n), func() bool {
		return gathered(t, registry, "larder_sink_flush_retries_total", "") >= n
	})
}
