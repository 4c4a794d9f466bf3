package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const minimal = `sources:
  - name: bistro
    base_url: https://host/v1/
    key_env: BISTRO_KEY
`

func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "larder.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func load(t *testing.T, content string, set ...string) *Config {
	t.Helper()
	c, err := Load(Request{File: write(t, content), Set: set})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	file := write(t, minimal)
	c, err := Load(Request{File: file})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Sources[0]
	if s.Name != "bistro" || s.BaseURL != "https://host/v1" || s.BudgetShare != 1 {
		t.Errorf("source = %+v", s)
	}
	w := c.Warehouse
	if want := filepath.Join(filepath.Dir(file), "larder-data"); !w.DSN.Embedded() || w.DSN.Dir() != want {
		t.Errorf("dsn = %v, want embedded:%s", w.DSN, want)
	}
	if w.Database != "larder" || w.HTTPListen != "127.0.0.1:8123" || w.FlushInterval != time.Second || w.FlushRows != 50000 {
		t.Errorf("warehouse = %+v", w)
	}
	if c.Schedule.Incremental != "@every 30s" || c.Schedule.ReconcileDeep != "30 2 * * *" {
		t.Errorf("schedule = %+v", c.Schedule)
	}
	if c.Web.Listen != "127.0.0.1:9464" || c.Log != (Log{"info", "text"}) || c.Shard != (Shard{Count: 1}) {
		t.Errorf("web, log, shard = %+v %+v %+v", c.Web, c.Log, c.Shard)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings = %q", c.Warnings)
	}
}

func TestLayers(t *testing.T) {
	t.Setenv("LARDER_WEB__LISTEN", "127.0.0.1:1")
	t.Setenv("LARDER_WAREHOUSE__FLUSH_ROWS", "7")
	t.Setenv("LARDER_SOURCES__0__STREAMS", "products, sales_orders")
	t.Setenv("LARDER_SOURCES__1__NAME", "second")
	t.Setenv("LARDER_SOURCES__1__BASE_URL", "https://other/v1")
	t.Setenv("LARDER_SOURCES__1__KEY_FILE", "k2")
	t.Setenv("LARDER_ENGINE", "/some/libchdb.so")
	t.Setenv("LARDER_SERVICE_HOST", "10.0.0.1") // as Kubernetes sets it
	c := load(t, minimal+"web:\n  listen: 127.0.0.1:2\nlog:\nshard.count: 3\n", "web.listen=127.0.0.1:3", "sources.0.budget_share=0.5")
	if c.Web.Listen != "127.0.0.1:3" {
		t.Errorf("web.listen = %s, want the flag's", c.Web.Listen)
	}
	if c.Warehouse.FlushRows != 7 {
		t.Errorf("flush_rows = %d, want the environment's", c.Warehouse.FlushRows)
	}
	if c.Log.Level != "info" || c.Shard.Count != 3 {
		t.Errorf("an empty section is %+v, a key in one %+v", c.Log, c.Shard)
	}
	if len(c.Sources) != 2 || c.Sources[1].Name != "second" || c.Sources[0].BudgetShare != 0.5 {
		t.Fatalf("sources = %+v", c.Sources)
	}
	if got := strings.Join(c.Sources[0].Streams, "|"); got != "products|sales_orders" {
		t.Errorf("streams = %s", got)
	}
	if !filepath.IsAbs(c.Sources[1].KeyFile) {
		t.Errorf("key_file = %s, want it below the file's folder", c.Sources[1].KeyFile)
	}
}

func TestSourcesAreInTheOrderOfTheirNumbers(t *testing.T) {
	t.Setenv("LARDER_SOURCES__20__NAME", "last") // numbers may be left out
	t.Setenv("LARDER_SOURCES__20__BASE_URL", "https://host/v1")
	t.Setenv("LARDER_SOURCES__20__KEY_ENV", "K")
	var file, want strings.Builder
	file.WriteString("sources:\n")
	for i := range 12 {
		fmt.Fprintf(&file, "  - {name: s%d, base_url: 'https://host/v1', key_env: K}\n", i)
		fmt.Fprintf(&want, "s%d ", i)
	}
	got := ""
	for _, s := range load(t, file.String()).Sources {
		got += s.Name + " "
	}
	if got != want.String()+"last " {
		t.Errorf("sources are %s", got)
	}
}

// After a reload a secret is told where the new file names it.
func TestReloadedSecretsAreToldWhereTheyAreNamed(t *testing.T) {
	first := load(t, minimal)
	next := load(t, "log: {level: debug}\n"+strings.Replace(minimal, "key_env", "key_file", 1))
	c := first.WithReloaded(next)
	if p := c.NoKey(&c.Sources[0], os.ErrNotExist); p.Origin != "line 5" || p.File != next.File {
		t.Errorf("%s: %s", p.File, p)
	}
}

func TestMemory(t *testing.T) {
	for text, want := range map[string]int64{
		`""`: 0, "": 0, "512MiB": 512 << 20, "2GiB": 2 << 30, "2 GB": 2_000_000_000, "1.5gib": 3 << 29, "536870912": 512 << 20,
	} {
		if c := load(t, minimal+"warehouse: {memory: "+text+"}\n"); int64(c.Warehouse.Memory) != want {
			t.Errorf("memory: %s is %d, want %d", text, c.Warehouse.Memory, want)
		}
	}
	if c := load(t, minimal); c.Warehouse.Memory != 0 {
		t.Errorf("memory = %d by default", c.Warehouse.Memory)
	}
}

func TestDatabaseOfTheDSN(t *testing.T) {
	const dsn = "warehouse: {dsn: 'https://h:8443/mirror'"
	if c := load(t, minimal+dsn+"}\n"); c.Warehouse.Database != "mirror" {
		t.Errorf("database = %s, want the DSN's", c.Warehouse.Database)
	}
	if c := load(t, minimal+dsn+", database: larder}\n"); c.Warehouse.Database != "larder" {
		t.Errorf("database = %s, want the one that was set", c.Warehouse.Database)
	}
}

func TestEnvironmentAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("LARDER_SOURCES__0__NAME", "bistro")
	t.Setenv("LARDER_SOURCES__0__BASE_URL", "https://host/v1")
	t.Setenv("LARDER_SOURCES__0__KEY_ENV", "BISTRO_KEY")
	c, err := Load(Request{})
	if err != nil {
		t.Fatal(err)
	}
	if c.File != "" || c.Sources[0].Name != "bistro" || c.Warehouse.DSN.Dir() != "./larder-data" {
		t.Errorf("config = %+v", c)
	}
}

// A word is the short form of shard.auto in each layer, of which the last one wins as a whole.
func TestShardAuto(t *testing.T) {
	for _, written := range [][]string{{"shard: auto\n"}, {"shard: {auto: true}\n"}, {"shard: {index: 1, count: 4}\n", "shard=auto"}, {"", "shard.auto=true"}} {
		if c := load(t, minimal+written[0], written[1:]...); c.Shard != (Shard{Count: 1, Auto: true}) {
			t.Errorf("%q is %+v", written, c.Shard)
		}
	}
	t.Run("environment", func(t *testing.T) {
		t.Setenv("LARDER_SHARD", "auto")
		if c := load(t, minimal+"shard: {index: 1, count: 4}\n"); c.Shard != (Shard{Count: 1, Auto: true}) {
			t.Errorf("LARDER_SHARD=auto is %+v", c.Shard)
		}
	})
	t.Setenv("LARDER_SHARD__COUNT", "4")
	if c := load(t, minimal+"shard: auto\n"); c.Shard != (Shard{Count: 4}) {
		t.Errorf("with an environment that counts: %+v", c.Shard)
	}
}

func TestProblems(t *testing.T) {
	source := func(extra string) string { return minimal + extra }
	tests := []struct{ name, yaml, want string }{
		{"typo", source("warehouse:\n  flush_intervall: 1s\n"), `line 6: warehouse.flush_intervall: unknown key; did you mean "warehouse.flush_interval"?`},
		{"typo of a section", source("warehose:\n  dsn: embedded:x\n"), `line 5: warehose: unknown key; did you mean "warehouse"?`},
		{"typo of a section, once for all of it", source("schedul: {incremental: '@every 5s', reconcil: x, other: y}\n"), `larder.yaml: line 5: schedul: unknown key; did you mean "schedule"?`},
		{"typo of an empty section", source("schedul:\n"), `line 5: schedul: unknown key; did you mean "schedule"?`},
		{"typo of a short section", source("wep: {listen: ''}\n"), `line 5: wep: unknown key; did you mean "web"?`},
		{"typo of sources", "sorces:\n  - {name: bistro, base_url: 'https://host/v1', key_file: key}\n", `larder.yaml: line 1: sorces: unknown key; did you mean "sources"?`},
		{"no section at all", source("telemetry: {on: true}\n"), `telemetry.on: unknown key; known here: sources, warehouse, schedule, web, metrics, webhooks, log, shard`},
		{"wrong section", source("flush_rows: 5\n"), `line 5: flush_rows: unknown key; did you mean "warehouse.flush_rows"?`},
		{"nothing near", source("web:\n  colour: red\n"), `line 6: web.colour: unknown key; known here: listen, user, password_file`},
		{"typo in a source", source("    budget_shar: 1\n"), `line 5: sources[0].budget_shar: unknown key; did you mean "budget_share"?`},
		{"duration", source("warehouse: {flush_interval: 5}\n"), `line 5: warehouse.flush_interval: got 5; allowed: a duration with its unit, as in 500ms, 1s or 2m`},
		{"duration range", source("warehouse: {flush_interval: 2h}\n"), `got 2h0m0s; allowed: 10ms to 1m0s`},
		{"number", source("warehouse: {flush_rows: many}\n"), `warehouse.flush_rows: got "many"; allowed: a whole number`},
		{"schedule", source("schedule: {incremental: every minute}\n"), `schedule.incremental: got "every minute": expected exactly 5 fields, found 2: [every minute]; allowed: cron's five fields`},
		{"schedule that never comes", source("schedule: {full_resync: 0 0 31 2 *}\n"), `schedule.full_resync: got "0 0 31 2 *": it never runs: none of its months has that day; allowed: cron's`},
		{"empty schedule", source("schedule: {reconcile: ''}\n"), `schedule.reconcile: got "": empty spec string; allowed: cron's`},
		{"schedule never", source("schedule: {reconcile_deep: never}\n"), `schedule.reconcile_deep: got "never": expected exactly 5 fields, found 1: [never]; allowed: cron's five fields, as in */15 * * * *, @every 30s, or off`},
		{"lists off", source("schedule: {incremental: off}\n"), `schedule.incremental: got "off"; what it mirrors would stay as it is: to mirror some streams only, name them in sources[].streams`},
		{"snapshots off", source("schedule: {snapshots: 'off'}\n"), `schedule.snapshots: got "off"; what`},
		{"online orders off", source("schedule: {online_orders: off}\n"), `schedule.online_orders: got "off"; what`},
		{"schedule too short", source("schedule: {incremental: '@every 10ms'}\n"), `allowed: @every and a duration of 1s or more`},
		{"memory without a unit", source("warehouse: {memory: 2}\n"), `line 5: warehouse.memory: got 2 B; allowed: 128 MiB and more, written with its unit`},
		{"memory as words", source("warehouse: {memory: a lot}\n"), `warehouse.memory: got "a lot"; allowed: a size with its unit, as in 512MiB or 2GiB`},
		{"negative memory", source("warehouse: {memory: -1GiB}\n"), `warehouse.memory: got "-1GiB"; allowed: a size with its unit`},
		{"endless memory", source("warehouse: {memory: 9999999999EiB}\n"), `warehouse.memory: got "9999999999EiB"; allowed: a size with its unit`},
		{"memory of a remote warehouse", source("warehouse: {dsn: 'https://h:8443/db', memory: 1GiB}\n"), `warehouse.memory: a remote warehouse has limits of its own; leave it empty`},
		{"level", source("log: {level: verbose}\n"), `log.level: got "verbose"; allowed: debug, info, warn, error`},
		{"listen", source("web: {listen: 9464}\n"), `web.listen: got 9464; allowed: text`},
		{"listen form", source("web: {listen: '9464'}\n"), `web.listen: got "9464"; allowed: HOST:PORT`},
		{"memory below a byte", source("warehouse: {memory: 0.5}\n"), `warehouse.memory: got 0.5; allowed: a size with its unit`},
		{"key with a dot", source("web.listn: x\n"), `line 5: web.listn: unknown key; did you mean "web.listen"?`},
		{"value and section", source("    name.first: x\n"), `sources[0].name.first: `},
		{"another case", source("Web: {listen: ':1'}\n"), `line 5: Web: unknown key; did you mean "web"?`},
		{"number with a fraction", source("warehouse: {flush_rows: 1.5}\n"), `warehouse.flush_rows: got 1.5; allowed: a whole number`},
		{"number in a list", source("    locations: [a, 7]\n"), `line 5: sources[0].locations: item 2 is 7; allowed: text (put it in quotes)`},
		{"in the order of the lines", "log: {level: x}\n" + minimal + "webb: 1\n", "larder.yaml: 2 problems\n  line 1: log.level: got \"x\"; allowed: debug, info, warn, error\n  line 6: webb: unknown key"},
		{"a field that is no key", source("file: other\nlog: {level: x}\n"), "larder.yaml: 2 problems\n  line 5: file: unknown key"},
		{"section as value", source("web: yes please\n"), `line 5: web: got text; allowed: a section with listen, user, password_file`},
		{"sources as text", "sources: bistro\n", `line 1: sources: got text; allowed: a list`},
		{"sources by name", "sources: {bistro: {base_url: 'https://h/v1'}}\n", `line 1: sources.bistro.base_url: not a source; allowed: a list, every source beginning with a dash`},
		{"source as text", "sources: [bistro]\n", `sources[0]: got text; allowed: a section with name, base_url`},
		{"no sources", "sources: []\n", `sources: at least one is needed`},
		{"empty file", "", `sources: at least one is needed`},
		{"no name", "sources:\n  - base_url: https://h/v1\n    key_env: K\n", `line 2: sources[0].name: missing`},
		{"bad name", "sources:\n  - {name: Bistro Unu, base_url: https://h/v1, key_env: K}\n", `sources[0].name: got "Bistro Unu"; allowed: 1 to 64 of a-z, 0-9, _ and -`},
		{"same name", source("  - {name: bistro, base_url: https://h/v1, key_env: K}\n"), `line 5: sources[1].name: "bistro" is the name of source 1 too`},
		{"no key", "sources:\n  - {name: a, base_url: https://h/v1}\n", `the API key is missing; set key_file or key_env`},
		{"two keys", source("    key_file: x\n"), `more than one of key_file, key_env and key is set`},
		{"base_url", "sources:\n  - {name: a, base_url: host/v1, key_env: K}\n", `sources[0].base_url: scheme ""; allowed: https://HOST/v1`},
		{"base_url with key", "sources:\n  - {name: a, base_url: 'https://x:svc_live_1@h/v1', key_env: K}\n", `credentials do not belong into the address`},
		{"key in key_env", "sources:\n  - {name: a, base_url: https://h/v1, key_env: 'svc-live-abc'}\n", `not the name of an environment variable`},
		{"stream", source("    streams: [sales_order]\n"), `stream "sales_order" is unknown, did you mean "sales_orders"?`},
		{"streams as text", source("    streams: {a: 1}\n"), `unknown key`},
		{"share", source("    budget_share: 1.5\n"), `sources[0].budget_share: got 1.5; allowed: above 0 and up to 1`},
		{"dsn", source("warehouse: {dsn: 'postgres://u:hunter2@h/db'}\n"), `warehouse.dsn: unknown scheme; allowed: embedded:DIR`},
		{"dsn not a URL", source("warehouse: {dsn: 'clickhouse://u:hunter2%zz@h/db'}\n"), `warehouse.dsn: not a URL`},
		{"open listener", source("warehouse: {http_listen: '0.0.0.0:8123'}\n"), `can be reached by others and has no password`},
		{"cluster", source("warehouse: {cluster: main}\n"), `the embedded engine has no cluster`},
		{"user alone", source("web: {user: me}\n"), `web.user and web.password_file belong together`},
		{"shard", source("shard: {index: 2, count: 2}\n"), `shard.index: got 2; allowed: 0 to 1`},
		{"shard in a word", source("shard: automatic\n"), `line 5: shard: got text; allowed: a section with index, count, auto`},
		{"shard twice", source("shard: {auto: true, count: 3}\n"), `line 5: shard.count: with shard: auto the processes divide the sources by themselves; keep one of the two`},
		{"not YAML", "sources:\n\t- name: a\n", `line 2: not YAML: found character that cannot start any token`},
		{"twice", source("web: {}\nweb: {}\n"), `already defined`},
		{"not a mapping", "- a\n", `not a mapping`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Request{File: write(t, tt.yaml)})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("err = %v, want *Error", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v\nwant %s", err, tt.want)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "svc_live_1") {
				t.Errorf("err shows a secret: %v", err)
			}
		})
	}
}

func TestProblemsOfOtherLayers(t *testing.T) {
	t.Setenv("LARDER_WEB__LISTN", "x:1")
	_, err := Load(Request{File: write(t, minimal), Set: []string{"log.levl=info"}})
	for _, want := range []string{
		`LARDER_WEB__LISTN: web.listn: unknown key; did you mean "web.listen"?`,
		`--set: log.levl: unknown key; did you mean "log.level"?`,
		"2 problems",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
	_, err = Load(Request{File: write(t, minimal), WithoutEnvironment: true, Set: []string{"log.level=loud"}})
	if err == nil || !strings.HasPrefix(err.Error(), `--set: log.level: got "loud"`) {
		t.Errorf("the file has no part in it: %v", err)
	}
	_, err = Load(Request{File: write(t, minimal), WithoutEnvironment: true, Set: []string{"log.level.x=1"}})
	if err == nil || err.Error() != `--set: log.level.x: unknown key; did you mean "log.level"?` {
		t.Errorf("a key below a value: %v", err)
	}
	if _, err := Load(Request{File: write(t, minimal), Set: []string{"log.level"}}); err == nil || !strings.Contains(err.Error(), "key=value") {
		t.Errorf("--set without a value: err = %v", err)
	}
	if _, err := Load(Request{File: filepath.Join(t.TempDir(), "none.yaml")}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("missing file: err = %v", err)
	}
}

// What is read later is told of where it was named, too.
func TestSecretsAreToldWhereTheyAreNamed(t *testing.T) {
	t.Setenv("BISTRO_KEY", "")
	t.Setenv("LARDER_SOURCES__1__KEY_FILE", "/nowhere/key")
	c := load(t, minimal+"  - {name: bar, base_url: 'https://host/v1'}\n  - {name: café, base_url: 'https://host/v1', key_file: /nowhere/key}\n",
		"sources.2.name=cafe", "web.user=owner", "web.password_file=/nowhere/password")
	for i, want := range []string{
		"source bistro: environment variable BISTRO_KEY is empty",
		"LARDER_SOURCES__1__KEY_FILE: source bar: file /nowhere/key: no such file",
		c.File + ": line 6: source cafe: file /nowhere/key: no such file",
	} {
		_, err := c.Sources[i].ReadKey()
		if got := (&Error{Problems: []Problem{c.NoKey(&c.Sources[i], err)}}).Error(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c = load(t, minimal+"  - {name: bar, base_url: 'https://host/v1', webhook: {secret_file: /nowhere/secret}}\n", "warehouse.personal_data_key_file=/nowhere/key",
		"web.user=owner", "web.password_file=/nowhere/password")
	for setting, want := range map[string]string{
		"webhook.secret_file":              c.File + ": line 5: source bar: webhook.secret_file: nothing there",
		"warehouse.personal_data_key_file": "--set: source bar: warehouse.personal_data_key_file: nothing there",
	} {
		err := &SecretError{setting, errors.New("nothing there")}
		if got := (&Error{Problems: []Problem{c.NoKey(&c.Sources[1], err)}}).Error(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	_, err := c.Web.ReadPassword()
	if got := c.NoPassword(err).Error(); !strings.HasPrefix(got, "--set: web.password_file: file /nowhere/password: no such file") {
		t.Error(got)
	}
}

func TestWithoutSources(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Load(Request{WithoutSources: true}); err != nil {
		t.Errorf("without sources: %v", err)
	}
	_, err := Load(Request{})
	if err == nil || !strings.Contains(err.Error(), "no configuration file was found (larder.yaml, /etc/larder/larder.yaml") {
		t.Errorf("err = %v", err)
	}
}

func TestWarnings(t *testing.T) {
	t.Setenv("LARDER_WEB_LISTEN", "127.0.0.1:1")
	c := load(t, `sources:
  - {name: a, base_url: http://host/v1, key: svc_live_secret}
  - {name: b, base_url: http://127.0.0.1:8080/v1, key_env: K}
  - {name: c, base_url: https://host/v1, key_env: K, webhook: {secret_file: s}, personal_data: keep}
web: {listen: ":9464"}
warehouse: {dsn: "https://u:hunter2@h:8443/db"}
`)
	all := strings.Join(c.Warnings, "\n")
	for _, want := range []string{
		"source a: the API key is in the configuration file",
		"source a: base_url is http",
		"web.listen: :9464 can be reached by others",
		"warehouse.dsn: the password is in the configuration file",
		"source c: webhook.secret_file is set, and no webhooks are taken",
		"source c: personal_data is keep",
		"LARDER_WEB_LISTEN is ignored; it is called LARDER_WEB__LISTEN",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	if len(c.Warnings) != 7 || strings.Contains(all, "svc_live_secret") || strings.Contains(all, "hunter2") {
		t.Errorf("warnings = %q", c.Warnings)
	}
}

func TestAWarningOfManySourcesIsOneLine(t *testing.T) {
	var file strings.Builder
	file.WriteString("sources:\n")
	for i := range 30 {
		fmt.Fprintf(&file, "  - {name: r%02d, base_url: https://host/v1, key: k%d}\n", i, i)
	}
	want := "sources r00, r01, r02, r03, r04, r05, r06, r07, r08, r09, and 20 more: the API key is in the configuration file; key_file or key_env keeps it out of copies"
	if got := load(t, file.String()).Warnings; len(got) != 1 || got[0] != want {
		t.Errorf("warnings = %q", got)
	}
}

// net/http leaves out a proxy whose address it cannot read.
func TestProxies(t *testing.T) {
	for text, want := range map[string]bool{
		"http://proxy.example:3128": true, "https://proxy.example": true, "proxy.example:3128": true, "10.0.0.1:3128": true, "proxy": true,
		"socks5://u:p@proxy.example:1080": true, "http://u:p%40ss@proxy.example:3128": true,
		"http://u:50%off@proxy.example:3128": false, "http://u:50#off@proxy.example:3128": false, "http://u:50/off@proxy.example": false,
		"http://u:50?off@proxy.example": false, "http://proxy.example:3128/": true, "proxy.example:port": false, "http://": false, " http://proxy.example:3128": false,
		"htp://proxy.example:3128": false, "http://u:pa ss@proxy.example": false, "http://[::1:3128": false,
	} {
		t.Setenv("HTTPS_PROXY", text)
		_, err := Load(Request{File: write(t, minimal)})
		if (err == nil) != want || err != nil && (!strings.Contains(err.Error(), "HTTPS_PROXY: not the address of a proxy; allowed") || strings.Contains(err.Error(), "50")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWarningsOfSchedules(t *testing.T) {
	for line, want := range map[string]string{
		"reconcile: off":              "",
		"online_orders: '@every 4s'":  `schedule.online_orders "@every 4s": the service asks its clients to poll orders every 15 to 30 seconds, and never faster than every 5 seconds`,
		"online_orders: '@every 5s'":  "",
		"snapshots: '@every 15m'":     "",
		"snapshots: '*/15 * * * *'":   "",
		"snapshots: '@every 16m'":     `schedule.snapshots "@every 16m": the service asks its clients to refresh menus at least every 15 minutes`,
		"snapshots: '*/5 8-22 * * *'": `schedule.snapshots "*/5 8-22 * * *": the service`,
		"snapshots: 0 0 29 2 *":       `schedule.snapshots "0 0 29 2 *": the service`,
	} {
		got := strings.Join(load(t, minimal+"schedule: {"+line+"}\n").Warnings, "\n")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Half of what webhooks need is nothing.
func TestWarningsOfWebhooksThatAreNotTaken(t *testing.T) {
	const source = "sources:\n  - {name: a, base_url: https://host/v1, key_env: K%s}\nwebhooks: {listen: %q}\n"
	for _, c := range []struct{ webhook, listen, want string }{
		{"", "", ""},
		{", webhook: {secret_file: s, next_secret_file: n}", "127.0.0.1:1", ""},
		{", webhook: {secret_file: s}", "", "source a: webhook.secret_file is set, and no webhooks are taken: webhooks.listen is off"},
		{", webhook: {next_secret_file: s}", "", "source a: webhook.next_secret_file is set, and no webhooks are taken: webhook.secret_file is not"},
		{"", "127.0.0.1:1", "webhooks.listen is set, and no webhooks are taken: no source has webhook.secret_file"},
	} {
		if got := strings.Join(load(t, fmt.Sprintf(source, c.webhook, c.listen)).Warnings, "\n"); got != c.want {
			t.Errorf("%q, %q: warnings %q, want %q", c.webhook, c.listen, got, c.want)
		}
	}
}

// A remote warehouse has no folder beside which the key of pseudonyms could lie.
func TestThePersonalKeyFile(t *testing.T) {
	const source = "sources:\n  - {name: a, base_url: https://host/v1, key_env: K, personal_data: %s}\nwarehouse: {dsn: %q%s}\n"
	for _, c := range []struct{ mode, dsn, more, file, wrong string }{
		{"drop", "https://h:8443/db", "", "", ""},
		{"pseudonymise", "https://h:8443/db", "", "", "sources[0].personal_data: pseudonyms in a remote warehouse need warehouse.personal_data_key_file"},
		{"pseudonymise", "https://h:8443/db", ", personal_data_key_file: k", "k", ""},
		{"pseudonymise", "embedded:./here/", "", "here.personal-data-key", ""},
		{"pseudonymise", "embedded:./here", ", personal_data_key_file: k", "k", ""},
		{"all", "embedded:./here", "", "", `got "all"; allowed: drop, pseudonymise, keep`},
	} {
		file := filepath.Join(t.TempDir(), "larder.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, source, c.mode, c.dsn, c.more), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(Request{File: file})
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%+v: error %v", c, err)
		case c.wrong == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.wrong == "" && c.file == "" && got.Warehouse.PersonalKeyFile() != "":
			t.Errorf("%+v: file %s", c, got.Warehouse.PersonalKeyFile())
		case c.wrong == "" && c.file != "" && got.Warehouse.PersonalKeyFile() != filepath.Join(filepath.Dir(file), c.file):
			t.Errorf("%+v: file %s", c, got.Warehouse.PersonalKeyFile())
		}
	}
}
