// Package config is what can be configured. The struct [Config] is the schema: its fields have the
// keys, [defaults] their values, and their comments are the documentation. The package loads in
// layers (YAML, then environment, then --set). Validation names every problem at once, and secrets
// do not print.
//
// Contents: options and what makes their values right by themselves.
package config

import (
	"time"

	"github.com/larder-sync/larder/syncer/registry"
)

// Config is a whole configuration, valid once [Load] returned it. The comments of fields with a
// key are docs/configuration.md.
type Config struct {
	Sources   []Source  // decoded one by one
	Warehouse Warehouse `koanf:"warehouse"`
	Schedule  Schedule  `koanf:"schedule"`
	Web       Web       `koanf:"web"`
	Metrics   Metrics   `koanf:"metrics"`
	Webhooks  Webhooks  `koanf:"webhooks"`
	Log       Log       `koanf:"log"`
	Shard     Shard     `koanf:"shard"`

	// File is where it was read from; empty when no file was found.
	File string
	// Digest is the digest of the file's content.
	Digest Digest
	// Warnings are for the person who wrote it: allowed, but unwise or without effect.
	Warnings []string

	secretInside bool // File itself contains a key or a password
	origins      map[string]origin
}

// Source is one API key, hence one restaurant.
type Source struct {
	// Required. Unique name of the source, of `a-z`, `0-9`, `_` and `-`.
	Name string `koanf:"name"`
	// Required. Address of the API as the service gives it, prefix included: `https://host/v1`.
	BaseURL string `koanf:"base_url" kind:"URL"`
	// File with the API key and nothing else: white space around it and a byte order mark are
	// dropped; quotes, a name with `=` before it and invisible characters are refused, and the error
	// names them. Exactly one of `key_file`, `key_env` and `key` is needed.
	KeyFile string `koanf:"key_file" kind:"file"`
	// Name of the environment variable with the API key.
	KeyEnv string `koanf:"key_env"`
	// The API key itself. Discouraged: configuration files are copied around.
	Key Secret `koanf:"key"`
	// File with the key that is tried when the first one answers 401, and, when that is disabled, at
	// the next probe: a key can be rotated with 24 hours of overlap. It may appear later.
	NextKeyFile string `koanf:"next_key_file" kind:"file"`
	// Which streams to mirror; empty: all that the key's scopes allow. Known: see [Streams].
	Streams []string `koanf:"streams"`
	// Ids of the locations to mirror; empty: all that the key may use. Rows of others are dropped
	// when they arrive: lists are walked whole. A category that every location shares (its
	// `location_id` is null) is kept, and so are the key and the allergens. When the list is
	// changed, a full resync brings what was gained and removes what was lost. The service's totals, `sales_daily` and `sales_products`, are then asked for of each of
	// them.
	Locations []string `koanf:"locations"`
	// Part of every limit that Larder may use, above 0 and up to 1, when other programs share the
	// key.
	BudgetShare float64 `koanf:"budget_share"`
	// What of the people who order online is stored. `drop`: nothing; name, phone, e-mail, address,
	// notes, allergies, and every other text that people write, are null in rows and in their JSON.
	// `pseudonymise`: beside that the town, and `customer_key`, a keyed hash of the phone by which
	// returning customers can be counted. `keep`: all of it.
	PersonalData string  `koanf:"personal_data" allowed:"drop, pseudonymise, keep"`
	Webhook      Webhook `koanf:"webhook"`

	// PersonalDataWritten reports whether PersonalData was written down: it is not the default.
	PersonalDataWritten bool

	path string // sources.0
}

// Webhook takes order events at /webhooks/<source>.
type Webhook struct {
	// File with the webhook secret, which the service shows with the key: order events are taken at
	// `/webhooks/<name>` of `webhooks.listen`. A changed file is noticed within seconds.
	SecretFile string `koanf:"secret_file" kind:"file"`
	// File with a second secret that is taken, too, while the first is replaced. It may appear
	// later.
	NextSecretFile string `koanf:"next_secret_file" kind:"file"`
}

// Warehouse is where the rows go.
type Warehouse struct {
	// Which warehouse: `embedded:DIR` for the engine that Larder carries itself,
	// `clickhouse://USER:PASS@HOST:9000/DB?secure=true` (native protocol) or
	// `https://USER:PASS@HOST:8443/DB`. Better than a password here: `warehouse.password_file`.
	DSN DSN `koanf:"dsn"`
	// File with the warehouse's password; it takes the place of the one in the DSN. With the
	// embedded engine: the password that `warehouse.http_listen` asks for.
	PasswordFile string `koanf:"password_file" kind:"file"`
	// Database with the views that people query; the storage tables live in the one named
	// `<database>_raw`. When it is not set, the DSN's database is taken.
	Database string `koanf:"database"`
	// Set: every table is created `ON CLUSTER` as a replicated table, with a `Distributed` one on
	// top. Not with the embedded engine.
	Cluster string `koanf:"cluster"`
	// Embedded engine only: where it serves ClickHouse's HTTP interface, read-only, for Grafana and
	// BI tools. `""` is off. An address that others can reach needs `warehouse.password_file`; the
	// user is `default`. Without a password it answers as `localhost` or by its address only. What
	// readers may have is [bounded](operations.md#who-may-ask-and-for-how-much).
	HTTPListen string `koanf:"http_listen" kind:"address"`
	// Linux with Landlock keeps readers of `warehouse.http_listen` from every file but the
	// warehouse's. Where it is missing (macOS, kernels before 5.13, some containers)
	// `warehouse.http_listen` is refused at the start. With `true` it is served all the same:
	// readers change nothing, but read every file that Larder may read.
	HTTPUnconfined bool `koanf:"http_unconfined"`
	// Rows of all sources and streams wait at most this long for their common INSERT. Where INSERTs
	// follow each other, the rows of a scheduled walk wait four times as long, up to four seconds and at most
	// a third of the schedule's interval; pages of a backfill or full resync ten times, up to ten seconds.
	FlushInterval time.Duration `koanf:"flush_interval"`
	// A flush happens earlier when this many rows wait.
	FlushRows int `koanf:"flush_rows"`
	// Embedded engine only: the most memory that it may use, as in `512MiB` or `2GiB`; at least
	// 128MiB. Default: half of the memory limit of the container (the smallest cgroup limit that
	// holds for the process), without one a quarter of the machine's memory. `larder check` and the
	// log at the start show the figure, and which memory it is a part of.
	Memory Bytes `koanf:"memory"`
	// File with the key of the pseudonyms that `personal_data: pseudonymise` makes: any secret of at
	// least 16 characters. Who has it can tell whether a phone number is in the warehouse. With
	// another key all pseudonyms are others. Default with the embedded engine: a file beside the
	// data folder that has its name and ends in `.personal-data-key`, which is made when it is
	// missing. A remote warehouse needs one named here.
	PersonalDataKeyFile string `koanf:"personal_data_key_file" kind:"file"`
}

// Schedule has the times of everything that runs again and again.
type Schedule struct {
	// Walks of the lists that have a cursor.
	Incremental string `koanf:"incremental" kind:"schedule"`
	// Walks of the online orders placed through the key.
	OnlineOrders string `koanf:"online_orders" kind:"schedule"`
	// Lists without a cursor: locations, allergens, the menus of each location, and the key itself.
	Snapshots string `koanf:"snapshots" kind:"schedule"`
	// The service's totals of yesterday and today against the mirror's. With `off`, `sales_daily`
	// and `sales_products` follow at the turns of the two below only.
	Reconcile string `koanf:"reconcile" kind:"schedule or off"`
	// The totals of the last 92 days, per location. With `off` only a new mirror is compared, once.
	ReconcileDeep string `koanf:"reconcile_deep" kind:"schedule or off"`
	// A walk of everything, tombstones included. With `off`, rows that vanished without a tombstone
	// stay until `larder sync --full`.
	FullResync string `koanf:"full_resync" kind:"schedule or off"`
}

// Web is the status page with metrics and health.
type Web struct {
	// Where the status page, `/metrics`, `/healthz` and `/readyz` are served. `""` is off. Without
	// `web.user` it answers as `localhost`, by its address, and on a network by names without a dot.
	Listen string `koanf:"listen" kind:"address"`
	// Set, together with `web.password_file`: the page asks for this user (basic authentication).
	// `/healthz` and `/readyz` stay open.
	User string `koanf:"user"`
	// File with the password of `web.user`.
	PasswordFile string `koanf:"password_file" kind:"file"`
}

// Metrics is what `/metrics` has.
type Metrics struct {
	// `true`: each source has series of its own of every metric, some 200. `false`: sources share
	// them, and one in which something is wrong has its own of what is wrong, so that an alert names
	// it. See [metrics](operations.md#metrics).
	Detail bool `koanf:"detail"`
}

// Webhooks is the listener that takes webhooks.
type Webhooks struct {
	// Where the events of online orders are taken that the service sends: `/webhooks/<name of the
	// source>`, and nothing else is served there. `""` is off. The service sends to public `https`
	// addresses only: put a proxy or tunnel in front. Needs `webhook.secret_file` of a source.
	Listen string `koanf:"listen" kind:"address"`
}

// Log is how the program logs.
type Log struct {
	// `debug`, `info`, `warn` or `error`.
	Level string `koanf:"level" allowed:"debug, info, warn, error"`
	// `text` or `json`; `--log-format` sets it too.
	Format string `koanf:"format" allowed:"text, json"`
}

// Shard is this process's part of the sources; package syncer decides which.
type Shard struct {
	// Which part of the sources this process takes, counted from 0.
	Index int `koanf:"index"`
	// How many processes share the sources. Every one needs the same list of sources: nobody serves
	// a source that its process lacks. The sources of one restaurant go to one process, which counts
	// its requests: a source is assigned by its name until its restaurant is stored, and within two
	// minutes of that by the first name among the restaurant's sources. Of the wrong keys that an
	// address may send, each process takes its part.
	Count int `koanf:"count"`
	// `true`, or `shard: auto` in one word: the processes that share a warehouse divide the sources
	// among themselves, so nobody counts them. Each needs `auto` and should have the same list of
	// sources: one that only some have is served by one of them within two minutes. When one process
	// is killed, the others take over its sources within a minute; one that joins takes its part.
	// Instead of `index` and `count`.
	Auto bool `koanf:"auto"`
}

// Streams are the names that sources[].streams takes, in the order in which
// they are shown.
var Streams = registry.Names()

// defaults is a configuration in which nothing is written.
func defaults() Config {
	return Config{
		Warehouse: Warehouse{
			DSN: DSN{dir: "./larder-data"}, Database: "larder", HTTPListen: "127.0.0.1:8123",
			FlushInterval: time.Second, FlushRows: 50_000,
		},
		Schedule: Schedule{
			Incremental: "@every 30s", OnlineOrders: "@every 15s", Snapshots: "@every 5m",
			Reconcile: "*/15 * * * *", ReconcileDeep: "30 2 * * *", FullResync: "0 4 * * 0",
		},
		Web:   Web{Listen: "127.0.0.1:9464"},
		Log:   Log{Level: "info", Format: "text"},
		Shard: Shard{Count: 1},
	}
}

// defaultSource is a source in which nothing is written.
func defaultSource() Source { return Source{BudgetShare: 1, PersonalData: "drop"} }
