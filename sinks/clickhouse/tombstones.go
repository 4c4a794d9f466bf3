package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/native"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// tombstonesPerStatement bounds the length of one statement.
const tombstonesPerStatement = 1000

// statementSettings allow statements that bring their data along.
var statementSettings = clickhousego.Settings{"max_query_size": 256 << 20}

// committedTombstone is a tombstone with the source and the business of its commit.
type committedTombstone struct {
	source, business string
	*sinks.Tombstone
}

// rowKey is what a row is stored under.
type rowKey struct{ business, id string }

func (b committedTombstone) key() rowKey { return rowKey{b.business, b.ID} }

// tombstoneSteps are an INSERT … SELECT per thousand tombstones that copies the last known
// values of the removed rows (docs/rules.md R5). Tombstones that were inserted with the live rows are left out.
func (f *flusher) tombstoneSteps(types map[string]native.Type, t *changes) (steps []step) {
	for group := range slices.Chunk(t.tombstones, tombstonesPerStatement) {
		steps = append(steps, step{what: "tombstones", table: t.table, rows: len(group), ofRows: true, run: func(ctx context.Context) (int64, error) {
			group := slices.DeleteFunc(slices.Clone(group), func(b committedTombstone) bool { return t.inserted[b.key()] })
			if len(group) == 0 {
				return 0, nil
			}
			sql := tombstoneStatement(f.sink.warehouse.Dialect, t.table, types, group)
			return int64(len(sql)), f.sink.warehouse.Exec(ctx, sql, statementSettings)
		}})
	}
	return steps
}

// bulkRows live rows of a table in one flush are a backfill's. Most tombstones beside them are of rows never seen, which
// have no values to copy and go into the same INSERT. Beside fewer rows most are of stored rows, and the look is not made.
const bulkRows = 1000

// insertWithLone inserts the live rows, and with them the tombstones of rows that are neither stored nor among them.
func (f *flusher) insertWithLone(ctx context.Context, types map[string]native.Type, t *changes, commits []*queued) (int64, error) {
	lone, err := f.lone(ctx, t)
	if err == nil {
		_, err = unfenced(commits) // the look may have taken long
	}
	if err != nil {
		return 0, err
	}
	parts, partOf := slices.Clone(t.parts), map[[2]string]int{}
	for _, b := range t.tombstones {
		if !lone[b.key()] {
			continue
		}
		n, ok := partOf[[2]string{b.source, b.business}]
		if !ok {
			n = len(parts)
			partOf[[2]string{b.source, b.business}] = n
			parts = append(parts, native.Part{Source: b.source, Business: b.business,
				Batch: sinks.NewBatch(t.parts[0].Batch.Table, 1), Removal: sinks.NewBatch(native.RemovalTable, 1)})
		}
		if err := appendLone(&parts[n], b.Tombstone); err != nil {
			return 0, err
		}
	}
	block, err := native.RowBlock(t.table, types, parts)
	if err != nil {
		return 0, err
	}
	bytes, err := f.sink.warehouse.Insert(ctx, block)
	if err == nil {
		t.inserted = lone
	}
	return bytes, err
}

// appendLone appends a tombstone without values.
func appendLone(to *native.Part, b *sinks.Tombstone) error {
	for i := range to.Batch.Vectors {
		if v := &to.Batch.Vectors[i]; len(v.Offsets) > 0 {
			v.EndList(0)
		} else {
			v.AppendZero()
		}
	}
	if err := to.Batch.EndRow(sinks.Row{ID: b.ID, Version: b.Version, FetchedAt: b.FetchedAt, Raw: b.Raw}); err != nil {
		return err
	}
	return appendRow(to.Removal, true, b.DeletedAt, b.Reason, b.UpdatedAt, string(b.Raw))
}

// lone are the removed rows that are neither stored, in whatever version, nor about to be.
func (f *flusher) lone(ctx context.Context, t *changes) (map[rowKey]bool, error) {
	lone := make(map[rowKey]bool, len(t.tombstones))
	for _, b := range t.tombstones {
		lone[b.key()] = true
	}
	for _, p := range t.parts {
		for i := range p.Batch.Rows {
			delete(lone, rowKey{p.Business, p.Batch.Rows[i].ID})
		}
	}
	for group := range slices.Chunk(t.tombstones, tombstonesPerStatement) {
		keys := make([]string, len(group))
		for i, b := range group {
			keys[i] = "(" + schema.Literal(b.business) + ", " + schema.Literal(b.ID) + ")"
		}
		sql := "SELECT DISTINCT business_id, id FROM " + f.sink.warehouse.Table(t.table) + " WHERE (business_id, id) IN (" + strings.Join(keys, ", ") + ")"
		err := f.sink.warehouse.RowsAtOnce(longStatement(ctx), sql, func(rows driver.Rows) error {
			var key rowKey
			err := rows.Scan(&key.business, &key.id)
			delete(lone, key)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return lone, nil
}

// newest keeps the highest version of each (business, id), in order of them.
func newest(all []committedTombstone) []committedTombstone {
	slices.SortStableFunc(all, func(a, b committedTombstone) int {
		return cmp.Or(cmp.Compare(a.business, b.business), cmp.Compare(a.ID, b.ID), cmp.Compare(b.Version, a.Version))
	})
	return slices.CompactFunc(all, func(a, b committedTombstone) bool { return a.business == b.business && a.ID == b.ID })
}

// givenStructure lists the values that come from the tombstone; all others are copied.
const givenStructure = "business_id String, id String, source String, version UInt64, fetched_at Int64, deleted_at Nullable(Int64), updated_at Nullable(Int64), reason String, raw String"

// tombstoneStatement is the statement that writes tombstones. It looks the keys up among all
// versions stored, removed ones included, since a second tombstone of a row must
// keep the values too; FINAL would hide those.
func tombstoneStatement(d schema.Dialect, table string, types map[string]native.Type, group []committedTombstone) string {
	var into, last, copied strings.Builder
	for _, name := range dataColumns(types) {
		into.WriteString(", " + schema.Quote(name))
		last.WriteString(", " + schema.Quote(name))
		copied.WriteString(", last." + schema.Quote(name))
	}
	return fmt.Sprintf(`INSERT INTO %[1]s (business_id, id, _source, _version, _fetched_at, _deleted, _deleted_at, _delete_reason, _tombstone_updated_at, _tombstone_raw, _raw%[2]s)
WITH given AS (SELECT * FROM format(TSV, %[3]s, %[4]s))
SELECT
    given.business_id, given.id, given.source, given.version, fromUnixTimestamp64Micro(given.fetched_at, 'UTC'),
    1, fromUnixTimestamp64Micro(given.deleted_at, 'UTC'), given.reason, fromUnixTimestamp64Micro(given.updated_at, 'UTC'), given.raw, if(last.seen = 1, last.raw, given.raw)%[5]s
FROM given
LEFT JOIN
(
    SELECT business_id, id, 1 AS seen, _raw AS raw%[6]s
    FROM %[1]s
    WHERE (business_id, id) IN (SELECT business_id, id FROM given)
    ORDER BY _version DESC
    LIMIT 1 BY business_id, id
) AS last ON given.business_id = last.business_id AND given.id = last.id
SETTINGS join_use_nulls = 0`,
		d.Table(table), into.String(), schema.Literal(givenStructure), schema.Literal(tombstoneLines(group)), copied.String(), last.String())
}

func tombstoneLines(group []committedTombstone) string {
	var lines strings.Builder
	for _, b := range group {
		for i, value := range []string{
			tsv(b.business), tsv(b.ID), tsv(b.source), strconv.FormatUint(b.Version, 10),
			strconv.FormatInt(b.FetchedAt.UnixMicro(), 10), tsvTime(b.DeletedAt), tsvTime(b.UpdatedAt), tsv(b.Reason), tsv(string(b.Raw)),
		} {
			if i > 0 {
				lines.WriteByte('\t')
			}
			lines.WriteString(value)
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}

// tsv escapes a text for the format TSV.
func tsv(s string) string { return tsvEscapes.Replace(s) }

var tsvEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\b", `\b`, "\f", `\f`)

func tsvTime(t time.Time) string {
	if t.IsZero() {
		return `\N`
	}
	return strconv.FormatInt(t.UnixMicro(), 10)
}
