package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	schedules "github.com/larder-sync/larder/syncer/schedule"
)

// DefaultFiles are looked for in this order when no file is named.
var DefaultFiles = []string{"larder.yaml", "/etc/larder/larder.yaml"}

// Request says what to load.
type Request struct {
	File string   // "" looks for [DefaultFiles]
	Set  []string // "key=value", stronger than file and environment
	// WithoutSources allows a configuration that names no source: for commands
	// that speak with the warehouse only.
	WithoutSources bool
	// WithoutEnvironment leaves the environment out: for a configuration that must not
	// lead anywhere else.
	WithoutEnvironment bool
}

// Load reads the configuration: defaults, then the file, then the environment
// (LARDER_ and __ between levels, sources counted from 0:
// LARDER_SOURCES__0__NAME), then Set. It fails with an [*Error] that names
// everything wrong with it at once.
//
// Relative paths are those of the configuration file's folder; without a file,
// of the working directory.
func Load(req Request) (*Config, error) {
	file, err := findFile(req.File)
	if err != nil {
		return nil, err
	}
	tree, err := readLayers(file, req)
	if err != nil {
		return nil, err
	}
	c := &Config{File: file, Digest: tree.digest, Warnings: tree.warnings}
	p := &problems{tree: tree}
	p.unknownKeys()
	c.store(p)
	c.checkWhole(p, req)
	if err := p.err(file); err != nil {
		err.LogFormat = c.Log.Format
		return nil, err
	}
	c.resolvePaths()
	c.warn(tree)
	c.placeSecrets(tree)
	return c, nil
}

// withoutPath is the reason of an error about a file that is named already.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

func findFile(named string) (string, error) {
	if named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", &Error{Problems: []Problem{{Message: fmt.Sprintf("configuration file %s: %v; correct --config, or leave it out to use %s",
				named, withoutPath(err), strings.Join(DefaultFiles, " or "))}}}
		}
		return named, nil
	}
	for _, f := range DefaultFiles {
		if _, err := os.Stat(f); err == nil {
			return f, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", &Error{Problems: []Problem{{Message: fmt.Sprintf("configuration file: %v", err)}}}
		}
	}
	return "", nil
}

// store fills c from the table of options: the given value, or the default.
func (c *Config) store(p *problems) {
	storeAll(p, c, "", options)
	if _, given := p.tree.get("warehouse.database"); !given && c.Warehouse.DSN.database() != "" {
		c.Warehouse.Database = c.Warehouse.DSN.database()
	}
	for _, i := range p.tree.sources() {
		s := Source{path: "sources." + strconv.Itoa(i)}
		storeAll(p, &s, s.path+".", sourceOptions)
		s.BaseURL = strings.TrimRight(s.BaseURL, "/")
		c.Sources = append(c.Sources, s)
	}
}

func storeAll[T any](p *problems, t *T, prefix string, table []option[T]) {
	for _, o := range table {
		path := prefix + o.Key
		raw, given := p.tree.get(path)
		if !given && o.Default == "" {
			continue
		}
		if !given || raw == nil {
			raw = o.defaultValue()
		}
		if err := o.store(t, raw); err != nil {
			p.add(path, err.Error())
		}
	}
}

func (o option[T]) defaultValue() any {
	if o.Default == "[]" {
		return []any(nil)
	}
	return o.Default
}

// checkWhole checks what concerns more than one option.
func (c *Config) checkWhole(p *problems, req Request) {
	wrong := p.tree.values["sources"]
	if len(c.Sources) == 0 && !req.WithoutSources && !slices.Contains(p.meant, "sources") && (wrong == nil || emptySection(wrong)) {
		p.add("sources", noSources(c.File))
	}
	c.checkSources(p)
	c.checkProxies(p)
	w := &c.Warehouse
	if w.DSN.Embedded() {
		if w.Cluster != "" {
			p.add("warehouse.cluster", "the embedded engine has no cluster; leave it empty, or name a remote warehouse in warehouse.dsn")
		}
		if w.HTTPListen != "" && !listensOnLoopback(w.HTTPListen) && w.PasswordFile == "" {
			p.add("warehouse.http_listen", fmt.Sprintf("%q can be reached by others and has no password; set warehouse.password_file, or listen on 127.0.0.1", w.HTTPListen))
		}
	}
	if !w.DSN.Embedded() && w.Memory != 0 {
		p.add("warehouse.memory", "a remote warehouse has limits of its own; leave it empty")
	}
	for i := range c.Sources {
		if s := &c.Sources[i]; s.PersonalData == "pseudonymise" && w.PersonalKeyFile() == "" {
			p.add(s.path+".personal_data", "pseudonyms in a remote warehouse need warehouse.personal_data_key_file: a file with a secret of at least 16 characters")
		}
	}
	if (c.Web.User == "") != (c.Web.PasswordFile == "") {
		p.add("web.user", "web.user and web.password_file belong together; set both, or none")
	}
	if c.Shard.Index >= c.Shard.Count && c.Shard.Count > 0 {
		p.add("shard.index", fmt.Sprintf("got %d; allowed: 0 to %d (shard.count is %d)", c.Shard.Index, c.Shard.Count-1, c.Shard.Count))
	}
}

func (c *Config) checkSources(p *problems) {
	seen := map[string]int{}
	for n, i := range p.tree.sources() {
		s, at := &c.Sources[n], "sources."+strconv.Itoa(i)
		if v, whole := p.tree.get(at); whole && v != nil && !emptySection(v) {
			continue // not a section: already refused
		}
		if _, given := p.tree.get(at + ".name"); !given {
			p.add(at+".name", "missing; every source needs a name of its own")
		}
		if _, given := p.tree.get(at + ".base_url"); !given {
			p.add(at+".base_url", "missing; the address of the API, as in https://host/v1")
		}
		if first, dup := seen[s.Name]; dup && s.Name != "" {
			p.add(at+".name", fmt.Sprintf("%q is the name of source %d too; every source needs a name of its own", s.Name, first+1))
		} else {
			seen[s.Name] = i
		}
		if n := countSet(s.KeyFile != "", s.KeyEnv != "", !s.Key.IsZero()); n == 0 {
			p.add(at+".key_file", "the API key is missing; set key_file or key_env")
		} else if n > 1 {
			p.add(at+".key_file", "more than one of key_file, key_env and key is set; keep one")
		}
	}
}

func countSet(flags ...bool) int {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

func noSources(file string) string {
	const example = `at least one is needed, as in

    sources:
      - name: bistro
        base_url: https://host/v1
        key_file: /run/secrets/bistro`
	if file == "" {
		return "no configuration file was found (" + strings.Join(DefaultFiles, ", ") + "; --config names another one); " + example
	}
	return example
}

// PersonalKeyFile is the file with the key of pseudonyms. The embedded engine has one beside
// its data folder; for a remote warehouse there is none unless it is configured.
func (w *Warehouse) PersonalKeyFile() string {
	if w.PersonalDataKeyFile != "" || !w.DSN.Embedded() {
		return w.PersonalDataKeyFile
	}
	return filepath.Clean(w.DSN.Dir()) + ".personal-data-key"
}

// placeSecrets notes where secrets are named, which are read later, and which sources say
// what of a customer is kept.
func (c *Config) placeSecrets(t *tree) {
	c.secretsAt = map[string]origin{"web.password_file": t.originOf("web.password_file")}
	c.secretsAt[personalKey] = t.originOf(personalKey)
	for i := range c.Sources {
		_, c.Sources[i].PersonalDataWritten = t.origin[c.Sources[i].path+".personal_data"]
		for _, name := range []string{"key_file", "next_key_file", "webhook.secret_file", "webhook.next_secret_file"} {
			key := c.Sources[i].path + "." + name
			c.secretsAt[key] = t.originOf(key)
		}
	}
}

const personalKey = "warehouse.personal_data_key_file"

// SecretError is about a secret that a source needs beside its key.
type SecretError struct {
	Setting string // of the source, or of the warehouse
	Err     error
}

func (e *SecretError) Error() string { return e.Setting + ": " + e.Err.Error() }

func (e *SecretError) Unwrap() error { return e.Err }

// NoPassword is the error of a password of the page that cannot be read.
func (c *Config) NoPassword(err error) *Error {
	const key = "web.password_file"
	at := c.secretsAt[key]
	return &Error{File: c.File, Problems: []Problem{{Key: key, Origin: at.String(), Message: err.Error(), Outside: at.outside()}}}
}

// NoKey is what is wrong with a source whose key cannot be read, or, with a [*SecretError],
// another of its secrets.
func (c *Config) NoKey(s *Source, err error) Problem {
	if e, ok := errors.AsType[*SecretError](err); ok {
		at, known := c.secretsAt[s.path+"."+e.Setting]
		if !known {
			at = c.secretsAt[e.Setting]
		}
		return Problem{Key: "source " + s.Name, Origin: at.String(), Message: err.Error(), Outside: at.outside()}
	}
	at := c.secretsAt[s.path+".key_file"]
	if s.KeyEnv != "" { // the error names the variable
		at = origin{}
	}
	return Problem{Key: "source " + s.Name, Origin: at.String(), Message: err.Error(), Outside: at.outside() || s.KeyEnv != ""}
}

func (c *Config) resolvePaths() {
	if c.File == "" {
		return
	}
	base, err := filepath.Abs(filepath.Dir(c.File))
	if err != nil { // no working directory: relative paths stay as they are
		return
	}
	w := &c.Warehouse
	w.DSN = w.DSN.under(base)
	for _, p := range []*string{&w.PasswordFile, &c.Web.PasswordFile, &w.PersonalDataKeyFile} {
		*p = under(base, *p)
	}
	for i := range c.Sources {
		s := &c.Sources[i]
		for _, p := range []*string{&s.KeyFile, &s.NextKeyFile, &s.Webhook.SecretFile, &s.Webhook.NextSecretFile} {
			*p = under(base, *p)
		}
	}
}

// warnOfSchedules warns of schedules in an hour that the clocks skip and repeat, and of those
// that ask more or less often than the service wants its clients to.
func (c *Config) warnOfSchedules(add func(string, ...any)) {
	for _, o := range options {
		if o.Type != "schedule" {
			continue
		}
		if days := schedules.ChangedClocks(o.show(c), time.Now()); days != "" {
			add("%s %q is in an hour that the clocks skip in spring and repeat in autumn: %s; another hour avoids that", o.Key, o.show(c), days)
		}
	}
	if shortest, _ := schedules.Intervals(c.Schedule.OnlineOrders); shortest < 5*time.Second {
		add("schedule.online_orders %q: the service asks its clients to poll orders every 15 to 30 seconds, and never faster than every 5 seconds", c.Schedule.OnlineOrders)
	}
	if _, longest := schedules.Intervals(c.Schedule.Snapshots); longest > 15*time.Minute {
		add("schedule.snapshots %q: the service asks its clients to refresh menus at least every 15 minutes", c.Schedule.Snapshots)
	}
}

// warn collects what is allowed, but unwise or in vain.
func (c *Config) warn(t *tree) {
	add := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	for n, i := range t.sources() {
		s := &c.Sources[n]
		if s.Webhook.SecretFile != "" && c.Webhooks.Listen == "" {
			add("source %s: webhook.secret_file is set, and no webhooks are taken: webhooks.listen is off", s.Name)
		}
		if s.Webhook.NextSecretFile != "" && s.Webhook.SecretFile == "" {
			add("source %s: webhook.next_secret_file is set, and no webhooks are taken: webhook.secret_file is not", s.Name)
		}
		origin := t.origin["sources."+strconv.Itoa(i)+".key"]
		if !s.Key.IsZero() && origin.line > 0 {
			c.secretInside = true
			add("source %s: the API key stands in the configuration file; key_file or key_env keeps it out of copies", s.Name)
		}
		if s.PersonalData == "keep" {
			add("source %s: personal_data is keep: names, phones and addresses of the people who order online are stored", s.Name)
		}
		if strings.HasPrefix(s.BaseURL, "http:") && !loopbackURL(s.BaseURL) {
			add("source %s: base_url is http: the API key travels unencrypted", s.Name)
		}
	}
	if !c.Warehouse.DSN.Password().IsZero() && t.origin["warehouse.dsn"].line > 0 {
		c.secretInside = true
		add("warehouse.dsn: the password stands in the configuration file; warehouse.password_file keeps it out of copies")
	}
	if c.Webhooks.Listen != "" && !slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Webhook.SecretFile != "" }) {
		add("webhooks.listen is set, and no webhooks are taken: no source has webhook.secret_file")
	}
	if l := c.Web.Listen; l != "" && !listensOnLoopback(l) && c.Web.User == "" {
		add("web.listen: %s can be reached by others and asks for no password; set web.user and web.password_file", l)
	}
	c.warnOfSchedules(add)
	slices.SortFunc(c.Warnings, cmp.Compare[string])
}
