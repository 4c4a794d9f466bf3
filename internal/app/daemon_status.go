package app

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/internal/web"
	"github.com/larder-sync/larder/syncer/status"
)

// PageURL is where the status page is; empty: it is off.
func (d *Daemon) PageURL() string {
	if d.page == nil {
		return ""
	}
	return d.page.URL()
}

// QueryURL is where readers ask the embedded warehouse; empty: nowhere.
func (d *Daemon) QueryURL() string { return d.queryURL }

func (d *Daemon) about() web.About {
	return web.About{Version: d.app.version, Warehouse: d.app.Config.Warehouse.DSN.String(), QueryURL: d.queryURL}
}

func (d *Daemon) setProblem(text string) {
	d.manager.setStatus(cmp.Or(text, "Mirroring."))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.problem = text
}

// Status is the syncer's status; before there is a syncer, its sources are starting.
func (d *Daemon) Status() status.Status {
	d.mu.Lock()
	y, sources, problem, current := d.syncer, d.sources, d.problem, d.current
	d.mu.Unlock()
	s := status.Status{Now: time.Now(), StartedAt: d.started}
	if y != nil {
		s = y.Status()
		d.held.fill(&s)
		for i := range s.Sources {
			s.Sources[i].LastPing = d.receiver.LastPing(s.Sources[i].Name)
		}
	}
	s.Warnings = slices.Clone(current.Config.Warnings)
	var unread []string
	for i := range sources {
		unread = append(unread, current.keys[sources[i].Name].Problems()...)
	}
	s.Warnings = append(s.Warnings, text.Few(unread)...)
	if problem != "" {
		s.WarehouseUnavailable, s.Problems = true, []string{problem}
	}
	damages := d.app.Damages(d.route).Problems()
	s.Problems = slices.Concat(s.Problems, d.route.Problems(), damages)
	s.FolderLost, s.Damaged = d.route.Health() != nil, len(damages) > 0
	if refusal := d.reloader.refusal(); refusal != "" {
		s.Refused, s.Problems = true, append(s.Problems, refusal)
	}
	if y != nil {
		return s
	}
	for i := range sources {
		s.Sources = append(s.Sources, status.SourceStatus{
			Name: sources[i].Name, State: status.StateStarting, Since: d.started,
			Detail: "The warehouse is being opened.",
		})
	}
	d.warehouse().Mark(&s)
	return s
}

// warehouse is what is known of it beside what the walks say.
func (d *Daemon) warehouse() status.Warehouse {
	d.mu.Lock()
	away := d.problem != ""
	d.mu.Unlock()
	return status.Warehouse{Unavailable: away, Damaged: d.app.Damages(d.route).Streams()}
}

// newRegistry is where all metrics go.
func (d *Daemon) newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	ends := func(role string, number func() int) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "larder_engine_ends_total", Help: "How often a process of the embedded engine has ended by itself, was ended since it did not answer, or could not be started.",
			ConstLabels: prometheus.Labels{"role": role},
		}, func() float64 { return float64(number()) })
	}
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "larder_build_info", Help: "Always 1; the version is a label.", ConstLabels: prometheus.Labels{"version": d.app.version},
		}, func() float64 { return 1 }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "larder_warehouse_damaged_parts", Help: "Parts of the embedded warehouse's tables that are damaged and set aside, their rows not brought back yet.",
		}, func() float64 { return float64(len(d.app.Damages(d.route).Problems())) }),
		ends("writer", func() int { n, _ := d.route.Ends(); return n }),
		ends("reader", func() int { _, n := d.route.Ends(); return n }))
	return r
}
