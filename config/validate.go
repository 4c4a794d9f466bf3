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

	schedules "github.com/larder-sync/larder/syncer/schedule"
)

var (
	nameForm       = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)
	identifierForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	envForm        = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

	errNotText = errors.New("not text; allowed: text (put it in quotes)")
)

func optional(c check[string]) check[string] {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return c(s)
	}
}

func between[V cmp.Ordered](low, high V) check[V] {
	return func(v V) error {
		if v < low || v > high {
			return fmt.Errorf("got %v; allowed: %v to %v", v, low, high)
		}
		return nil
	}
}

func oneOf(allowed ...string) check[string] {
	return func(s string) error {
		if !slices.Contains(allowed, s) {
			return fmt.Errorf("got %q; allowed: %s", s, strings.Join(allowed, ", "))
		}
		return nil
	}
}

func validName(s string) error {
	if !nameForm.MatchString(s) {
		return fmt.Errorf("got %q; allowed: 1 to 64 of a-z, 0-9, _ and -", s)
	}
	return nil
}

func validIdentifier(s string) error {
	if !identifierForm.MatchString(s) {
		return fmt.Errorf("got %q; allowed: letters, digits and _, beginning with a letter", s)
	}
	return nil
}

func validEnvName(s string) error {
	if !envForm.MatchString(s) {
		return errors.New("not the name of an environment variable (its value, the key, belongs into the environment); allowed: letters, digits and _")
	}
	return nil
}

func validUser(s string) error {
	if strings.ContainsAny(s, ":\x00\r\n") {
		return fmt.Errorf("got %q; allowed: text without a colon", s)
	}
	return nil
}

func validListen(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		if n, perr := strconv.Atoi(port); perr == nil && n >= 0 && n <= 65535 {
			return nil
		}
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

func validShare(f float64) error {
	if !(f > 0 && f <= 1) { // NaN too
		return fmt.Errorf("got %v; allowed: above 0 and up to 1", f)
	}
	return nil
}

// validSchedule refuses what never runs. "off" is for jobs without which everything is mirrored.
func validSchedule(canBeOff bool) check[string] {
	allowed := "allowed: cron's five fields, as in */15 * * * *, or @every 30s"
	if canBeOff {
		allowed = "allowed: cron's five fields, as in */15 * * * *, @every 30s, or off"
	}
	return func(s string) error {
		if s == "off" && !canBeOff {
			return errors.New("got \"off\"; what it mirrors would stay as it is: to mirror some streams only, name them in sources[].streams")
		}
		if rest, ok := strings.CutPrefix(s, "@every "); ok {
			d, err := time.ParseDuration(strings.TrimSpace(rest))
			if err != nil || d < time.Second {
				return fmt.Errorf("got %q; allowed: @every and a duration of 1s or more", s)
			}
			return nil
		}
		if _, err := schedules.Parse(s); err != nil {
			return fmt.Errorf("got %q: %w; %s", s, err, allowed)
		}
		return nil
	}
}

func knownStreams(names []string) error {
	for _, n := range names {
		if slices.Contains(Streams, n) {
			continue
		}
		if near := nearest(n, Streams); near != "" {
			return fmt.Errorf("stream %q is unknown, did you mean %q? allowed: %s", n, near, strings.Join(Streams, ", "))
		}
		return fmt.Errorf("stream %q is unknown; allowed: %s", n, strings.Join(Streams, ", "))
	}
	return nil
}

func streamNames() string { return "Known: `" + strings.Join(Streams, "`, `") + "`." }

// loopback is true when only this machine can reach an address.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func listensOnLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && loopback(host)
}

// checkProxies refuses an address of a proxy that net/http leaves out because it cannot read it:
// requests would go past the proxy. The address may hold a password, and is not repeated.
func (c *Config) checkProxies(p *problems) {
	env := httpproxy.FromEnvironment()
	for name, proxy := range map[string]*string{"HTTPS_PROXY": &env.HTTPSProxy, "HTTP_PROXY": &env.HTTPProxy} {
		if *proxy == "" || isProxy(*proxy) {
			continue
		}
		*proxy = "http://proxy.invalid" // whom the proxy is for depends on NO_PROXY too
		if c.usesProxy(env) {
			p.found = append(p.found, located{Problem: Problem{Origin: name, Outside: true, Message: "not the address of a proxy; allowed: " +
				"http://host:port or http://user:password@host:port, with % and other special characters of the password as %25 and the like"}})
		}
		*proxy = ""
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

// usesProxy reports whether a source or the warehouse is reached through proxy.invalid.
func (c *Config) usesProxy(env *httpproxy.Config) bool {
	through := env.ProxyFunc()
	invalid := func(to *url.URL) bool {
		at, err := through(to)
		return err == nil && at != nil && at.Host == "proxy.invalid"
	}
	if c.Warehouse.DSN.remote != nil && invalid(c.Warehouse.DSN.remote) {
		return true
	}
	return slices.ContainsFunc(c.Sources, func(s Source) bool {
		to, err := url.Parse(s.BaseURL)
		return err == nil && invalid(to)
	})
}
