package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/sinks"
)

// Options say which warehouse to write to, and how.
type Options struct {
	// DSN is clickhouse://user:pass@host:9000/db?secure=true (native protocol) or
	// https://user:pass@host:8443/db (HTTP). Empty with Dial: a server without
	// users reached by Dial over HTTP, which is what the embedded engine is.
	// Unknown parameters of its query are settings of ClickHouse.
	DSN string
	// Password is used instead of the one in DSN when it is not empty.
	Password string
	// Dial opens connections instead of the network.
	Dial func(ctx context.Context, addr string) (net.Conn, error)

	// Database is what people query; Database_raw holds the storage tables. Empty:
	// the DSN's, or larder.
	Database string
	// Cluster, when set, makes replicated tables ON CLUSTER with Distributed
	// tables on top.
	Cluster string

	// A flush happens when FlushRows rows or half of QueueBytes are queued, or
	// FlushInterval after the last flush began. Rows that are waited for with patience, or by nobody, gather
	// for longer: [sinks.Receipt.WaitPatiently], [sinks.Gathers].
	FlushInterval time.Duration // 0: one second
	FlushRows     int           // 0: 50,000
	// QueueBytes bounds what is queued and under way; Write waits beyond it.
	QueueBytes int64 // 0: 64 MiB
	// StepTimeout bounds one step of a flush, a statement and the reads before it; then it is tried again.
	StepTimeout time.Duration // 0: five minutes

	// ClaimTimeout is after how much silence a process is taken to be dead.
	ClaimTimeout time.Duration // 0: sinks.ClaimTimeout

	Logger     *slog.Logger          // nil: none
	Registerer prometheus.Registerer // nil: none
}

// identifier is what a database or cluster may be named: it becomes part of SQL
// and of other names.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

func (o Options) withDefaults() Options {
	setDefault(&o.Database, "larder")
	setDefault(&o.FlushInterval, time.Second)
	setDefault(&o.FlushRows, 50_000)
	setDefault(&o.QueueBytes, 64<<20)
	setDefault(&o.StepTimeout, 5*time.Minute)
	setDefault(&o.ClaimTimeout, sinks.ClaimTimeout)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

func (o Options) validate() error {
	if !identifier.MatchString(o.Database) {
		return fmt.Errorf("warehouse database %q: it must be letters, digits and _, and begin with no digit", o.Database)
	}
	if o.Cluster != "" && !identifier.MatchString(o.Cluster) {
		return fmt.Errorf("warehouse cluster %q: it must be letters, digits and _, and begin with no digit", o.Cluster)
	}
	if o.FlushRows < 0 || o.QueueBytes < 0 || o.FlushInterval < 0 || o.StepTimeout < 0 {
		return errors.New("warehouse: flush rows, flush interval, queue bytes and step timeout must not be negative")
	}
	return nil
}
