package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/larder-sync/larder/internal/inbound"
	schedules "github.com/larder-sync/larder/syncer/schedule"
)

// MinMemory is the least that the embedded engine works with.
const MinMemory = 128 << 20

var (
	nameForm       = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)
	identifierForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	envForm        = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// check refuses values that are not allowed, by themselves or beside others.
func (l *loader) check(req Request) {
	l.checkValues("", l.settings())
	l.checkWarehouse()
	if strings.ContainsAny(l.Web.User, ":\x00\r\n") {
		l.add("web.user", "got %q; allowed: text without a colon", l.Web.User)
	}
	if (l.Web.User == "") != (l.Web.PasswordFile == "") {
		l.add("web.user", "web.user and web.password_file belong together; set both, or none")
	}
	for _, key := range []string{"shard.index", "shard.count"} {
		if l.Shard.Auto && l.written.Exists(key) {
			l.add(key, "with shard: auto the processes divide the sources by themselves; keep one of the two")
		}
	}
	l.addError("shard.count", between(l.Shard.Count, 1, 10000))
	if at, count := l.Shard.Index, l.Shard.Count; count > 0 && (at < 0 || at >= count) {
		l.add("shard.index", "got %d; allowed: 0 to %d (shard.count is %d)", at, count-1, count)
	}
	if len(l.Sources) == 0 && !req.WithoutSources && !slices.Contains(l.misspelt, "sources") {
		l.add("sources", "%s", noSources(l.File))
	}
	named := map[string]int{}
	for i := range l.Sources {
		l.checkSource(&l.Sources[i], i+1, named)
	}
	l.checkProxies()
}

func (l *loader) addError(key string, err error) {
	if err != nil {
		l.add(key, "%v", err)
	}
}

// checkValues refuses what the settings below a path may not be by themselves.
func (l *loader) checkValues(path string, all []setting) {
	for _, s := range all {
		switch value := s.value.String(); {
		case s.kind == "address":
			l.addError(path+s.key, validListen(value))
		case s.kind == "URL":
			l.addError(path+s.key, validBaseURL(value))
		case s.kind == "schedule", s.kind == "schedule or off":
			l.addError(path+s.key, validSchedule(value, s.kind != "schedule"))
		case s.allowed != "" && !slices.Contains(strings.Split(s.allowed, ", "), value):
			l.add(path+s.key, "got %q; allowed: %s", value, s.allowed)
		}
	}
}

func (l *loader) checkWarehouse() {
	w := &l.Warehouse
	const identifier = "got %q; allowed: letters, digits and _, beginning with a letter"
	if !identifierForm.MatchString(w.Database) {
		l.add("warehouse.database", identifier, w.Database)
	}
	if w.Cluster != "" && !identifierForm.MatchString(w.Cluster) {
		l.add("warehouse.cluster", identifier, w.Cluster)
	}
	l.addError("warehouse.flush_interval", between(w.FlushInterval, 10*time.Millisecond, time.Minute))
	l.addError("warehouse.flush_rows", between(w.FlushRows, 1, 1_000_000))
	if w.Memory != 0 && w.Memory < MinMemory {
		l.add("warehouse.memory", "got %s; allowed: %s and more, written with its unit, as in 512MiB or 2GiB", w.Memory, Bytes(MinMemory))
	}
	if !w.DSN.Embedded() && w.Memory != 0 {
		l.add("warehouse.memory", "a remote warehouse has limits of its own; leave it empty")
	}
	if w.DSN.Embedded() && w.Cluster != "" {
		l.add("warehouse.cluster", "the embedded engine has no cluster; leave it empty, or name a remote warehouse in warehouse.dsn")
	}
	if w.DSN.Embedded() && w.PasswordFile == "" && w.HTTPListen != "" && !inbound.OnLoopback(w.HTTPListen) {
		l.add("warehouse.http_listen", "%q can be reached by others and has no password; set warehouse.password_file, or listen on 127.0.0.1", w.HTTPListen)
	}
}

// checkSource checks one source; n counts from 1, and named has the numbers of those before.
func (l *loader) checkSource(s *Source, n int, named map[string]int) {
	if given := l.written.Get(s.path); given != nil && kindOf(given) != "a section" {
		return // refused already
	}
	switch first := named[s.Name]; {
	case !l.written.Exists(s.path + ".name"):
		l.add(s.path+".name", "missing; every source needs a name of its own")
	case !nameForm.MatchString(s.Name):
		l.add(s.path+".name", "got %q; allowed: 1 to 64 of a-z, 0-9, _ and -", s.Name)
	case first > 0:
		l.add(s.path+".name", "%q is the name of source %d too; every source needs a name of its own", s.Name, first)
	default:
		named[s.Name] = n
	}
	if !l.written.Exists(s.path + ".base_url") {
		l.add(s.path+".base_url", "missing; the address of the API, as in https://host/v1")
	}
	l.checkValues(s.path+".", s.settings())
	if s.KeyEnv != "" && !envForm.MatchString(s.KeyEnv) {
		l.add(s.path+".key_env", "not the name of an environment variable (its value, the key, belongs into the environment); allowed: letters, digits and _")
	}
	switch keys := nonEmpty(s.KeyFile, s.KeyEnv, s.Key.Reveal()); {
	case len(keys) == 0:
		l.add(s.path+".key_file", "the API key is missing; set key_file or key_env")
	case len(keys) > 1:
		l.add(s.path+".key_file", "more than one of key_file, key_env and key is set; keep one")
	}
	l.addError(s.path+".streams", knownStreams(s.Streams))
	if !(s.BudgetShare > 0 && s.BudgetShare <= 1) { // NaN too
		l.add(s.path+".budget_share", "got %v; allowed: above 0 and up to 1", s.BudgetShare)
	}
	if s.PersonalData == "pseudonymise" && l.Warehouse.PersonalKeyFile() == "" {
		l.add(s.path+".personal_data", "pseudonyms in a remote warehouse need warehouse.personal_data_key_file: a file with a secret of at least 16 characters")
	}
}

func between[V cmp.Ordered](v, low, high V) error {
	if v < low || v > high {
		return fmt.Errorf("got %v; allowed: %v to %v", v, low, high)
	}
	return nil
}

func noSources(file string) string {
	const example = `at least one is needed, as in

    sources:
      - name: bistro
        base_url: https://host/v1
        key_file: /run/secrets/bistro`
	if file == "" {
		return "no configuration file was found (" + strings.Join(defaultFiles, ", ") + "; --config names another one); " + example
	}
	return example
}

func validListen(s string) error {
	_, port, err := net.SplitHostPort(s)
	if n, portErr := strconv.ParseUint(port, 10, 16); s == "" || err == nil && portErr == nil && n <= 65535 {
		return nil
	}
	return fmt.Errorf("got %q; allowed: HOST:PORT, as in 127.0.0.1:9464 or [::1]:9464", s)
}

// validBaseURL shows no more of a refused address than its form: people paste
// keys into them.
func validBaseURL(s string) error {
	const allowed = "allowed: https://HOST/v1, as the service gives it"
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("not a URL; " + allowed)
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("scheme %q; %s", u.Scheme, allowed)
	case u.Hostname() == "":
		return errors.New("no host; " + allowed)
	case u.User != nil:
		return errors.New("credentials do not belong into the address, the key goes into key_file; " + allowed)
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the address has a query or a fragment; " + allowed)
	}
	return nil
}

// validSchedule refuses what never runs. "off" is for jobs without which everything is mirrored.
func validSchedule(s string, canBeOff bool) error {
	allowed := "allowed: cron's five fields, as in */15 * * * *, or @every 30s"
	if canBeOff {
		allowed = "allowed: cron's five fields, as in */15 * * * *, @every 30s, or off"
	} else if s == "off" {
		return errors.New("got \"off\"; what it mirrors would stay as it is: to mirror some streams only, name them in sources[].streams")
	}
	if every, ok := strings.CutPrefix(s, "@every "); ok {
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err != nil || d < time.Second {
			return fmt.Errorf("got %q; allowed: @every and a duration of 1s or more", s)
		}
	} else if _, err := schedules.Parse(s); err != nil {
		return fmt.Errorf("got %q: %w; %s", s, err, allowed)
	}
	return nil
}

func knownStreams(names []string) error {
	for _, n := range names {
		if slices.Contains(Streams, n) {
			continue
		}
		meant := nearest(n, Streams)
		if meant != "" {
			meant = fmt.Sprintf(", did you mean %q?", meant)
		}
		return fmt.Errorf("stream %q is unknown%s allowed: %s", n, cmp.Or(meant, ";"), strings.Join(Streams, ", "))
	}
	return nil
}

// checkProxies refuses an address of a proxy that net/http leaves out because it cannot read it:
// requests would go past the proxy. The address may hold a password, and is not repeated.
func (l *loader) checkProxies() {
	env := httpproxy.FromEnvironment()
	for name, proxy := range map[string]string{"HTTPS_PROXY": env.HTTPSProxy, "HTTP_PROXY": env.HTTPProxy} {
		if proxy != "" && !isProxy(proxy) {
			l.problems = append(l.problems, Problem{Origin: name, Message: "not the address of a proxy; allowed: " +
				"http://host:port or http://user:password@host:port, with % and other special characters of the password as %25 and the like"})
		}
	}
}

// isProxy reports whether net/http can use the address of a proxy, which may be without a scheme.
func isProxy(text string) bool {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	at, err := url.Parse(text)
	if err != nil || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "" {
		return false // also a password with / ? or #, which would be shown as part of an address
	}
	return at.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, at.Scheme)
}
