package app

import (
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

// sources reads the keys of all sources. Its errors name every key that cannot be
// read: they are the configuration's.
func (a *App) sources() ([]syncer.Source, error) { return a.sourcesAfter(nil) }

// sourcesAfter is sources, leaving out the keys that are kept: those of sources whose
// keys are where they were.
func (a *App) sourcesAfter(kept map[string]keptSource) ([]syncer.Source, error) {
	var all []syncer.Source
	a.secrets = map[string]func() []string{}
	wrong := &config.Error{File: a.cfg.File}
	for i := range a.cfg.Sources {
		s, err := a.source(&a.cfg.Sources[i], kept)
		if err != nil {
			wrong.Problems = append(wrong.Problems, a.cfg.NoKey(&a.cfg.Sources[i], err))
			continue
		}
		all = append(all, s)
	}
	if len(wrong.Problems) > 0 {
		return nil, wrong
	}
	return all, nil
}

func (a *App) source(s *config.Source, kept map[string]keptSource) (syncer.Source, error) {
	source := syncer.Source{
		Name: s.Name, BaseURL: s.BaseURL,
		Streams: s.Streams, Locations: s.Locations, BudgetShare: s.BudgetShare, ErasesBeyond: s.PersonalDataWritten,
	}
	var err error
	if source.Personal, err = a.personalPolicy(s); err != nil {
		return syncer.Source{}, &config.SecretError{Setting: "warehouse.personal_data_key_file", Err: err}
	}
	secrets, err := a.webhookSecrets(s)
	if err != nil {
		return syncer.Source{}, err
	}
	if secrets != nil {
		a.secrets[s.Name] = secrets
	}
	if old, ok := kept[s.Name]; ok {
		if s.SameKey(old.cfg) {
			source.Key, source.NextKey, source.Revision = old.source.Key, old.source.NextKey, old.source.Revision
			return source, nil
		}
		source.Revision = old.source.Revision + 1
	}
	first, err := newKey("key", s.Name, s.KeyFile, s.ReadKey, a.log)
	if err != nil {
		return syncer.Source{}, err
	}
	source.Key = first.reveal
	if s.NextKeyFile != "" {
		next, err := newKey("key", s.Name, s.NextKeyFile, s.ReadNextKey, a.log)
		if err != nil {
			return syncer.Source{}, &config.SecretError{Setting: "next_key_file", Err: err}
		}
		source.NextKey = next.reveal
	}
	return source, nil
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
