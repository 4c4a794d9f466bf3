package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// DSN says which warehouse it is. It prints without its password.
type DSN struct {
	dir    string
	remote *url.URL
}

const dsnForms = "embedded:DIR, clickhouse://USER:PASS@HOST:9000/DB?secure=true, or https://USER:PASS@HOST:8443/DB"

// ParseDSN reads embedded:DIR, clickhouse://, http:// and https://. Its
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
	if u.Scheme != "clickhouse" && u.Scheme != "http" && u.Scheme != "https" {
		return DSN{}, errors.New("unknown scheme; allowed: " + dsnForms)
	}
	if u.Hostname() == "" {
		return DSN{}, errors.New("no host; allowed: " + dsnForms)
	}
	return DSN{remote: u}, nil
}

// Embedded reports whether Larder carries the engine itself.
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
		u.User = url.UserPassword(cmp.Or(u.User.Username(), "default"), password.Reveal())
	}
	return u.String()
}

// Password is the DSN's own password; zero when it has none.
func (d DSN) Password() Secret {
	if d.remote == nil {
		return Secret{}
	}
	p, _ := d.remote.User.Password()
	return NewSecret(cmp.Or(p, d.remote.Query().Get("password")))
}

// String is the DSN as it may be shown: with the password as ***.
func (d DSN) String() string {
	if d.remote == nil {
		return "embedded:" + d.dir
	}
	const hidden = "xxxxx" // what Redacted writes; *** would be escaped
	u := *d.remote
	q := u.Query()
	for k := range q {
		if strings.Contains(strings.ToLower(k), "password") {
			q.Set(k, hidden)
		}
	}
	u.RawQuery = q.Encode()
	return strings.ReplaceAll(u.Redacted(), hidden, "***")
}

// Format prints without the password for every verb.
func (d DSN) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(d.String())) // a fmt.State reports errors to no one
}

// MarshalText prints without the password.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// database is the one that the DSN names, if any.
func (d DSN) database() string {
	if d.remote == nil {
		return ""
	}
	return identifierForm.FindString(strings.Trim(d.remote.Path, "/"))
}
