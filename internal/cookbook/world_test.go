package cookbook

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/simulated"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// The restaurant has sold for more than a year when it is first mirrored, and is
// watched from then on, through the night of 25 October 2026 in which the hour
// from 3 to 4 comes twice, until a Tuesday evening.
var (
	bucharest, _ = time.LoadLocation("Europe/Bucharest")
	epoch        = time.Date(2026, 10, 22, 23, 59, 30, 0, bucharest)
	evening      = time.Date(2026, 11, 3, 20, 30, 0, 0, bucharest)
	clock        = simulated.Clock{At: evening}
)

// restaurant is a mirrored restaurant as it was that evening.
type restaurant struct {
	box      *sandbox.Sandbox
	key      string
	database string
	sink     *clickhouse.Sink // outside of the bubble, with the clock of that evening
	seen     *recording
	now      func() time.Time // the service's clock
	reader   string           // the address of the reading interface
}

// mirrored lets the daemon mirror the restaurant until the evening.
func mirrored(t *testing.T) *restaurant {
	t.Helper()
	engine, database := enginetest.Engine(t), enginetest.Database(t)
	r := &restaurant{database: database, seen: &recording{}, now: time.Now}
	var err error
	if r.sink, err = clickhouse.Open(t.Context(), clickhouse.Options{Dial: engine.Dial, Database: database}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.sink.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := r.sink.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	simulated.KeepRuns(t, database)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		r.box, err = sandbox.New(sandbox.Options{
			Inspect: apicheck.Inspect(t),
			Now:     func() time.Time { return r.now() },
			Seed:    20, Orders: 12600, Days: 420, ProductsPer: 80, Pace: 1.1, Live: true, NoLimits: true, OnlineOrders: 15,
		})
		if err != nil {
			t.Fatal(err)
		}
		r.key = r.box.Key(0, sandbox.RoleMain).Value
		r.seen.way = r.box.Transport()
		r.live(t, clickhouse.Options{Dial: simulated.WayOut(t, engine.Path()), Database: database})
	})
	r.now = func() time.Time { return evening }
	clock.Set(t, database)
	r.reader = enginetest.Reading(t, engine, database)
	return r
}

// live runs the daemon while things happen, and ends it in the evening.
func (r *restaurant) live(t *testing.T, way clickhouse.Options) {
	sink, err := clickhouse.Open(t.Context(), way)
	if err != nil {
		t.Fatal(err)
	}
	var problems bytes.Buffer
	y, err := syncer.New(syncer.Options{
		Exclusive: true, Sink: sink,
		Sources: []syncer.Source{{Name: "bistro", BaseURL: "http://api.test/v1", Key: func() string { return r.key }}},
		// Seldom, since every flush costs the engine tens of milliseconds.
		Schedule: syncer.Schedule{Incremental: "@every 6h", OnlineOrders: "@every 1m", Snapshots: "@every 24h", Reconcile: "45 18 * * *", ReconcileDeep: "30 3 3 11 *", FullResync: "0 4 1 1 *"},
		API:      api.Options{Transport: r.seen, Jitter: func() float64 { return 0.5 }},
		Logger:   slog.New(slog.NewTextHandler(&problems, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- y.Run(ctx) }()
	r.happen(t)
	time.Sleep(time.Until(evening))
	synctest.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// What the restaurant has done since the last walk comes with one pass more.
	if report, err := y.RunOnce(t.Context(), syncer.Selection{Streams: []string{"sales_orders", "products", "ingredients", "menus"}}, nil); err != nil || report.Err() != nil {
		t.Errorf("pass: %v, %v", err, report.Err())
	}
	if err := sink.Close(context.Background()); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(problems.String()) {
		if !strings.Contains(line, "kept in quarantine") { // of the row that the last question asks about
			t.Errorf("the daemon warns of: %s", line)
		}
	}
}
