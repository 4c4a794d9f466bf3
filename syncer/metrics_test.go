package syncer

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Each gauge has a value of a status that lacks nothing, and as many labels as it was described
// with: else it would end the daemon, when it is scraped for the first time that it has one.
func TestEveryGaugeTakesItsLabels(t *testing.T) {
	now := time.Now()
	source := status.SourceStatus{State: status.StateRunning, Proof: &status.ProofStatus{ProvenUntil: "2026-03-01"}}
	stream := status.StreamStatus{
		State: status.StateRunning, Watermark: now, LastSuccess: now, LastErrorAt: now, LastResync: now, Next: now,
		SweepHeld: &status.SweepHeld{Rows: 1}, Progress: &status.Progress{Walk: "full", RequestsLeft: 1, Suspects: 1},
	}
	takeLabels(t, sourceGauges, source, "s")
	takeLabels(t, servedGauges, source, "s")
	takeLabels(t, streamGauges, stream, "s", "st")
}

func takeLabels[T any](t *testing.T, gauges []gauge[T], of T, names ...string) {
	t.Helper()
	for _, g := range gauges {
		set := false
		g.value(of, func(_ bool, v float64, labels ...string) {
			set = true
			if _, err := prometheus.NewConstMetric(g.desc, prometheus.GaugeValue, v, slices.Concat(names, labels)...); err != nil {
				t.Errorf("%s: %v", g.desc, err)
			}
		})
		if !set {
			t.Errorf("%s has no value: give the status what it reads", g.desc)
		}
	}
}

// well is the status of a source in which nothing is wrong.
func well(name string) status.SourceStatus {
	s := status.SourceStatus{Name: name, State: status.StateRunning, Up: true, Proof: &status.ProofStatus{ProvenUntil: time.Now().AddDate(0, 0, -1).Format(time.DateOnly)}}
	s.Budget = status.BudgetStatus{KeyUsed: 20, KeyLimit: 120, HeavyLimit: 30, BusinessLimit: 600}
	for _, def := range registry.All() {
		s.Streams = append(s.Streams, status.StreamStatus{Name: def.Name, State: status.StateRunning, Lag: status.Seconds(10 * time.Second), Watermark: time.Now(), LastResync: time.Now()})
	}
	return s
}

// named are the series with a source's name, and their values.
func named(all gaugeValues, source string) map[string]float64 {
	found := map[string]float64{}
	for of, v := range all.values {
		labels := of.labels[:of.count]
		if labels[0] == source {
			name, _, _ := strings.Cut(strings.TrimPrefix(of.desc.String(), `Desc{fqName: "larder_`), `"`)
			found[strings.Join(append([]string{name}, labels[1:]...), " ")] = v
		}
	}
	return found
}

func TestSourcesThatAreWellShareTheirSeries(t *testing.T) {
	var sources []status.SourceStatus
	for i := range 1000 {
		sources = append(sources, well(fmt.Sprintf("r%d", i)))
	}
	sources[7].Budget.KeyUsed, sources[7].Streams[2].Lag = 119, status.Seconds(25*time.Second)
	all := gather(sources, false)
	if n := len(all.values); n > 1000+100 {
		t.Errorf("%d series of 1,000 sources", n)
	}
	shared := named(all, "")
	for name, want := range map[string]float64{
		"source_up": 1000, "source_health up_to_date": 1000, "drift_days": 0, "quarantine_rows products": 0, "budget_remaining key": 1,
		"stream_lag_seconds " + sources[7].Streams[2].Name: 25, "stream_state products running": 1000,
	} {
		if got, ok := shared[name]; got != want || !ok {
			t.Errorf("%s is %v (there: %v), want %v", name, got, ok, want)
		}
	}
	if own := named(all, "r7"); len(own) != 1 || own["source_held"] != 1 {
		t.Errorf("a source that is well has %v", own)
	}
	if detailed := named(gather(sources, true), "r7"); len(detailed) < 80 || detailed["stream_lag_seconds products"] != 10 {
		t.Errorf("with detail it has %v", detailed)
	}
}

func TestWhatIsWrongHasTheNameOfItsSource(t *testing.T) {
	old := time.Now().Add(-15*24*time.Hour + time.Minute)
	for want, wrong := range map[string]func(*status.SourceStatus){
		"source_up 0, source_health unserved 1": func(s *status.SourceStatus) { s.Up, s.State = false, status.StateUnreachable },
		"drift_days 3, source_health drift 1":   func(s *status.SourceStatus) { s.Proof.DriftDays = 3 },
		"quarantine_rows products 2, source_health quarantine 1": func(s *status.SourceStatus) {
			streamOf(s, "products").Quarantined = 2
		},
		"sweep_held_rows products 9, source_health sweep_held 1": func(s *status.SourceStatus) {
			st := streamOf(s, "products")
			st.State, st.SweepHeld = status.StateHeld, &status.SweepHeld{Rows: 9}
		},
		"stream_behind products 1, stream_lag_seconds products 900, source_health behind 1": func(s *status.SourceStatus) {
			st := streamOf(s, "products")
			st.Behind, st.Lag = true, status.Seconds(15*time.Minute)
		},
		fmt.Sprintf("full_resync_timestamp_seconds products %v", seconds(old)): func(s *status.SourceStatus) {
			streamOf(s, "products").LastResync = old
		},
	} {
		bad := well("bad")
		wrong(&bad)
		var got []string
		own := named(gather([]status.SourceStatus{well("good"), bad}, false), "bad")
		delete(own, "source_held")
		for name, v := range own {
			got = append(got, fmt.Sprint(name, " ", v))
		}
		all := strings.Split(want, ", ")
		slices.Sort(all)
		slices.Sort(got)
		if !slices.Equal(got, all) {
			t.Errorf("series of the source: %q, want %q", got, all)
		}
	}
	unproven := well("bad")
	unproven.Proof.ProvenUntil = time.Now().AddDate(0, 0, -4).Format(time.DateOnly)
	if own := named(gather([]status.SourceStatus{unproven}, false), "bad"); own["proven_until_timestamp_seconds"] == 0 {
		t.Errorf("series of a source that was proven four days ago: %v", own)
	}
}

func streamOf(s *status.SourceStatus, name string) *status.StreamStatus {
	return &s.Streams[slices.IndexFunc(s.Streams, func(st status.StreamStatus) bool { return st.Name == name })]
}

// What a process knows of a source that another one serves may be old, and must fire no alert.
func TestASourceThatWaitsHasNoFiguresOfItsOwn(t *testing.T) {
	s := well("r0")
	s.State, s.Proof.DriftDays, s.Streams[1].Quarantined = status.StateWaiting, 5, 7
	for _, detail := range []bool{false, true} {
		all := gather([]status.SourceStatus{s}, detail)
		if n := len(all.values); n != 2 || named(all, "r0")["source_held"] != 0 {
			t.Errorf("detail %v: %v %v", detail, named(all, "r0"), named(all, ""))
		}
	}
}

// begun are the counters of so many sources before anything was counted.
func begun(sources int, detail bool) *metrics {
	m, of := newMetrics(detail), &stream.Source{}
	var streams []*stream.Stream
	for _, def := range registry.All() {
		streams = append(streams, &stream.Stream{Source: of, Def: def})
	}
	for i := range sources {
		m.begin(&source{cfg: Source{Name: fmt.Sprintf("r%d", i)}, streams: streams})
	}
	return m
}

func TestSourcesShareTheirCounters(t *testing.T) {
	count := func(sources int, detail bool) (n int) {
		m, r := begun(sources, detail), prometheus.NewRegistry()
		r.MustRegister(m.rows, m.pages, m.requests, m.walks)
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			n += len(f.GetMetric())
		}
		return n
	}
	if one, many := count(1, false), count(100, false); one != many || one < 100 {
		t.Errorf("1 source has %d counters, and 100 have %d", one, many)
	}
	if one, many := count(1, true), count(10, true); many < 7*one {
		t.Errorf("with detail 1 source has %d counters, and 10 have %d", one, many)
	}
}

// The memory of the counters of 1,000 sources, in bytes that stay.
func BenchmarkBegin(b *testing.B) {
	for _, detail := range []bool{false, true} {
		b.Run(fmt.Sprintf("detail=%v", detail), func(b *testing.B) {
			var before, after runtime.MemStats
			for range b.N {
				runtime.GC()
				runtime.ReadMemStats(&before)
				m := begun(1000, detail)
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(m)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc), "live-B")
		})
	}
}
