//go:build long

package syncer

import (
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/enginetest"
)

var updateFleet = flag.Bool("update", false, "fleet: write testdata/fleet.json anew")

const (
	fleetFile    = "testdata/fleet.json" // what each phase took
	fleetSources = 200
)

// What is counted in each phase, beside the INSERTs into each table.
const (
	countInserts      = "INSERTs"
	countSelects      = "SELECTs"
	countRowsInserted = "rows inserted"
	countRowsMerged   = "rows merged"
	countFsyncs       = "fsyncs"
	countRequests     = "requests to the service"
	countSeries       = "series of /metrics"           // at the end of the phase
	countStatusBytes  = "bytes of the sources' status" // at the end of the phase
)

// fleetEvents are the engine's counters.
var fleetEvents = map[string]string{
	"InsertQuery": countInserts, "SelectQuery": countSelects, "InsertedRows": countRowsInserted, "MergedRows": countRowsMerged,
	"FileSync": countFsyncs, "DirectorySync": countFsyncs,
}

// fleetCauses is where to look when a count is too high. What writes a table is behind the INSERTs into it.
var fleetCauses = map[string]string{
	countInserts:      "the INSERTs into each table, and sinks/clickhouse/queue.go, which has commits wait for each other",
	countSelects:      "sinks/clickhouse/batcher.go, which has questions share a statement, and syncer/schedule, whose turns come in groups",
	countRowsInserted: "the INSERTs into each table, and syncer/write, which leaves out rows that are stored",
	countRowsMerged:   "the INSERTs into each table, and the settings of merges in sinks/clickhouse/schema",
	countFsyncs:       "the INSERTs into each table, and the settings of tables in sinks/clickhouse/schema",
	countRequests:     "syncer/schedule, syncer/list and syncer/proof",
	countSeries:       "syncer/metrics.go: what has no label source without metrics.detail",
	countStatusBytes:  "syncer/status",
}

// fleetPhase is a phase, and what it took.
type fleetPhase struct {
	Name    string         `json:"phase"`
	Minutes int            `json:"minutes"`
	Counts  map[string]int `json:"counts"`
}

// TestFleet has 200 restaurants mirrored into a real engine in simulated time. It fails when a phase takes a fifth and ten
// more of something than testdata/fleet.json says. These counts do not depend on how fast the machine is.
//
// Merges do, a little: the engine decides on them by the number of parts and by its own clock, which hardly moves here.
// So rows merged are compared over all phases, and may be twice as many. The syncer has the warehouse for itself: no
// heartbeats are counted.
func TestFleet(t *testing.T) {
	engine, database := enginetest.Engine(t), enginetest.Database(t)
	if err := migrate(engine, database); err != nil {
		t.Fatal(err)
	}
	var phases []fleetPhase
	synctest.Test(t, func(t *testing.T) { phases = playFleet(t, engine.Path(), database) })
	if *updateFleet {
		text, err := json.MarshalIndent(phases, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fleetFile, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(fleetFile)
	if err != nil {
		t.Fatal(err)
	}
	var before []fleetPhase
	if err := json.Unmarshal(text, &before); err != nil {
		t.Fatalf("%s: %v", fleetFile, err)
	}
	if len(before) != len(phases) {
		t.Fatalf("%d phases, and %d in %s: write it anew with -update", len(phases), len(before), fleetFile)
	}
	for i, p := range phases {
		p.compare(t, before[i].Counts)
	}
}

// compare fails the test for each count that has become too high, or so low that it may grow twofold unseen or
// that the engine's counter has another name.
func (p fleetPhase) compare(t *testing.T, before map[string]int) {
	for what, was := range before {
		if n := p.Counts[what]; n < was/2-10 {
			t.Errorf("%s: only %d %s. It was %d: if less is taken, write that down with make fleet FLEET=-update", p.Name, n, what, was)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(p.Counts)) {
		n, was := p.Counts[what], before[what]
		bound := was + was/5 + 10
		if what == countRowsMerged {
			bound = 2 * was
		}
		if n > bound {
			t.Errorf("%s: %d %s, %.3g a minute and source. It was %d, and at most %d are allowed. See %s", p.Name, n, what,
				float64(n)/float64(p.Minutes)/fleetSources, was, bound, cmp.Or(fleetCauses[what], "what writes this table"))
		}
	}
}

// playFleet returns what each phase took.
func playFleet(t *testing.T, folder, database string) []fleetPhase {
	f := newFleet(t, folder, database)
	defer func() {
		f.halt()
		f.real.close()
		time.Sleep(time.Second) // a batch may still wait for other questions
	}()
	began := f.counters()
	f.run()
	f.phase("first mirror", 3, time.Sleep)
	if !f.filled() {
		t.Fatalf("not mirrored within 3 minutes: %s", f.describe())
	}
	f.phase("first deep runs", 15, time.Sleep)
	f.phase("rest", 15, time.Sleep)
	f.phase("restart", 2, func(length time.Duration) {
		f.halt()
		f.real.close()
		f.run()
		time.Sleep(length)
	})
	f.phase("15 orders a second for a minute", 2, func(length time.Duration) {
		random := rand.New(rand.NewPCG(31, 0)) //nolint:gosec // the same restaurants each time
		for range 15 * 60 {
			if _, err := f.box.Restaurant(random.IntN(fleetSources)).PlaceOrder(sandbox.OrderSpec{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second / 15)
		}
		time.Sleep(length - time.Minute)
	})
	merged := f.counters()[countRowsMerged] - began[countRowsMerged]
	return append(f.phases, fleetPhase{"all phases", 37, map[string]int{countRowsMerged: merged}})
}

// fleet is a syncer with many restaurants and a real engine.
type fleet struct {
	*world
	real     *realWarehouse
	registry *prometheus.Registry // of the syncer that runs
	phases   []fleetPhase
}

func newFleet(t *testing.T, folder, database string) *fleet {
	// Noon, so that no deep run of the night begins, in a year whose rows the engine does not drop for their age.
	time.Sleep(time.Until(time.Date(2050, time.March, 1, 10, 0, 0, 0, time.UTC)))
	box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 31, Businesses: fleetSources, LocationsPer: 1, Orders: 20, Days: 30, ProductsPer: 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{world: newWorld(t, box.Handler()), real: newRealWarehouse(t, scenario{flush: time.Second}, folder, database)}
	f.box = box
	f.tune = func(o *Options) {
		f.registry = prometheus.NewRegistry()
		o.Sink, o.Registerer = f.real.open(), f.registry
	}
	return f
}

// phase counts what is taken while something is done.
func (f *fleet) phase(name string, minutes int, do func(length time.Duration)) {
	before := f.counters()
	do(time.Duration(minutes) * time.Minute)
	took := f.counters()
	for what, n := range before {
		took[what] -= n
	}
	delete(took, countRowsMerged) // see TestFleet
	maps.DeleteFunc(took, func(_ string, n int) bool { return n == 0 })
	took[countSeries], took[countStatusBytes] = f.series(), len(f.describe())
	f.phases = append(f.phases, fleetPhase{name, minutes, took})
}

// counters are what has been counted so far, the few statements of the test itself included.
func (f *fleet) counters() map[string]int {
	all := map[string]int{countRequests: f.box.Stats().Requests}
	f.count("SELECT event AS what, toInt32(value) AS n FROM system.events", func(event string, n int) {
		if what := fleetEvents[event]; what != "" {
			all[what] += n
		}
	})
	// Each INSERT takes the next number for its block of rows.
	f.count("SELECT table AS what, toInt32(max(max_block_number)) AS n FROM system.parts WHERE database = '"+f.real.database+"_raw' GROUP BY table", func(table string, n int) {
		all["INSERTs into "+table] = n
	})
	return all
}

func (f *fleet) count(sql string, counter func(what string, n int)) {
	f.real.ask(sql, func(line []byte) {
		var row struct {
			What string
			N    int
		}
		if err := json.Unmarshal(line, &row); err != nil {
			f.t.Fatalf("%s: %v", line, err)
		}
		counter(row.What, row.N)
	})
}

// series is how many /metrics has.
func (f *fleet) series() (n int) {
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(f.registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	for line := range strings.Lines(answer.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}
