package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
)

// DSN says which warehouse it is. It prints without its password.
type DSN struct {
	dir    string
	remote *url.URL
}

const dsnForms = "embedded:DIR, clickhouse://USER:PASS@HOST:9000/DB?secure=true, or https://USER:PASS@HOST:8443/DB"

// ParseDSN understands embedded:DIR, clickhouse://, http:// and https://. Its
// errors never hold the text that was given: it may hold a password.
func ParseDSN(text string) (DSN, error) {
	if dir, ok := strings.CutPrefix(text, "embedded:"); ok {
		if dir == "" {
			return DSN{}, errors.New("embedded: needs a folder, as in embedded:./larder-data")
		}
		return DSN{dir: dir}, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return DSN{}, errors.New("not a URL (percent-encode special characters of the password, or use password_file); allowed: " + dsnForms)
	}
	switch u.Scheme {
	case "clickhouse", "http", "https":
	default:
		return DSN{}, errors.New("unknown scheme; allowed: " + dsnForms)
	}
	if u.Hostname() == "" {
		return DSN{}, errors.New("no host; allowed: " + dsnForms)
	}
	return DSN{remote: u}, nil
}

// Embedded is true when Larder carries the engine itself.
func (d DSN) Embedded() bool { return d.remote == nil }

// Dir is the data folder of the embedded engine.
func (d DSN) Dir() string { return d.dir }

// Reveal returns the DSN with its credentials, for the driver only. A password
// from elsewhere (password_file) takes the place of the DSN's.
func (d DSN) Reveal(password Secret) string {
	if d.remote == nil {
		return "embedded:" + d.dir
	}
	u := *d.remote
	if !password.IsZero() {
		user := u.User.Username()
		if user == "" {
			user = "default"
		}
		u.User = url.UserPassword(user, password.Reveal())
	}
	return u.String()
}

// Password is the DSN's own password; zero when it has none.
func (d DSN) Password() Secret {
	if d.remote == nil {
		return Secret{}
	}
	p, _ := d.remote.User.Password()
	if p == "" {
		p = d.remote.Query().Get("password")
	}
	return NewSecret(p)
}

// String is the DSN as it may be shown: with the password as ***.
func (d DSN) String() string {
	if d.remote == nil {
		return "embedded:" + d.dir
	}
	u := *d.remote
	q := u.Query()
	for k := range q {
		if strings.Contains(strings.ToLower(k), "password") {
			q.Set(k, "***")
		}
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "%2A%2A%2A", "***")
	user := u.User
	u.User = nil
	text := u.String()
	if user == nil {
		return text
	}
	credentials := url.User(user.Username()).String()
	if _, has := user.Password(); has {
		credentials += ":***"
	}
	return strings.Replace(text, "://", "://"+credentials+"@", 1)
}

// GoString prints without the password.
func (d DSN) GoString() string { return d.String() }

// Format prints without the password for every verb.
func (d DSN) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(d.String())) // a fmt.State reports errors to no one
}

// MarshalText prints without the password.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// MarshalYAML prints without the password.
func (d DSN) MarshalYAML() (any, error) { return d.String(), nil }

// LogValue prints without the password.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// database is the one that the DSN names, if any.
func (d DSN) database() string {
	if d.remote == nil || !identifierForm.MatchString(strings.Trim(d.remote.Path, "/")) {
		return ""
	}
	return strings.Trim(d.remote.Path, "/")
}

// under resolves a relative folder against the configuration file's.
func (d DSN) under(base string) DSN {
	if d.remote == nil {
		d.dir = under(base, d.dir)
	}
	return d
}

func under(base, path string) string {
	if path == "" || base == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
