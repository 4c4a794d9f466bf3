package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/sinks/clickhouse/native"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// Warehouse is a ClickHouse server, and the types of the columns of its tables.
type Warehouse struct {
	Target
	schema.Dialect
	conn   driver.Conn // whose default database is the server's own
	Outage *Outage

	// Questions wait here as long as their callers do: clickhouse-go gives up after the time-out of
	// a dial, which would be taken for an outage.
	questions *semaphore.Weighted
	lookUp    *semaphore.Weighted // held while types are read

	mu     sync.Mutex
	types  map[string]map[string]native.Type // storage table, column
	asking driver.Conn                       // whose default database is the one that people query
}

// Open makes the connections of a warehouse. None is made before the first statement: the
// warehouse may be down.
func Open(t Target, d schema.Dialect, log *slog.Logger) (*Warehouse, error) {
	options := t.options
	options.Auth.Database = ""
	if t.inside() { // where there are no rows, nothing here reads the columns, which cost the engine a statement
		options.HttpHeaders = map[string]string{"Prefer": "return=minimal"}
	}
	conn, err := clickhousego.Open(&options)
	if err != nil {
		return nil, t.Explain(err)
	}
	return &Warehouse{
		Target: t, Dialect: d, conn: conn, Outage: &Outage{log: log},
		questions: semaphore.NewWeighted(questionsAtOnce), lookUp: semaphore.NewWeighted(1),
	}, nil
}

// Beside is the same warehouse with connections of its own: what is asked there waits for none of
// what is asked here.
func (w *Warehouse) Beside() (*Warehouse, error) {
	other, err := Open(w.Target, w.Dialect, nil)
	if err == nil {
		other.Outage = w.Outage
	}
	return other, err
}

// Close ends the connections.
func (w *Warehouse) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.conn.Close()
	if w.asking != nil {
		if closed := w.asking.Close(); err == nil {
			err = closed
		}
	}
	return w.Explain(err)
}

// answered is how a statement went: the error explained, and noted as an outage when it says
// that nobody is there.
func (w *Warehouse) answered(err error) error {
	err = w.Explain(err)
	w.Outage.answered(err)
	return err
}

// Asker is the connection for people's queries: names without a database mean
// the views.
func (w *Warehouse) Asker() (driver.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking != nil {
		return w.asking, nil
	}
	options := w.options
	options.Auth.Database = w.Database
	conn, err := clickhousego.Open(&options)
	if err != nil {
		return nil, w.Explain(err)
	}
	w.asking = conn
	return conn, nil
}

func (w *Warehouse) settings(more clickhousego.Settings) clickhousego.Settings {
	all := maps.Clone(writerSettings)
	if w.Cluster != "" {
		maps.Copy(all, clusterSettings)
	}
	maps.Copy(all, more)
	return all
}

// Exec runs a statement that brings its data with it.
func (w *Warehouse) Exec(ctx context.Context, sql string, more clickhousego.Settings) error {
	ctx = clickhousego.Context(ctx, clickhousego.WithSettings(w.settings(more)))
	return w.answered(w.conn.Exec(ctx, sql))
}

// Insert writes a block and returns how many bytes of it were sent.
func (w *Warehouse) Insert(ctx context.Context, b *native.Block) (int64, error) {
	if b.Rows == 0 {
		return 0, nil
	}
	ctx = clickhousego.Context(ctx, clickhousego.WithSettings(w.settings(nil)))
	if w.Native {
		n, err := w.insertNative(ctx, b)
		return n, w.answered(err)
	}
	body := b.Reader()
	err := w.conn.InsertFormat(ctx, "Native", insertStatement(w.Dialect, b), io.NopCloser(body))
	closed := body.Close()
	if err == nil {
		err = closed
	}
	return body.Size, w.answered(err)
}

// Rows runs a query and calls each for every row of its answer, which runs no query itself. A caller
// that gives up waiting for its turn says nothing about the warehouse.
func (w *Warehouse) Rows(ctx context.Context, sql string, each func(driver.Rows) error) error {
	if err := w.questions.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for other queries of the warehouse: %w; try again, and end statements that take long", context.Cause(ctx))
	}
	defer w.questions.Release(1)
	return w.RowsAtOnce(ctx, sql, each)
}

// RowsAtOnce is Rows for the reads of a flush, which do not wait for their turn among other queries.
func (w *Warehouse) RowsAtOnce(ctx context.Context, sql string, each func(driver.Rows) error) error {
	rows, err := w.conn.Query(ctx, sql)
	if err != nil {
		return w.answered(err)
	}
	for rows.Next() {
		if err := each(rows); err != nil {
			return w.answered(errors.Join(err, rows.Close()))
		}
	}
	return w.answered(errors.Join(rows.Err(), rows.Close()))
}

// Columns are the types of a storage table's columns, read once for all callers. Those that are known
// wait for nobody.
func (w *Warehouse) Columns(ctx context.Context, table string) (map[string]native.Type, error) {
	if known := w.known(table); known != nil {
		return known, nil
	}
	if err := w.lookUp.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for the columns of the storage tables: %w", context.Cause(ctx))
	}
	defer w.lookUp.Release(1)
	if known := w.known(table); known != nil {
		return known, nil
	}
	types, err := w.loadTypes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the columns of the storage tables: %w", err)
	}
	w.mu.Lock()
	w.types = types
	w.mu.Unlock()
	if types[table] == nil {
		return nil, fmt.Errorf("the warehouse has no table %s: run larder migrate", w.Table(table))
	}
	return types[table], nil
}

func (w *Warehouse) known(table string) map[string]native.Type {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.types[table]
}

func (w *Warehouse) loadTypes(ctx context.Context) (map[string]map[string]native.Type, error) {
	types := map[string]map[string]native.Type{}
	sql := "SELECT table, name, type FROM system.columns WHERE database = " + schema.Literal(w.Raw())
	return types, w.RowsAtOnce(ctx, sql, func(rows driver.Rows) error {
		var table, name, text string
		if err := rows.Scan(&table, &name, &text); err != nil {
			return err
		}
		typ, err := native.ParseType(text)
		if err != nil {
			return nil //nolint:nilerr // a column that no batch can name is not ours to judge
		}
		if types[table] == nil {
			types[table] = map[string]native.Type{}
		}
		types[table][name] = typ
		return nil
	})
}

// ForgetTypes makes the next use of a table ask for its columns again.
func (w *Warehouse) ForgetTypes() {
	w.mu.Lock()
	w.types = nil
	w.mu.Unlock()
}

// insertStatement is the one that takes a block.
func insertStatement(d schema.Dialect, b *native.Block) string {
	names := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		names[i] = schema.Quote(c.Name)
	}
	return "INSERT INTO " + d.Table(b.Table) + " (" + strings.Join(names, ", ") + ")"
}
