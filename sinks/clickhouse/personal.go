package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/clickhouse/native"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// Personal implements [sinks.Sink].
func (s *Sink) Personal() sinks.Personal { return s.personal }

// personalData is what a warehouse stores of people.
type personalData struct {
	warehouse *connection.Warehouse

	erasing   *semaphore.Weighted // one at a time changes the settings of tables for that
	recovered bool                // from what a process has left behind that died while it erased

	forgottenOrders *batcher[string, []string] // by business
	filledOrders    *batcher[ordersOf, int]    // the key is a query without whose orders
}

func newPersonalData(w *connection.Warehouse) *personalData {
	p := &personalData{warehouse: w, erasing: semaphore.NewWeighted(1)}
	p.forgottenOrders, p.filledOrders = batching(200, p.readForgotten), batching(200, p.countFilled)
	return p
}

// ordersOf are the orders of a business that a source wrote.
type ordersOf struct{ business, source string }

var errNoCluster = errors.New("the warehouse is a cluster, and Larder cannot erase there yet")

// versioned is where the versions of rows, or of quarantine entries, are.
type versioned struct{ table, source, id, raw, tombstone, condition string }

func versionedIn(stream string, quarantine bool, business string) versioned {
	own := "business_id = " + schema.Literal(business)
	if quarantine {
		return versioned{quarantineTable.Name, "source", "row_id", "raw", "''", own + " AND stream = " + schema.Literal(stream)}
	}
	return versioned{stream, "_source", "id", "_raw", "_tombstone_raw", own}
}

// key tells versions apart: two processes may have given one version to two rows.
func (v versioned) key() string {
	return "concat(" + v.source + ", char(0), " + v.id + ", char(0), toString(_version))"
}

func keyOfVersion(r sinks.RowVersion) string {
	return r.Source + "\x00" + r.ID + "\x00" + strconv.FormatUint(r.Version, 10)
}

// Versions implements [sinks.Personal].
func (p *personalData) Versions(ctx context.Context, q sinks.VersionQuery, each func(sinks.RowVersion) error) error {
	in := versionedIn(q.Table, q.Quarantine, q.Business)
	conditions := []string{in.condition}
	if q.Source != "" {
		conditions = append(conditions, in.source+" = "+schema.Literal(q.Source))
	}
	if q.IDs != nil {
		if len(q.IDs) == 0 {
			return nil
		}
		conditions = append(conditions, in.id+" IN ("+literals(q.IDs)+")")
	}
	if len(q.Filled) > 0 && !q.Quarantine {
		filled, err := p.filled(ctx, q.Table, q.Filled)
		if err != nil {
			return err
		}
		conditions = append(conditions, filled)
	}
	sql := "SELECT toString(" + in.source + "), " + in.id + ", _version, " + in.raw + ", " + in.tombstone + " FROM " + p.warehouse.Table(in.table) +
		" WHERE " + strings.Join(conditions, " AND ")
	err := p.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var v sinks.RowVersion
		var raw, tombstone string
		if err := rows.Scan(&v.Source, &v.ID, &v.Version, &raw, &tombstone); err != nil {
			return err
		}
		v.Raw, v.Tombstone = []byte(raw), []byte(tombstone)
		return each(v)
	})
	if err != nil {
		return fmt.Errorf("read the stored versions of %s: %w", in.table, err)
	}
	return nil
}

// filled is the condition that one of the columns is not null.
func (p *personalData) filled(ctx context.Context, name string, columns []string) (string, error) {
	table, err := p.warehouse.Columns(ctx, name)
	if err != nil {
		return "", err
	}
	var filled []string
	for _, column := range columns {
		if table[column].Depth > 0 {
			filled = append(filled, "arrayExists(v -> isNotNull(v), "+schema.Quote(column)+")")
		} else {
			filled = append(filled, schema.Quote(column)+" IS NOT NULL")
		}
	}
	return "(" + strings.Join(filled, " OR ") + ")", nil
}

// CountFilled implements [sinks.Personal].
func (p *personalData) CountFilled(ctx context.Context, table, business, source string, columns []string) (n int, err error) {
	filled, err := p.filled(ctx, table, columns)
	if err == nil {
		n, err = p.filledOrders.ask(ctx, p.warehouse.Table(table)+" WHERE "+filled, ordersOf{business, source})
	}
	if err != nil {
		return 0, fmt.Errorf("count the rows of %s that hold more than is kept: %w", table, err)
	}
	return n, nil
}

func (p *personalData) countFilled(ctx context.Context, key string, all []ordersOf) ([]int, error) {
	businesses := make([]string, len(all))
	for i, o := range all {
		businesses[i] = o.business
	}
	found := map[ordersOf]int{}
	sql := "SELECT business_id, toString(_source), uniqExact(id) FROM " + key + of(businesses...) + " GROUP BY business_id, _source"
	err := p.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var o ordersOf
		var n uint64
		err := rows.Scan(&o.business, &o.source, &n)
		found[o] = int(n) //nolint:gosec // orders of a restaurant
		return err
	})
	answers := make([]int, len(all))
	for i, o := range all {
		answers[i] = found[o]
	}
	return answers, err
}

// redactedAtOnce is how many versions one statement redacts at most.
const redactedAtOnce = 2000

// Redact implements [sinks.Personal].
func (p *personalData) Redact(ctx context.Context, r sinks.Redaction) error {
	if err := p.erasing.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for another erasing: %w", context.Cause(ctx))
	}
	defer p.erasing.Release(1)
	in := versionedIn(r.Table, r.Quarantine, r.Business)
	types, err := p.warehouse.Columns(ctx, in.table)
	if err != nil {
		return err
	}
	r.Texts = maps.Clone(r.Texts)
	if r.Quarantine {
		if err := p.eraseNameless(ctx, in, &r); err != nil {
			return err
		}
	}
	for len(r.Versions) > 0 {
		some := r
		n := min(len(r.Versions), redactedAtOnce)
		some.Versions, r.Versions = r.Versions[:n], r.Versions[n:]
		some.Texts = map[string][]string{}
		for column, values := range r.Texts {
			some.Texts[column], r.Texts[column] = values[:n], values[n:]
		}
		err := p.withRedacted(ctx, some, func(values string) error {
			return p.rewrite(ctx, in.table, in.update(some, types, values))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseNameless removes quarantine entries without an id: their JSON is part of their key.
func (p *personalData) eraseNameless(ctx context.Context, in versioned, r *sinks.Redaction) error {
	var keys []string
	r.Versions = slices.DeleteFunc(slices.Clone(r.Versions), func(v sinks.RowVersion) bool {
		if v.ID == "" {
			keys = append(keys, keyOfVersion(v))
		}
		return v.ID == ""
	})
	if len(keys) == 0 {
		return nil
	}
	return p.rewrite(ctx, in.table, "DELETE WHERE "+in.condition+" AND "+in.key()+" IN ("+literals(keys)+")")
}

// redactedPrefix begins the names of the tables that hold what versions become. The engine
// keeps the text of a mutation for long, so that nothing of a person may stand in it, not even
// a pseudonym.
const redactedPrefix = "redaction_"

// Recover implements [sinks.Personal]. What it finds was left behind by a process that died,
// or belongs to one that is at work on the same server: for that one it waits longer.
func (p *personalData) Recover(ctx context.Context) error {
	if err := p.erasing.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for another erasing: %w", context.Cause(ctx))
	}
	defer p.erasing.Release(1)
	if p.recovered {
		return nil
	}
	old := " AND metadata_modification_time < now() - INTERVAL 1 HOUR"
	if p.warehouse.Address() == connection.EmbeddedAddress {
		old = "" // nobody else is at work here
	}
	left, err := p.tables(ctx, "startsWith(name, "+schema.Literal(redactedPrefix)+")"+old)
	for _, name := range left {
		err = errors.Join(err, p.dropRedacted(ctx, name))
	}
	changed, unread := p.tables(ctx, "position(create_table_query, 'old_parts_lifetime = 1,') > 0")
	err = errors.Join(err, unread)
	for _, name := range changed {
		err = errors.Join(err, p.awaitOldParts(ctx, name), p.resetParts(ctx, name))
	}
	if err != nil {
		return fmt.Errorf("clear away what an erasing has left behind: %w", err)
	}
	p.recovered = old == "" // else another process may have died since
	return nil
}

// dropRedacted drops a table of what versions become. A mutation that was given up on may
// still be under way, and would fail for ever without it, with all behind it.
func (p *personalData) dropRedacted(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	under := "SELECT count() FROM system.mutations WHERE database = " + schema.Literal(p.warehouse.Raw()) + " AND NOT is_done AND position(command, " + schema.Literal(name) + ") > 0"
	var n uint64
	err := p.warehouse.Rows(ctx, under, func(rows driver.Rows) error { return rows.Scan(&n) })
	if err == nil && n > 0 {
		err = p.warehouse.Exec(ctx, "KILL MUTATION WHERE database = "+schema.Literal(p.warehouse.Raw())+" AND position(command, "+schema.Literal(name)+") > 0 SYNC", nil)
	}
	if err != nil {
		return fmt.Errorf("end the mutations that read %s: %w", name, err)
	}
	return p.warehouse.Exec(ctx, "DROP TABLE IF EXISTS "+p.warehouse.Table(name)+" SYNC", nil)
}

// tables are the storage tables of a condition.
func (p *personalData) tables(ctx context.Context, condition string) ([]string, error) {
	return p.texts(ctx, "SELECT name FROM system.tables WHERE database = "+schema.Literal(p.warehouse.Raw())+" AND "+condition)
}

// texts are the answer to a query for one column of texts.
func (p *personalData) texts(ctx context.Context, sql string) (all []string, err error) {
	err = p.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var text string
		err := rows.Scan(&text)
		all = append(all, text)
		return err
	})
	return all, err
}

// withRedacted calls f while a table holds what some versions become, by their keys.
func (p *personalData) withRedacted(ctx context.Context, r sinks.Redaction, f func(values string) error) (err error) {
	table := &sinks.Table{Name: redactedPrefix + strings.ToLower(rand.Text()), Columns: []sinks.Column{{Name: "key"}, {Name: "raw"}, {Name: "tombstone"}}}
	for _, column := range slices.Sorted(maps.Keys(r.Texts)) {
		table.Columns = append(table.Columns, sinks.Column{Name: column})
	}
	columns := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		columns[i] = schema.Quote(c.Name) + " String"
	}
	name := p.warehouse.Table(table.Name)
	if err := p.warehouse.Exec(ctx, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+") ENGINE = Join(ANY, LEFT, key)", nil); err != nil {
		return fmt.Errorf("make a table of what is redacted: %w", err)
	}
	defer func() { err = errors.Join(err, p.dropRedacted(context.WithoutCancel(ctx), table.Name)) }()
	batch := sinks.NewBatch(table, len(r.Versions))
	for i, version := range r.Versions {
		values := []any{keyOfVersion(version), string(version.Raw), string(version.Tombstone)}
		for _, c := range table.Columns[3:] {
			values = append(values, r.Texts[c.Name][i])
		}
		if err := appendRow(batch, values...); err != nil {
			return err
		}
	}
	types, err := p.warehouse.Columns(ctx, table.Name)
	if err != nil {
		return err
	}
	b, err := native.PlainBlock(types, batch)
	if err != nil {
		return err
	}
	if _, err := p.warehouse.Insert(ctx, b); err != nil {
		return fmt.Errorf("fill a table of what is redacted: %w", err)
	}
	return f(p.warehouse.Raw() + "." + table.Name)
}

// update is what changes some of the versions to the values of a table.
func (v versioned) update(r sinks.Redaction, types map[string]native.Type, values string) string {
	var keys, ids []string
	for _, version := range r.Versions {
		keys, ids = append(keys, keyOfVersion(version)), append(ids, version.ID)
	}
	slices.Sort(ids)
	get := func(column string) string {
		return "joinGet(" + schema.Literal(values) + ", " + schema.Literal(column) + ", " + v.key() + ")"
	}
	become := []string{schema.Quote(v.raw) + " = " + get("raw")}
	if v.table == quarantineTable.Name { // it quotes the value
		become = append(become, "reason = 'what was wrong is not kept'")
	} else {
		become = append(become, schema.Quote(v.tombstone)+" = "+get("tombstone"))
	}
	for _, column := range r.Null {
		become = append(become, schema.Quote(column)+" = "+nothing(column, types[column]))
	}
	for _, column := range slices.Sorted(maps.Keys(r.Texts)) {
		become = append(become, schema.Quote(column)+" = nullIf("+get(column)+", '')")
	}
	return "UPDATE " + strings.Join(become, ", ") + " WHERE " + v.condition + " AND " + v.id + " IN (" + literals(slices.Compact(ids)) + ") AND " +
		v.key() + " IN (" + literals(keys) + ")"
}

// nothing is what a column without values holds. A plain NULL would be written over the value:
// it hides it, and the value stays in the file.
func nothing(column string, t native.Type) string {
	switch {
	case t.Depth > 0:
		return "arrayMap(v -> NULL, " + schema.Quote(column) + ")"
	case t.Kind == sinks.Text:
		return "nullIf(materialize(''), '')"
	default:
		return "nullIf(materialize(0), 0)"
	}
}

// EraseDrift implements [sinks.Personal].
func (p *personalData) EraseDrift(ctx context.Context, business, source, stream string, ids []string) error {
	where := "business_id = " + schema.Literal(business) + " AND stream = " + schema.Literal(stream)
	if source != "" {
		where += " AND source = " + schema.Literal(source)
	}
	if ids != nil {
		where += " AND row_id IN (" + literals(ids) + ")"
	}
	var n uint64
	sql := "SELECT count() FROM " + p.warehouse.Table(driftTable.Name) + " WHERE " + where
	err := p.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error { return rows.Scan(&n) })
	if err != nil || n == 0 {
		return err
	}
	if err := p.erasing.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for another erasing: %w", context.Cause(ctx))
	}
	defer p.erasing.Release(1)
	return p.rewrite(ctx, driftTable.Name, "DELETE WHERE "+where)
}

// rewrite writes the parts of a table anew that hold what a mutation changes, and waits until
// the old ones are off the disk. Until then the new ones are on it for sure: what a merge
// writes is else written back when the system likes, and the old parts are kept that long.
func (p *personalData) rewrite(ctx context.Context, table, mutation string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("take personal data out of %s: %w", table, err)
		}
	}()
	if p.warehouse.Cluster != "" {
		return errNoCluster
	}
	alter := "ALTER TABLE " + p.warehouse.Table(table) + " "
	if err := p.warehouse.Exec(ctx, alter+"MODIFY SETTING old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1", nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.resetParts(context.WithoutCancel(ctx), table)) }()
	settings := maps.Clone(statementSettings)
	settings["mutations_sync"] = 2
	if err := p.warehouse.Exec(ctx, alter+mutation, settings); err != nil {
		return err
	}
	return p.awaitOldParts(ctx, table)
}

// resetParts has a table treat old parts as before.
func (p *personalData) resetParts(ctx context.Context, table string) error {
	return p.warehouse.Exec(ctx, "ALTER TABLE "+p.warehouse.Table(table)+" RESET SETTING old_parts_lifetime, min_rows_to_fsync_after_merge", nil)
}

// Waiting for parts that were replaced.
const (
	oldPartsLook = 250 * time.Millisecond
	oldPartsWait = 10 * time.Minute // a replicated table clears them when it likes
)

// awaitOldParts waits until the parts of a table that are replaced by now are off the disk.
func (p *personalData) awaitOldParts(ctx context.Context, table string) error {
	ctx, cancel := context.WithTimeout(ctx, oldPartsWait)
	defer cancel()
	left, err := p.oldParts(ctx, table)
	for ; err == nil && len(left) > 0; left, err = p.oldParts(ctx, table, left...) {
		if !lifecycle.Pause(ctx, oldPartsLook) {
			return fmt.Errorf("%d old parts are still on the disk: do it again later: %w", len(left), context.Cause(ctx))
		}
		// An engine without work looks for old parts every ten minutes. It looks for them at
		// once when a partition is dropped, even one that does not exist.
		err := p.warehouse.Exec(ctx, "ALTER TABLE "+p.warehouse.Table(table)+" DROP PARTITION ID 'none'", nil)
		if err != nil {
			return err
		}
	}
	return err
}

// oldParts are parts of a table that were replaced and are on the disk: of those named, or
// all.
func (p *personalData) oldParts(ctx context.Context, table string, of ...string) ([]string, error) {
	sql := "SELECT name FROM system.parts WHERE _state IN ('Outdated', 'Deleting', 'DeleteOnDestroy') AND database = " + schema.Literal(p.warehouse.Raw()) +
		" AND table = " + schema.Literal(table)
	if len(of) > 0 {
		sql += " AND name IN (" + literals(of) + ")"
	}
	return p.texts(ctx, sql)
}

// Detached implements [sinks.Personal].
func (p *personalData) Detached(ctx context.Context, stream string) (int, error) {
	var n uint64
	sql := "SELECT count() FROM system.detached_parts WHERE database = " + schema.Literal(p.warehouse.Raw()) +
		" AND table IN (" + literals([]string{stream, quarantineTable.Name, driftTable.Name}) + ")"
	err := p.warehouse.Rows(ctx, sql, func(rows driver.Rows) error { return rows.Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("count the detached parts: %w", err)
	}
	return int(n), nil
}
