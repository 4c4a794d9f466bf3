package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
)

// Time-outs of connections; those of statements are in the contexts.
const (
	dialTimeout = 10 * time.Second
	readTimeout = 10 * time.Minute
)

// A warehouse has connections for questions, and a few more for what writes: the flusher, an erasing
// and the look-up of columns, one statement each at a time.
const (
	questionsAtOnce = 8
	keptForWriting  = 4
)

// writerSettings are those of everything the sink writes. A retry must not be
// taken for a duplicate that can be dropped, since a later checkpoint may equal
// an earlier one; rows through a Distributed table are acknowledged only when
// their shard has them.
var writerSettings = clickhousego.Settings{
	"optimize_on_insert": 0, // up to six times slower on large blocks (docs/architecture/engine.md)
	"insert_deduplicate": 0,
	"async_insert":       0,
}

var clusterSettings = clickhousego.Settings{
	"distributed_foreground_insert": 1,
	"distributed_ddl_task_timeout":  120,
}

// Target is where a warehouse is, understood: a parsed DSN, or the embedded engine.
type Target struct {
	options clickhousego.Options
	Native  bool
	// named is the database that the DSN names; empty for none.
	Named string
	// secrets must not be seen in errors or logs.
	secrets []string
}

// Address says where a warehouse is; the options of package clickhouse tell what its fields mean.
type Address struct {
	DSN, Password string
	Dial          func(ctx context.Context, addr string) (net.Conn, error)
}

// Parse understands an address. Its errors never hold the DSN.
func Parse(o Address) (Target, error) {
	if o.DSN == "" {
		if o.Dial == nil {
			return Target{}, errors.New("warehouse: neither a DSN nor a way to dial was given")
		}
		return Target{options: clickhousego.Options{Protocol: clickhousego.HTTP, Addr: []string{"embedded"}}}.with(o), nil
	}
	text, err := explicitTLS(o.DSN)
	if err != nil {
		return Target{}, err
	}
	parsed, err := clickhousego.ParseDSN(text)
	if err != nil {
		return Target{}, fmt.Errorf("warehouse dsn: %w", redact(err, secretsOf(o.DSN)))
	}
	t := Target{options: *parsed, Native: parsed.Protocol == clickhousego.Native, Named: parsed.Auth.Database}
	if t.Named == "default" {
		t.Named = ""
	}
	t.secrets = append(secretsOf(o.DSN), parsed.Auth.Password)
	return t.with(o), nil
}

// explicitTLS adds what clickhouse-go wants beside https, and checks the scheme.
func explicitTLS(dsn string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("warehouse dsn: not a URL (percent-encode special characters of the password, or use password_file)")
	}
	switch u.Scheme {
	case "clickhouse", "http":
		return dsn, nil
	case "https":
		q := u.Query()
		q.Set("secure", "true")
		u.RawQuery = q.Encode()
		return u.String(), nil
	}
	return "", fmt.Errorf("warehouse dsn: scheme %q is not known: use clickhouse://, https:// or http://", u.Scheme)
}

func secretsOf(dsn string) []string {
	u, err := url.Parse(dsn)
	if err != nil {
		return []string{dsn}
	}
	secrets := []string{u.Query().Get("password")}
	if u.User != nil {
		password, _ := u.User.Password()
		_, encoded, _ := strings.Cut(u.User.String(), ":")
		secrets = append(secrets, password, encoded)
	}
	return secrets
}

// with adds what is the same for every DSN.
func (t Target) with(o Address) Target {
	if o.Password != "" {
		t.options.Auth.Password = o.Password
		t.secrets = append(t.secrets, o.Password, url.QueryEscape(o.Password), url.PathEscape(o.Password))
	}
	t.options.DialTimeout = dialTimeout
	t.options.ReadTimeout = readTimeout
	t.options.MaxOpenConns = questionsAtOnce + keptForWriting
	t.options.MaxIdleConns = t.options.MaxOpenConns // to dial is a statement more
	t.options.ClientInfo.Products = append(t.options.ClientInfo.Products, struct{ Name, Version string }{"larder", ""})
	if o.Dial != nil {
		t.options.DialContext = o.Dial
		t.options.TransportFunc = inLargeWrites
	}
	settings := maps.Clone(t.options.Settings)
	if settings == nil {
		settings = clickhousego.Settings{}
	}
	t.options.Settings = settings
	return t
}

// inLargeWrites sends bodies to the engine's process in fewer writes than net/http does, each
// of which wakes it: it takes 2.5 % of the processor's time off a backfill.
func inLargeWrites(t *http.Transport) (http.RoundTripper, error) {
	t.WriteBufferSize = 128 << 10
	return t, nil
}

// EmbeddedAddress stands for the address of the embedded engine.
const EmbeddedAddress = "the embedded engine"

// inside is true when it is the embedded engine, which no network leads to.
func (t Target) inside() bool {
	return t.options.DialContext != nil && len(t.options.Addr) == 1 && t.options.Addr[0] == "embedded"
}

// Address names the warehouse for messages.
func (t Target) Address() string {
	if t.inside() {
		return EmbeddedAddress
	}
	hosts := make([]string, len(t.options.Addr))
	for i, addr := range t.options.Addr {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			addr += " (no port)"
		}
		hosts[i] = addr
	}
	return strings.Join(hosts, ", ")
}
