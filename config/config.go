package config

import (
	"time"

	"github.com/larder-sync/larder/syncer/registry"
)

// Config is a whole configuration, valid once [Load] returned it.
type Config struct {
	Sources   []Source
	Warehouse Warehouse
	Schedule  Schedule
	Web       Web
	Webhooks  Webhooks
	Log       Log
	Shard     Shard

	// File is where it was read from; empty when no file was found.
	File string
	// Digest is that of the file's content.
	Digest Digest
	// Warnings are for the person who wrote it: allowed, but unwise or in vain.
	Warnings []string

	secretInside bool // a key or password stands in File itself

	secretsAt map[string]origin // of the options that name a file with a secret
}

// Source is one API key, hence one restaurant.
type Source struct {
	Name        string // unique, [a-z0-9_-]
	BaseURL     string // without a slash at the end
	KeyFile     string
	KeyEnv      string
	Key         Secret
	NextKeyFile string
	Streams     []string // empty: all that the key's scopes allow
	Locations   []string // empty: all that the key may use
	BudgetShare float64  // (0, 1]
	Webhook     Webhook
	// PersonalData is what of an online order's customer is stored: drop, pseudonymise, keep.
	PersonalData string
	// PersonalDataWritten: PersonalData was written down, and is not the default.
	PersonalDataWritten bool

	path string // sources.0
}

// Webhook takes order events at /webhooks/<source>.
type Webhook struct {
	SecretFile     string // empty: no webhooks are taken
	NextSecretFile string // its secret is taken, too
}

// Webhooks is the listener that takes them.
type Webhooks struct {
	Listen string // empty: off
}

// Warehouse is where the rows go.
type Warehouse struct {
	DSN          DSN
	PasswordFile string
	Database     string
	Cluster      string
	HTTPListen   string // embedded only; empty: off
	// HTTPUnconfined lets HTTPListen be served where the kernel cannot confine who asks.
	HTTPUnconfined bool
	FlushInterval  time.Duration
	FlushRows      int
	Memory         int64 // of the embedded engine, in bytes; 0: a share of what there is
	// PersonalDataKeyFile holds the key of pseudonyms; empty: see [Warehouse.PersonalKeyFile].
	PersonalDataKeyFile string
}

// Schedule holds cron expressions, or @every.
type Schedule struct {
	Incremental   string
	OnlineOrders  string
	Snapshots     string
	Reconcile     string
	ReconcileDeep string
	FullResync    string
}

// Web is the status page with metrics and health.
type Web struct {
	Listen       string // empty: off
	User         string
	PasswordFile string
}

// Log is how the program logs.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // text, json
}

// Shard is this process's part of the sources; package syncer decides which.
type Shard struct {
	Index, Count int
}

// Streams are the names that sources[].streams takes, in the order in which
// they are shown.
var Streams = registry.Names()
