package config

import "time"

// options are all that can be configured besides the sources, in the order in
// which the documentation shows them.
var options = []option[Config]{
	custom("warehouse.dsn", "DSN", "embedded:./larder-data",
		"Which warehouse: `embedded:DIR` for the engine that Larder carries itself, `clickhouse://USER:PASS@HOST:9000/DB?secure=true` (native protocol) or `https://USER:PASS@HOST:8443/DB`. Better than a password here: `warehouse.password_file`.",
		storeDSN, func(c *Config) string { return c.Warehouse.DSN.String() }),
	text("warehouse.password_file", "",
		"File with the warehouse's password; it takes the place of the one in the DSN. With the embedded engine: the password that `warehouse.http_listen` asks for.",
		func(c *Config) *string { return &c.Warehouse.PasswordFile }),
	text("warehouse.database", "larder",
		"Database with the views that people query; the storage tables live in the one named `<database>_raw`. When it is not set, the DSN's database is taken.",
		func(c *Config) *string { return &c.Warehouse.Database }, validIdentifier),
	text("warehouse.cluster", "",
		"Set: every table is created `ON CLUSTER` as a replicated table, with a `Distributed` one on top. Not with the embedded engine.",
		func(c *Config) *string { return &c.Warehouse.Cluster }, optional(validIdentifier)),
	text("warehouse.http_listen", "127.0.0.1:8123",
		"Embedded engine only: where it serves ClickHouse's HTTP interface, read-only, for Grafana and BI tools. `\"\"` is off. An address that others can reach needs `warehouse.password_file`; the user is `default`. Without a password it answers as `localhost` or by its address only. What readers may have is [bounded](operations.md#who-may-ask-and-for-how-much).",
		func(c *Config) *string { return &c.Warehouse.HTTPListen }, optional(validListen)).typed("address"),
	truth("warehouse.http_unconfined", "false",
		"Linux with Landlock keeps readers of `warehouse.http_listen` from every file but the warehouse's. Where it is missing (macOS, kernels before 5.13, some containers) `warehouse.http_listen` is refused at the start. With `true` it is served all the same: readers change nothing, but read every file that Larder may read and make new ones.",
		func(c *Config) *bool { return &c.Warehouse.HTTPUnconfined }),
	duration("warehouse.flush_interval", "1s",
		"Rows of all sources and streams wait at most this long for their common INSERT.",
		func(c *Config) *time.Duration { return &c.Warehouse.FlushInterval }, between(10*time.Millisecond, time.Minute)),
	number("warehouse.flush_rows", "50000",
		"A flush happens earlier when this many rows wait.",
		func(c *Config) *int { return &c.Warehouse.FlushRows }, between(1, 1_000_000)),
	size("warehouse.memory", "",
		"Embedded engine only: the most memory that it may use, as in `512MiB` or `2GiB`; at least 128MiB. Default: half of the memory limit of the container (the smallest cgroup limit that holds for the process), without one a quarter of the machine's memory. `larder check` and the log at the start tell the figure and where it comes from.",
		func(c *Config) *int64 { return &c.Warehouse.Memory }, enough(MinMemory)),
	text("warehouse.personal_data_key_file", "",
		"File with the key of the pseudonyms that `personal_data: pseudonymise` makes: any secret of at least 16 characters. Who has it can tell whether a phone number is in the warehouse. With another key all pseudonyms are others. Default with the embedded engine: a file beside the data folder that has its name and ends in `.personal-data-key`, which is made when it is missing. A remote warehouse needs one named here.",
		func(c *Config) *string { return &c.Warehouse.PersonalDataKeyFile }),

	schedule("schedule.incremental", "@every 30s", "Walks of the lists that have a cursor.",
		func(c *Config) *string { return &c.Schedule.Incremental }, false),
	schedule("schedule.online_orders", "@every 15s", "Walks of the online orders placed through the key.",
		func(c *Config) *string { return &c.Schedule.OnlineOrders }, false),
	schedule("schedule.snapshots", "@every 5m", "Lists without a cursor: locations, allergens, the menus of each location, and the key itself.",
		func(c *Config) *string { return &c.Schedule.Snapshots }, false),
	schedule("schedule.reconcile", "*/15 * * * *", "The service's totals of yesterday and today against the mirror's. With `off`, `sales_daily` and `sales_products` follow at the turns of the two below only.",
		func(c *Config) *string { return &c.Schedule.Reconcile }, true),
	schedule("schedule.reconcile_deep", "30 2 * * *", "The totals of the last 92 days, per location. With `off` only a new mirror is compared, once.",
		func(c *Config) *string { return &c.Schedule.ReconcileDeep }, true),
	schedule("schedule.full_resync", "0 4 * * 0", "A walk of everything, tombstones included. With `off`, rows that vanished without a tombstone stay until `larder sync --full`.",
		func(c *Config) *string { return &c.Schedule.FullResync }, true),

	text("web.listen", "127.0.0.1:9464",
		"Where the status page, `/metrics`, `/healthz` and `/readyz` are served. `\"\"` is off. Without `web.user` it answers as `localhost`, by its address, and on a network by names without a dot.",
		func(c *Config) *string { return &c.Web.Listen }, optional(validListen)).typed("address"),
	text("web.user", "",
		"Set, together with `web.password_file`: the page asks for this user (basic authentication). `/healthz` and `/readyz` stay open.",
		func(c *Config) *string { return &c.Web.User }, validUser),
	text("web.password_file", "", "File with the password of `web.user`.",
		func(c *Config) *string { return &c.Web.PasswordFile }),

	text("webhooks.listen", "",
		"Where the events of online orders are taken that the service sends: `/webhooks/<name of the source>`, and nothing else is served there. `\"\"` is off. The service sends to public `https` addresses only: put a proxy or tunnel in front. Needs `webhook.secret_file` of a source.",
		func(c *Config) *string { return &c.Webhooks.Listen }, optional(validListen)).typed("address"),

	text("log.level", "info", "`debug`, `info`, `warn` or `error`.",
		func(c *Config) *string { return &c.Log.Level }, oneOf("debug", "info", "warn", "error")).reloaded(),
	text("log.format", "text", "`text` or `json`; `--log-format` sets it too.",
		func(c *Config) *string { return &c.Log.Format }, oneOf("text", "json")),

	number("shard.index", "0", "Which part of the sources this process takes, counted from 0.",
		func(c *Config) *int { return &c.Shard.Index }, between(0, 9999)),
	number("shard.count", "1", "How many processes share the sources. Every one needs the same list of sources. Those of one restaurant go to one process, which counts its requests: a source is assigned by its name until its restaurant is stored, and within two minutes of that by the first name among the restaurant's sources. Of the wrong keys that an address may send, each process takes its part.",
		func(c *Config) *int { return &c.Shard.Count }, between(1, 10000)),
}

// sourceOptions are those of one entry of sources.
var sourceOptions = []option[Source]{
	text("name", "", "Required. Unique name of the source, of `a-z`, `0-9`, `_` and `-`.",
		func(s *Source) *string { return &s.Name }, validName),
	text("base_url", "", "Required. Address of the API as the service gives it, prefix included: `https://host/v1`.",
		func(s *Source) *string { return &s.BaseURL }, validBaseURL).typed("URL"),
	text("key_file", "", "File with the API key and nothing else: white space around it and a byte order mark are dropped; quotes, a name with `=` before it and invisible characters are refused, and the error names them. Exactly one of `key_file`, `key_env` and `key` is needed.",
		func(s *Source) *string { return &s.KeyFile }),
	text("key_env", "", "Name of the environment variable with the API key.",
		func(s *Source) *string { return &s.KeyEnv }, optional(validEnvName)),
	custom("key", "secret", "", "The API key itself. Discouraged: configuration files are copied around.",
		storeKey, func(s *Source) string { return s.Key.String() }),
	text("next_key_file", "", "File with the key that is tried when the first one answers 401: a key can be rotated with 24 hours of overlap. It may appear later.",
		func(s *Source) *string { return &s.NextKeyFile }),
	texts("streams", "Which streams to mirror; empty: all that the key's scopes allow. "+streamNames(),
		func(s *Source) *[]string { return &s.Streams }, knownStreams),
	texts("locations", "Ids of the locations to mirror; empty: all that the key may use. Categories are mirrored whatever stands here, and so are the key and the allergens: a category may be shared by every location (its `location_id` is null then), and what the API's filter does with those is not said. The service's totals, `sales_daily` and `sales_products`, are then asked for of each of them.",
		func(s *Source) *[]string { return &s.Locations }),
	fraction("budget_share", "1.0", "Part of every limit that Larder may use, above 0 and up to 1, when other programs share the key.",
		func(s *Source) *float64 { return &s.BudgetShare }, validShare),
	text("personal_data", "drop",
		"What of the people who order online is stored. `drop`: nothing; name, phone, e-mail, address, notes, allergies, and every other text that people write, are null in rows and in their JSON. `pseudonymise`: beside that the town, and `customer_key`, a keyed hash of the phone by which returning customers can be counted. `keep`: all of it.",
		func(s *Source) *string { return &s.PersonalData }, oneOf("drop", "pseudonymise", "keep")),
	text("webhook.secret_file", "", "File with the webhook secret, which the service shows with the key: order events are taken at `/webhooks/<name>` of `webhooks.listen`. A changed file is noticed within seconds.",
		func(s *Source) *string { return &s.Webhook.SecretFile }),
	text("webhook.next_secret_file", "", "File with a second secret that is taken, too, while the first is replaced. It may appear later.",
		func(s *Source) *string { return &s.Webhook.NextSecretFile }),
}

func storeDSN(c *Config, raw any) error {
	s, err := asText(raw)
	if err != nil {
		return err
	}
	c.Warehouse.DSN, err = ParseDSN(s)
	return err
}

func storeKey(s *Source, raw any) error {
	v, ok := raw.(string)
	if !ok && raw != nil { // the value itself must not be shown
		return errNotText
	}
	s.Key = NewSecret(v)
	return nil
}
