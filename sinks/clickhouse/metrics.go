package clickhouse

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// metrics are the sink's own.
type metrics struct {
	rows       *prometheus.CounterVec
	bytes      *prometheus.CounterVec
	statements *prometheus.HistogramVec
	flushRows  prometheus.Histogram
	flushTime  prometheus.Histogram
	retries    prometheus.Counter
	gauges     []prometheus.Collector
}

func newMetrics(s *Sink) *metrics {
	const prefix = "larder_sink_"
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help}, value)
	}
	return &metrics{
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "rows_total",
			Help: "Rows written to the warehouse, by table and kind (rows, tombstones, quarantine, drift, checkpoints, runs, statuses)."}, []string{"table", "kind"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "bytes_total",
			Help: "Bytes sent to the warehouse, by table."}, []string{"table"}),
		statements: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + "insert_duration_seconds",
			Help: "Time that one INSERT took, by kind.", Buckets: prometheus.ExponentialBuckets(0.002, 2.5, 11)}, []string{"kind"}),
		flushRows: prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "flush_rows",
			Help: "Rows and tombstones in one flush.", Buckets: prometheus.ExponentialBuckets(1, 8, 8)}),
		flushTime: prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "flush_duration_seconds",
			Help: "Time from the beginning of a flush until all of it was durable, retries included.", Buckets: prometheus.ExponentialBuckets(0.005, 2.5, 12)}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "flush_retries_total",
			Help: "Attempts to flush that failed and were tried again."}),
		gauges: []prometheus.Collector{
			gauge("queue_bytes", "Bytes of commits that wait to be flushed.", func() float64 { _, _, n := s.flusher.queue.load(); return float64(n) }),
			gauge("queue_rows", "Rows that wait to be flushed.", func() float64 { _, n, _ := s.flusher.queue.load(); return float64(n) }),
			gauge("queue_commits", "Commits that wait to be flushed.", func() float64 { n, _, _ := s.flusher.queue.load(); return float64(n) }),
			gauge("queue_limit_bytes", "Bytes of commits that may wait or be under way; writers wait beyond it.", func() float64 { return float64(s.flusher.queue.limit) }),
			gauge("failing", "1 while the warehouse does not take rows.", func() float64 {
				if s.Health() != nil || s.warehouse.Outage.Lasts() {
					return 1
				}
				return 0
			}),
		},
	}
}

// begin makes the counters, so that rate() of Prometheus sees the first event of each.
func (m *metrics) begin() {
	for _, table := range schema.StreamTables {
		m.written(table, "rows")
		m.written(table, "tombstones")
	}
	for _, k := range ownKinds {
		m.written(k.table, k.what)
	}
}

func (m *metrics) written(table, what string) {
	m.rows.WithLabelValues(table, what)
	m.bytes.WithLabelValues(table)
	m.statements.WithLabelValues(what)
}

// ownKinds are what is written to Larder's own tables, as steps name it.
var ownKinds = []struct{ what, table string }{
	{"quarantine", quarantineTable.Name}, {"drift", driftTable.Name}, {"verdicts", proofTable.Name},
	{"checkpoints", checkpointTable.Name}, {"runs", runTable.Name}, {"statuses", statusTable.Name},
}

func (m *metrics) collectors() []prometheus.Collector {
	return append([]prometheus.Collector{m.rows, m.bytes, m.statements, m.flushRows, m.flushTime, m.retries}, m.gauges...)
}

func (m *metrics) register(r prometheus.Registerer) error {
	for _, c := range m.collectors() {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *metrics) unregister(r prometheus.Registerer) {
	if r == nil {
		return
	}
	for _, c := range m.collectors() {
		r.Unregister(c)
	}
}

func (m *metrics) wrote(s step, bytes int64, took time.Duration) {
	m.rows.WithLabelValues(s.table, s.what).Add(float64(s.rows))
	m.bytes.WithLabelValues(s.table).Add(float64(bytes))
	m.statements.WithLabelValues(s.what).Observe(took.Seconds())
}

func (m *metrics) flushed(commits []*queued, took time.Duration) {
	rows := 0
	for _, item := range commits {
		rows += item.rows
	}
	m.flushRows.Observe(float64(rows))
	m.flushTime.Observe(took.Seconds())
}
