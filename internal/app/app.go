package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/status"
)

// App carries out the commands for one configuration.
type App struct {
	warehouse.Opener
	version string

	api         api.Options                 // template of the clients, which share its memory
	settleAfter time.Duration               // as in [syncer.Options]; shorter in tests
	keys        map[string]credentials.Keys // by source
	limits      budget.Limits               // until a key's own are known; tests of a service without limits know them
}

// New returns an App; nothing is opened yet.
func New(cfg *config.Config, log *slog.Logger, version string) *App {
	return &App{
		Opener: warehouse.Opener{Config: cfg, Log: log}, version: version,
		api: api.Options{UserAgent: "larder/" + version, Memory: api.NewMemory(api.DefaultMemory)},
	}
}

// reader reads what the configuration says of sources.
func (a *App) reader() credentials.Reader { return credentials.Reader{Config: a.Config, Log: a.Log} }

// sources reads the sources, but not anew the keys that are where they were before.
func (a *App) sources(before map[string]credentials.Keys) (sources []syncer.Source, err error) {
	sources, a.keys, err = a.reader().Read(before)
	return sources, err
}

// checkSelection refuses names that a configuration does not know.
func checkSelection(c *config.Config, sel syncer.Selection) error {
	var names []string
	for i := range c.Sources {
		names = append(names, c.Sources[i].Name)
	}
	for _, s := range sel.Sources {
		if !slices.Contains(names, s) {
			return lifecycle.UsageError(fmt.Errorf("--source %q is not configured; configured are %s", s, strings.Join(names, ", ")))
		}
	}
	for _, s := range sel.Streams {
		if !slices.Contains(config.Streams, s) {
			return lifecycle.UsageError(fmt.Errorf("--stream %q is unknown; known are %s", s, strings.Join(config.Streams, ", ")))
		}
	}
	return nil
}

// Checker tries everything that `larder run` needs.
func (a *App) Checker() check.Checker {
	return check.Checker{Warehouse: &a.Opener, API: a.api, Sources: a.reader(), Daemon: a.daemonStatus, Replaced: a.folderReplaced}
}

// newSyncer makes the syncer; all its sources share one pool of connections.
func (a *App) newSyncer(l *lifecycle.Cleanups, sources []syncer.Source, sink *clickhouse.Sink, registerer prometheus.Registerer, warehouse func() status.Warehouse) (*syncer.Syncer, error) {
	transport := api.Renewed(func() *http.Transport { return api.NewTransport(a.api.Timeouts) })
	l.Add("connections to the API", time.Second, func(context.Context) error {
		transport.CloseIdleConnections()
		return nil
	})
	return a.syncer(transport, syncer.Options{
		Sources: sources, Sink: sink, Shard: syncer.Shard(a.Config.Shard), Registerer: registerer, Warehouse: warehouse,
		MetricsDetail: a.Config.Metrics.Detail,
		SettleAfter:   a.settleAfter, Ledger: budget.NewLedger(budget.Options{Limits: a.limits, Log: a.Log}),
	})
}

// Through makes a syncer whose requests go through a RoundTripper instead of the network.
func (a *App) Through(way http.RoundTripper, sources []syncer.Source, sink *clickhouse.Sink) (*syncer.Syncer, error) {
	return a.syncer(way, syncer.Options{Sources: sources, Sink: sink, Exclusive: true})
}

// syncer makes a syncer with these options and the ones that all have in common.
func (a *App) syncer(way http.RoundTripper, o syncer.Options) (*syncer.Syncer, error) {
	o.Schedule, o.FlushInterval = syncer.Schedule(a.Config.Schedule), a.Config.Warehouse.FlushInterval
	o.Process, o.Logger = a.thisProcess(), a.Log
	o.API = a.api
	o.API.Transport = way
	y, err := syncer.New(o)
	if err != nil {
		return nil, lifecycle.UsageError(err)
	}
	return y, nil
}

// thisProcess identifies this process for others on the same warehouse.
func (a *App) thisProcess() sinks.Process {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	return sinks.Process{ID: lease.ID(a.Config.Warehouse.DSN.Embedded()), Name: fmt.Sprintf("%s, process %d", host, os.Getpid())}
}
