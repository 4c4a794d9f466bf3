package syncer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/sinks/sinktest"
)

// TestMain has garbage collected seldom: the tests have one processor, and memory is there.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(enginetest.Main(m))
}

// TestSimulationOnTheEngine plays an episode on a real ClickHouse: the writer with
// its queue and its flusher is in the bubble, the engine is not.
// TestSimulationOnTheEngineOfManySeeds plays others.
//
// An engine in the bubble would stop its clock for good: it waits for connections
// on the socket of its folder, and waiting for the system is not waiting as
// synctest means it. So the bubble has a proxy, which asks the engine over that
// socket with a connection for each request: while one is under way simulated time
// stands still, and between two of them nothing is waited for.
func TestSimulationOnTheEngine(t *testing.T) {
	seed := uint64(1)
	if *onlySeed != 0 {
		seed = *onlySeed
	}
	sum := newTally()
	defer sum.print(t)
	simulateOnTheEngine(t, seed, sum)
}

func simulateOnTheEngine(t *testing.T, seed uint64, sum *tally) {
	began := time.Now()
	engine, database := enginetest.Engine(t), enginetest.Database(t)
	if err := migrate(engine, database); err != nil {
		t.Fatal(err)
	}
	var e *episode
	defer func() { sum.add(e, time.Since(began), t.Failed()) }()
	synctest.Test(t, func(t *testing.T) {
		e = newEpisode(t, newEngineScenario(seed))
		e.real = newRealWarehouse(t, e.plan, engine.Path(), database)
		t.Cleanup(e.end)
		e.play()
		e.finish()
	})
}

func migrate(engine *server.Server, database string) error {
	ctx := context.Background()
	s, err := clickhouse.Open(ctx, clickhouse.Options{Dial: engine.Dial, Database: database})
	if err != nil {
		return err
	}
	return errors.Join(s.Migrate(ctx), s.Close(ctx))
}

// newEngineScenario is a scenario of fewer flushes: each costs the engine tens of
// milliseconds.
func newEngineScenario(seed uint64) scenario {
	p := newScenario(seed)
	g := rand.New(rand.NewPCG(seed, 5))
	p.span = pick(g, 2*time.Hour, 6*time.Hour)
	p.every = p.span / 25
	p.schedule = Schedule{Incremental: atEvery(p.every), Snapshots: atEvery(2 * p.every), Reconcile: atEvery(4 * p.every), FullResync: p.schedule.FullResync}
	p.box.Businesses, p.box.Orders = 1, min(p.box.Orders, 150)
	p.stir = min(p.stir, 0.1)
	p.events = nil
	p.draw(g)
	return p
}

// realWarehouse is a ClickHouse outside of the bubble, and the writer in it.
type realWarehouse struct {
	t        *testing.T
	plan     scenario
	database string
	way      *sinktest.Flaky // of the writer; the comparison has its own
	direct   sinktest.Dialler
	g        *rand.Rand
	sink     *clickhouse.Sink
}

func newRealWarehouse(t *testing.T, p scenario, folder, database string) *realWarehouse {
	l := newMemListener()
	socket := server.DialHeld(folder)
	server := &http.Server{
		Handler: &httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "embedded" },
			Transport:     &http.Transport{DialContext: func(ctx context.Context, _, a string) (net.Conn, error) { return socket(ctx, a) }, DisableKeepAlives: true, DisableCompression: true},
			FlushInterval: -1,
			ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve the warehouse: %v", err)
		}
	}()
	t.Cleanup(func() { _ = server.Close() }) // nothing can be done about it at the end of a test
	dial := func(ctx context.Context, a string) (net.Conn, error) { return l.dial(ctx, "", a) }
	return &realWarehouse{t: t, plan: p, database: database, way: sinktest.NewFlaky(dial), direct: dial, g: rand.New(rand.NewPCG(p.seed, 6))}
}

// open makes the writer of a new process.
func (w *realWarehouse) open() sinks.Sink {
	s, err := clickhouse.Open(context.Background(), clickhouse.Options{
		Dial: w.way.Dial, Database: w.database, FlushInterval: w.plan.flush,
		// The engine's clock is the real one, which hardly moves.
		ClaimTimeout: 20 * time.Millisecond,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.sink = s
	return s
}

// kill cuts the writer off at once, as kill -9 of its process does, or in the
// middle of a statement that is to come.
func (w *realWarehouse) kill(g *rand.Rand) {
	if g.IntN(2) == 0 {
		w.way.CutAfter(g.Int64N(20_000))
		time.Sleep(2 * w.plan.flush)
	}
	w.way.Down()
}

// close ends the writer after its daemon; a killed one has no way to its warehouse.
func (w *realWarehouse) close() {
	if w.sink == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = w.sink.Close(ctx) // what it could not write is fetched again
	w.sink = nil
}

func (w *realWarehouse) setDown(down bool) {
	if down {
		w.way.Down()
	} else {
		w.way.Up()
	}
}

// rows are a table's rows of one business by id, removed ones too.
func (w *realWarehouse) rows(table, business string) map[string]memsink.Row {
	from := fmt.Sprintf("`%s_raw`.`%s`", w.database, table)
	where := fmt.Sprintf("business_id = '%s'", business)
	rows := map[string]memsink.Row{}
	w.ask(fmt.Sprintf("SELECT id, argMax(_deleted, _version) AS deleted, argMax(_delete_reason, _version) AS reason, argMax(_raw, _version) AS raw, max(_version) AS version FROM %s WHERE %s GROUP BY id", from, where), func(line []byte) {
		var r struct {
			ID, Reason, Raw string
			Deleted         uint8
			Version         uint64
		}
		if err := json.Unmarshal(line, &r); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
		rows[r.ID] = memsink.Row{Source: "r0", ID: r.ID, Version: r.Version, Raw: r.Raw, Deleted: r.Deleted == 1, Reason: r.Reason}
	})
	w.ask(fmt.Sprintf("SELECT id, count() AS copies FROM %s FINAL WHERE %s GROUP BY id HAVING copies > 1", from, where), func(line []byte) {
		w.t.Errorf("%s: doubled row %s", table, line)
	})
	return rows
}

// ask reads the answer of a query line by line.
func (w *realWarehouse) ask(sql string, line func([]byte)) {
	s, err := clickhouse.Open(context.Background(), clickhouse.Options{Dial: w.direct, Database: w.database})
	if err != nil {
		w.t.Fatal(err)
	}
	var answer bytes.Buffer
	if err := errors.Join(s.Query(context.Background(), sql, "JSONEachRow", &answer), s.Close(context.Background())); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	for l := range strings.Lines(answer.String()) {
		line([]byte(l))
	}
}
