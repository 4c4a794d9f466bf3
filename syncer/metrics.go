package syncer

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// metrics are the counters that walks move; what can be read off the state is
// collected from [Syncer.Status] when asked for.
type metrics struct {
	detail      bool
	rows        *prometheus.CounterVec
	pages       *prometheus.CounterVec
	requests    *prometheus.CounterVec
	rateLimited *prometheus.CounterVec
	walks       *prometheus.HistogramVec
	panics      prometheus.Counter
}

func newMetrics(detail bool) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &metrics{
		detail:      detail,
		rows:        counter("larder_rows_total", "Rows received, by what became of them.", "source", "stream", "kind"),
		pages:       counter("larder_pages_total", "Pages of lists received.", "source", "stream", "walk"),
		requests:    counter("larder_api_requests_total", "Requests sent to the API, by route and answer; code 0 is no answer.", "source", "route", "code"),
		rateLimited: counter("larder_api_rate_limited_total", "Answers 429 of the API.", "source"),
		walks: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "larder_walk_seconds", Help: "Time of a walk from its first request to durable, by stream and kind of walk.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 6 * 3600, 24 * 3600},
		}, []string{"stream", "walk", "result"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "larder_walk_panics_total", Help: "Faults in Larder, each of which ended a walk or began its source anew; the log has the stack."}),
	}
}

func (m *metrics) register(r prometheus.Registerer, s *Syncer) error {
	if r == nil {
		return nil
	}
	for _, c := range append(shardGauges(s), m.rows, m.pages, m.requests, m.rateLimited, m.walks, m.panics, gauges{s}) {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// Counters are there from the start: rate() of Prometheus sees no first event of a
// series that begins with it. Of the answers, those are that alerts are about.
var (
	rowKinds = []string{"upsert", "tombstone", "unchanged", "quarantined"}
	answers  = []int{0, 200, 429, 500, 503}
	refusals = []int{401, 403} // of the key, which is asked about at one route
)

// label is the label source of a counter: without metrics.detail all sources share one that is empty,
// which Prometheus takes for none. Answers 429 are each source's own in both, for their alert.
func (m *metrics) label(source string) string {
	if m.detail {
		return source
	}
	return ""
}

// begin makes the counters of a source, of what it is configured to mirror.
func (m *metrics) begin(s *source) {
	label := m.label(s.cfg.Name)
	m.rateLimited.WithLabelValues(s.cfg.Name)
	m.answers(label, registry.RouteKey, slices.Concat(refusals, answers))
	for _, st := range s.streams {
		if !st.Configured() {
			continue
		}
		for _, kind := range rowKinds {
			m.rows.WithLabelValues(label, st.Def.Name, kind)
		}
		for _, walk := range st.Def.Walks() {
			m.pages.WithLabelValues(label, st.Def.Name, walk)
			m.walks.WithLabelValues(st.Def.Name, walk, "ok")
			m.walks.WithLabelValues(st.Def.Name, walk, "error")
		}
		for _, route := range st.Def.Routes {
			m.answers(label, route, answers)
			if st.Def.Kind == registry.MenuKind {
				m.answers(label, route, []int{304})
			}
		}
	}
}

func (m *metrics) answers(source, route string, codes []int) {
	for _, code := range codes {
		m.requests.WithLabelValues(source, route, strconv.Itoa(code))
	}
}

// forget drops the series of a source that is served no more.
func (m *metrics) forget(source string) {
	for _, c := range []*prometheus.CounterVec{m.rows, m.pages, m.requests, m.rateLimited} {
		c.DeletePartialMatch(prometheus.Labels{"source": source})
	}
}

// Paged counts a page.
func (m *metrics) Paged(source, stream, walk string) {
	m.pages.WithLabelValues(m.label(source), stream, walk).Inc()
}

func (m *metrics) Walked(stream, walk string, err error, took time.Duration) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.walks.WithLabelValues(stream, walk, result).Observe(took.Seconds())
}

// counters count what all lives of a source do, for its status and for the metrics.
type counters struct {
	*metrics
	mu            sync.Mutex // guards what follows
	asks, limited uint64
	written       map[string]uint64 // rows and tombstones, by stream
}

func (n *counters) requested(source, route string, code int) {
	n.requests.WithLabelValues(n.label(source), route, strconv.Itoa(code)).Inc()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asks++
	if code == http.StatusTooManyRequests {
		n.rateLimited.WithLabelValues(source).Inc()
		n.limited++
	}
}

// Counted implements stream.Meter: it adds what became of a page's rows.
func (n *counters) Counted(source, stream string, c write.Counts) {
	for i, rows := range []uint64{c.Upserts, c.Tombstones, c.Unchanged, c.Quarantined} {
		if rows > 0 {
			n.rows.WithLabelValues(n.label(source), stream, rowKinds[i]).Add(float64(rows))
		}
	}
	if written := c.Upserts + c.Tombstones; written > 0 {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.written[stream] += written
	}
}

func (n *counters) read() (asks, limited uint64, written map[string]uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asks, n.limited, maps.Clone(n.written)
}

// gauges reads the state of every source off one status.
type gauges struct{ syncer *Syncer }

// setter gives a gauge its value, under the labels of its own. own: something is wrong, so the source
// has a series even without metrics.detail, and an alert names it.
type setter = func(own bool, v float64, labels ...string)

// gauge is one metric of a T: value sets it, or leaves it out. Without metrics.detail, all sources that
// need no series of their own share one, whose label source is empty and whose value is joined.
type gauge[T any] struct {
	desc  *prometheus.Desc
	join  func(x, y float64) float64
	value func(of T, set setter)
}

func sum(x, y float64) float64 { return x + y }

// sourceGauge has the label source, streamGauge also stream.
func sourceGauge(name, help string, join func(x, y float64) float64, value func(status.SourceStatus, setter), labels ...string) gauge[status.SourceStatus] {
	return gauge[status.SourceStatus]{prometheus.NewDesc(name, help, append([]string{"source"}, labels...), nil), join, value}
}

func streamGauge(name, help string, join func(x, y float64) float64, value func(status.StreamStatus, setter), labels ...string) gauge[status.StreamStatus] {
	return gauge[status.StreamStatus]{prometheus.NewDesc(name, help, append([]string{"source", "stream"}, labels...), nil), join, value}
}

// From these ages on, a source has a series of its own: each a day before its alert fires.
const (
	proofIsOld  = 2 * 24 * time.Hour
	resyncIsOld = 14 * 24 * time.Hour
)

// Of a source that another process serves there are only these.
var sourceGauges = []gauge[status.SourceStatus]{
	sourceGauge("larder_source_held", "1 while this process serves the source, 0 while it waits for another process that does; each source has its series.", sum, func(s status.SourceStatus, set setter) {
		set(true, oneIf(s.State != status.StateWaiting))
	}),
	sourceGauge("larder_source_health", "1 for the worst that is the matter with the source: up_to_date only when it is fresh and proven and nothing of it is in quarantine.", sum, func(s status.SourceStatus, set setter) {
		kind := s.Health().Kind
		set(kind != status.HealthGood && kind != status.HealthWaiting, 1, kind)
	}, "health"),
}

var servedGauges = []gauge[status.SourceStatus]{
	sourceGauge("larder_source_up", "1 when the API answers the source's key, 0 when the source is in trouble; absent while another process serves it.", sum, func(s status.SourceStatus, set setter) {
		set(!s.Up, oneIf(s.Up))
	}),
	sourceGauge("larder_budget_remaining", "Requests that the limits still allow in this minute; of several sources the fewest.", math.Min, func(s status.SourceStatus, set setter) {
		set(false, float64(s.Budget.KeyLimit-s.Budget.KeyUsed), "key")
		set(false, float64(s.Budget.BusinessLimit-s.Budget.BusinessUsed), "business")
		set(false, float64(s.Budget.HeavyLimit-s.Budget.HeavyUsed), "heavy")
	}, "limit"),
	sourceGauge("larder_drift_days", "Days of the last 92 that differ from what the service reports, after healing; absent before the first verdict.", sum, func(s status.SourceStatus, set setter) {
		if s.Proof != nil {
			set(s.Proof.DriftDays > 0, float64(s.Proof.DriftDays))
		}
	}),
	sourceGauge("larder_proven_until_timestamp_seconds", "End of the last day up to which every day of the last 92 is proven, of several sources the earliest; absent before the first.", math.Min, func(s status.SourceStatus, set setter) {
		if s.Proof == nil {
			return
		}
		if day, err := time.ParseInLocation(time.DateOnly, s.Proof.ProvenUntil, schedule.Zone()); err == nil {
			end := day.AddDate(0, 0, 1)
			set(time.Since(end) > proofIsOld, seconds(end))
		}
	}),
}

var streamGauges = []gauge[status.StreamStatus]{
	streamGauge("larder_stream_state", "1 for the state the stream is in; of several sources their number.", sum, func(st status.StreamStatus, set setter) {
		set(false, 1, st.State)
	}, "state"),
	streamGauge("larder_stream_behind", "1 when no walk of the stream has ended well for longer than its schedule explains, else 0.", sum, func(st status.StreamStatus, set setter) {
		set(st.Behind, oneIf(st.Behind))
	}),
	streamGauge("larder_stream_lag_seconds", "Time since the end of the stream's last good walk, of several sources the longest; absent before the first.", math.Max, func(st status.StreamStatus, set setter) {
		if st.Lag >= 0 {
			set(st.Behind, st.Lag.Duration().Seconds())
		}
	}),
	streamGauge("larder_stream_watermark_timestamp_seconds", "Newest updated_at mirrored; absent before the first.", math.Max, func(st status.StreamStatus, set setter) {
		if !st.Watermark.IsZero() {
			set(false, seconds(st.Watermark))
		}
	}),
	streamGauge("larder_full_resync_timestamp_seconds", "End of the stream's last full resync, of several sources the earliest; absent before the first.", math.Min, func(st status.StreamStatus, set setter) {
		if !st.LastResync.IsZero() {
			set(time.Since(st.LastResync) > resyncIsOld, seconds(st.LastResync))
		}
	}),
	streamGauge("larder_quarantine_rows", "Quarantine entries open now.", sum, func(st status.StreamStatus, set setter) {
		set(st.Quarantined > 0, float64(st.Quarantined))
	}),
	streamGauge("larder_sweep_held_rows", "Live rows that a full resync did not see and whose removal waits for a person; 0 when nothing waits.", sum, func(st status.StreamStatus, set setter) {
		rows := 0.0
		if st.SweepHeld != nil {
			rows = float64(st.SweepHeld.Rows)
		}
		set(rows > 0, rows)
	}),
	streamGauge("larder_walk_requests_left", "Requests that a backfill, full resync or deep run still needs; absent when none is under way, or it is not known.", sum, func(st status.StreamStatus, set setter) {
		if p := st.Progress; p != nil && p.RequestsLeft > 0 {
			set(false, float64(p.RequestsLeft), p.Walk)
		}
	}, "walk"),
	streamGauge("larder_walk_expected_left_seconds", "Time that it still needs, as the limits allow now, of several sources the longest; absent likewise.", math.Max, func(st status.StreamStatus, set setter) {
		if p := st.Progress; p != nil && p.RequestsLeft > 0 {
			set(false, p.ExpectedLeft.Duration().Seconds(), p.Walk)
		}
	}, "walk"),
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// seconds is an instant as Prometheus writes it, in seconds since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Describe implements prometheus.Collector.
func (g gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, of := range slices.Concat(sourceGauges, servedGauges) {
		ch <- of.desc
	}
	for _, of := range streamGauges {
		ch <- of.desc
	}
}

// Collect implements prometheus.Collector.
func (g gauges) Collect(ch chan<- prometheus.Metric) {
	for of, v := range gather(g.syncer.Status().Sources, g.syncer.opts.MetricsDetail).values {
		ch <- prometheus.MustNewConstMetric(of.desc, prometheus.GaugeValue, v, of.labels[:of.count]...)
	}
}

// gaugeValues are the values of all gauges.
type gaugeValues struct {
	detail bool
	values map[labelled]float64
}

// labelled is a gauge with its labels: the source, the stream if it has one, and one of its own.
type labelled struct {
	desc   *prometheus.Desc
	labels [3]string
	count  int
}

func gather(sources []status.SourceStatus, detail bool) gaugeValues {
	all := gaugeValues{detail, map[labelled]float64{}}
	for _, s := range sources {
		collect(all, sourceGauges, s, s.Name)
		if s.State == status.StateWaiting {
			continue // what this process knows of it is old
		}
		collect(all, servedGauges, s, s.Name)
		for _, st := range s.Streams {
			collect(all, streamGauges, st, s.Name, st.Name)
		}
	}
	return all
}

func collect[T any](all gaugeValues, gauges []gauge[T], of T, names ...string) {
	for _, g := range gauges {
		g.value(of, func(own bool, v float64, labels ...string) {
			key := labelled{desc: g.desc, count: len(names) + len(labels)}
			copy(key.labels[copy(key.labels[:], names):], labels)
			if !own && !all.detail {
				key.labels[0] = ""
			}
			if before, shared := all.values[key]; shared {
				v = g.join(before, v)
			}
			all.values[key] = v
		})
	}
}
