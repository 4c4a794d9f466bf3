package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/clickhouse/native"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// reader asks the warehouse what it holds.
type reader struct {
	warehouse *connection.Warehouse
	stored    *storedCheckpoints // learns of those that it reads

	states *batcher[string, *sinks.State]    // by source
	lives  *batcher[string, []sinks.LiveRow] // by business; the key is a query without it
	hashes *batcher[sinks.HashQuery, []sinks.RowHash]
	firsts *batcher[string, string]             // by business
	proofs *batcher[[2]string, []sinks.Verdict] // by business and source; the key is the condition on the days

	days, lines *batcher[sinks.DayQuery, []sinks.DayFigures] // by restaurant or location; the key is a query without it
}

func newReader(w *connection.Warehouse, stored *storedCheckpoints) *reader {
	r := &reader{warehouse: w, stored: stored}
	r.states, r.lives, r.hashes = batching(200, r.readStates), batching(manyRows, r.readLive), batching(manyRows, r.readHashes)
	r.firsts, r.proofs = batching(1000, r.readFirstDays), batching(manyRows, r.readVerdicts)
	r.days, r.lines = batching(10_000, r.readDays), batching(1000, r.readLines)
	r.days.weight, r.days.gather = daysOf, gathersSums
	r.lines.weight, r.lines.gather = daysOf, gathersSums
	return r
}

// State implements [sinks.Sink]. Sources that begin together share the reads of four small tables.
func (r *reader) State(ctx context.Context, source string) (sinks.State, error) {
	state, err := r.states.ask(ctx, "", source)
	if err != nil {
		return sinks.State{}, fmt.Errorf("read the state of source %s: %w", source, err)
	}
	return *state, nil
}

func (r *reader) readStates(ctx context.Context, _ string, sources []string) ([]*sinks.State, error) {
	all := map[string]*sinks.State{}
	states := make([]*sinks.State, len(sources))
	for i, source := range sources {
		if all[source] == nil {
			all[source] = &sinks.State{Quarantined: map[string][]string{}}
		}
		states[i] = all[source]
	}
	of := "source IN (" + literals(sources) + ")"
	for _, read := range []func(context.Context, string, map[string]*sinks.State) error{
		r.readCheckpoints, r.readQuarantine, r.readDrift, r.readStatuses,
	} {
		if err := read(ctx, of, all); err != nil {
			return nil, err
		}
	}
	for _, state := range all {
		for _, c := range state.Checkpoints {
			r.stored.set(c)
		}
	}
	return states, nil
}

func (r *reader) readCheckpoints(ctx context.Context, of string, all map[string]*sinks.State) error {
	sql := `SELECT source, business_id, stream, walk, watermark, pending, since, cursor, position, done, pages, rows, tombstones, first_version, started_at, updated_at
FROM ` + r.warehouse.Table("checkpoints") + ` FINAL WHERE ` + of + ` ORDER BY updated_at, stream, walk`
	return r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var c sinks.Checkpoint
		var watermark, pending, since, started *time.Time
		var pages, count, tombs int64
		err := rows.Scan(&c.Source, &c.Business, &c.Stream, &c.Walk, &watermark, &pending, &since, &c.Cursor, &c.Position, &c.Done,
			&pages, &count, &tombs, &c.FirstVersion, &started, &c.UpdatedAt)
		if err != nil {
			return err
		}
		c.Watermark, c.Pending, c.Since, c.StartedAt = orZero(watermark), orZero(pending), orZero(since), orZero(started)
		c.UpdatedAt = notEpoch(c.UpdatedAt)
		c.Pages, c.Rows, c.Tombstones = uint64(pages), uint64(count), uint64(tombs)
		state := all[c.Source]
		state.Checkpoints = append(state.Checkpoints, c)
		state.Business = c.Business // of the newest
		return nil
	})
}

// ForgetCheckpoints removes all checkpoints: what is left of them when some were lost
// cannot be trusted. Walks under way go on with what their process knows.
func (s *Sink) ForgetCheckpoints(ctx context.Context) error {
	if err := s.warehouse.Exec(ctx, "TRUNCATE TABLE "+s.warehouse.Table("checkpoints"), nil); err != nil {
		return fmt.Errorf("forget the checkpoints: %w", err)
	}
	s.flusher.stored.forget()
	return nil
}

// orZero is the time in UTC, zero for null.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// notEpoch is the time in UTC; a column that cannot be null holds zero as the
// epoch.
func notEpoch(t time.Time) time.Time {
	if t.UnixMicro() == 0 {
		return time.Time{}
	}
	return t.UTC()
}

// Businesses implements [sinks.Sink].
func (r *reader) Businesses(ctx context.Context) (map[string]string, error) {
	businesses := map[string]string{}
	sql := "SELECT source, argMax(business_id, updated_at) FROM " + r.warehouse.Table("checkpoints") + " FINAL GROUP BY source"
	err := r.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var source, business string
		err := rows.Scan(&source, &business)
		businesses[source] = business
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read which businesses the sources have mirrored: %w", err)
	}
	return businesses, nil
}

func (r *reader) readQuarantine(ctx context.Context, of string, all map[string]*sinks.State) error {
	sql := fmt.Sprintf("SELECT source, stream, row_id, %s AS hash FROM %s FINAL WHERE %s AND released_at IS NULL ORDER BY source, stream, row_id, hash LIMIT %d BY source, stream",
		contentHash, r.warehouse.Table("quarantine"), of, sinks.MaxOpen+1)
	return r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var source, stream, id, hash string
		if err := rows.Scan(&source, &stream, &id, &hash); err != nil {
			return err
		}
		open := all[source].Quarantined
		open[stream] = append(open[stream], entryOf(id, hash).Key())
		return nil
	})
}

// Quarantine implements [sinks.Sink].
func (r *reader) Quarantine(ctx context.Context, source, stream string) ([]sinks.Quarantined, error) {
	sql := `SELECT row_id, ` + contentHash + ` AS hash, field, reason, fetched_at, _version FROM ` + r.warehouse.Table("quarantine") + ` FINAL
WHERE source = ` + schema.Literal(source) + ` AND stream = ` + schema.Literal(stream) + ` AND released_at IS NULL ORDER BY row_id, hash`
	var open []sinks.Quarantined
	err := r.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var id, hash string
		var q sinks.Quarantined
		err := rows.Scan(&id, &hash, &q.Field, &q.Reason, &q.FetchedAt, &q.Version)
		q.ID, q.Content = id, entryOf(id, hash).Content
		open = append(open, q)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the quarantine of source %s: %w", source, err)
	}
	return open, nil
}

// entryOf is a stored entry by its id, or by the hash of its content where it has none.
func entryOf(id, hash string) sinks.Quarantined {
	q := sinks.Quarantined{ID: id}
	if id == "" {
		q.Content = "\x00" + hash
	}
	return q
}

func (r *reader) readDrift(ctx context.Context, of string, all map[string]*sinks.State) error {
	sql := `SELECT DISTINCT source, stream, kind, path, if(kind = 'value', example, '') AS value FROM ` + r.warehouse.Table("schema_drift") + `
WHERE ` + of + ` ORDER BY stream, kind, path, value`
	return r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var source, stream string
		var d sinks.Drift
		if err := rows.Scan(&source, &stream, &d.Kind, &d.Path, &d.Example); err != nil {
			return err
		}
		all[source].Drift = append(all[source].Drift, stream+"\x00"+d.Key())
		return nil
	})
}

func (r *reader) readStatuses(ctx context.Context, of string, all map[string]*sinks.State) error {
	sql := `SELECT source, business_id, stream, state, detail, changed_at FROM ` + r.warehouse.Table("statuses") + ` FINAL
WHERE ` + of + ` ORDER BY stream`
	return r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var st sinks.StreamStatus
		var business string
		if err := rows.Scan(&st.Source, &business, &st.Stream, &st.State, &st.Detail, &st.ChangedAt); err != nil {
			return err
		}
		st.ChangedAt = notEpoch(st.ChangedAt)
		state := all[st.Source]
		if state.Business == "" {
			state.Business = business
		}
		state.Statuses = append(state.Statuses, st)
		return nil
	})
}

// FirstDay implements [sinks.Sink]. A tombstone that stands alone has no day: it
// is recognised by the empty location that no order has.
func (r *reader) FirstDay(ctx context.Context, business string) (string, error) {
	first, err := r.firsts.ask(ctx, "", business)
	if err != nil {
		return "", fmt.Errorf("read the first day of %s: %w", business, err)
	}
	return first, nil
}

func (r *reader) readFirstDays(ctx context.Context, _ string, businesses []string) ([]string, error) {
	days := map[string]string{}
	sql := "SELECT business_id, toString(min(business_day)) FROM " + r.warehouse.Table("sales_orders") +
		" WHERE business_id IN (" + literals(businesses) + ") AND (_deleted = 0 OR location_id != '') GROUP BY business_id"
	err := r.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var business, first string
		err := rows.Scan(&business, &first)
		days[business] = first
		return err
	})
	firsts := make([]string, len(businesses))
	for i, business := range businesses {
		firsts[i] = days[business]
	}
	return firsts, err
}

// Count is the number of live rows of a stream and business.
type Count struct {
	Stream, Business string
	Rows             uint64
}

// Counts returns the live rows of streams, of the given businesses or of all, in order of stream and
// business.
func (r *reader) Counts(ctx context.Context, streams []string, businesses ...string) ([]Count, error) {
	var filter string
	if len(businesses) > 0 {
		quoted := make([]string, len(businesses))
		for i, b := range businesses {
			quoted[i] = schema.Literal(b)
		}
		filter = " WHERE business_id IN (" + strings.Join(quoted, ", ") + ")"
	}
	selects := make([]string, len(streams))
	for i, table := range streams {
		selects[i] = fmt.Sprintf("SELECT %s AS stream, business_id, count() AS live FROM %s FINAL%s GROUP BY business_id",
			schema.Literal(table), r.warehouse.Table(table), filter)
	}
	var counts []Count
	sql := "SELECT stream, business_id, live FROM (" + strings.Join(selects, " UNION ALL ") + ") ORDER BY stream, business_id"
	err := r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var c Count
		if err := rows.Scan(&c.Stream, &c.Business, &c.Rows); err != nil {
			return err
		}
		counts = append(counts, c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("count live rows: %w", err)
	}
	return counts, nil
}

// Tables are the storage tables of the streams as neutral tables, read from the
// warehouse, columns in order.
func (r *reader) Tables(ctx context.Context) ([]*sinks.Table, error) {
	sql := "SELECT table, name, type FROM system.columns WHERE database = " + schema.Literal(r.warehouse.Raw()) + " ORDER BY table, position"
	byName := map[string]*sinks.Table{}
	err := r.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var table, name, text string
		if err := rows.Scan(&table, &name, &text); err != nil {
			return err
		}
		if !slices.Contains(schema.StreamTables, table) || name == "business_id" || name == "id" || strings.HasPrefix(name, "_") {
			return nil
		}
		typ, err := native.ParseType(text)
		if err != nil {
			return fmt.Errorf("table %s, column %s: %w", table, name, err)
		}
		if byName[table] == nil {
			byName[table] = &sinks.Table{Name: table}
		}
		byName[table].Columns = append(byName[table].Columns, typ.Column(name))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the storage tables: %w", err)
	}
	tables := make([]*sinks.Table, 0, len(byName))
	for _, name := range schema.StreamTables {
		if t := byName[name]; t != nil {
			tables = append(tables, t)
		}
	}
	return tables, nil
}
