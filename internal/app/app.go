package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/internal/memory"
	"github.com/larder-sync/larder/syncer"
)

// App carries out the commands for one configuration.
type App struct {
	reach
	version string

	api         api.Options                // template of the clients, which share its memory
	settleAfter time.Duration              // as in [syncer.Options]; shorter in tests
	secrets     map[string]func() []string // of webhooks, by source
	limits      budget.Limits              // until a key has told its own; tests of a service without limits know them
}

// New returns an App; nothing is opened yet.
func New(cfg *config.Config, log *slog.Logger, version string) *App {
	return &App{
		reach: reach{cfg: cfg, log: log, findMemory: memory.Find}, version: version,
		api: api.Options{UserAgent: "larder/" + version, Memory: api.NewMemory(api.DefaultMemory)},
	}
}

// schedule is the configuration's schedule in the syncer's terms.
func (a *App) schedule() syncer.Schedule {
	s := a.cfg.Schedule
	return syncer.Schedule{
		Incremental: s.Incremental, Snapshots: s.Snapshots,
		Reconcile: s.Reconcile, ReconcileDeep: s.ReconcileDeep,
		FullResync: s.FullResync, OnlineOrders: s.OnlineOrders,
	}
}

// reader reads what the configuration says of sources.
func (a *App) reader() Reader { return Reader{Config: a.cfg, Log: a.log} }

// sources reads the sources, but for the keys of kept ones that are where they were.
func (a *App) sources(kept map[string]Kept) ([]syncer.Source, error) {
	set, err := a.reader().Read(kept)
	a.secrets = set.Secrets
	return set.Sources, err
}

// checkSelection refuses names that the configuration does not know.
func (a *App) checkSelection(sel syncer.Selection) error {
	var names []string
	for i := range a.cfg.Sources {
		names = append(names, a.cfg.Sources[i].Name)
	}
	for _, s := range sel.Sources {
		if !slices.Contains(names, s) {
			return UsageError(fmt.Errorf("--source %q is not configured; configured are %s", s, strings.Join(names, ", ")))
		}
	}
	for _, s := range sel.Streams {
		if !slices.Contains(config.Streams, s) {
			return UsageError(fmt.Errorf("--stream %q is unknown; known are %s", s, strings.Join(config.Streams, ", ")))
		}
	}
	return nil
}

// Check tries everything that `larder run` needs and tells each finding. It
// returns a *CheckError when one is bad.
func (a *App) Check(ctx context.Context, tell func(Finding)) error {
	return a.checker().Run(ctx, tell)
}

func (a *App) checker() Checker { return Checker{Warehouse: &a.reach, API: a.api, Sources: a.reader()} }
