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

// planTombstones makes an INSERT … SELECT per table that copies the last known
// values of the removed rows (DESIGN R5). Of several tombstones of one row only the
// highest version is written.
func (f *flusher) planTombstones(ctx context.Context, commits []*queued) ([]step, error) {
	var order []string
	tombstones := map[string][]committedTombstone{}
	for _, item := range commits {
		c := item.commit
		if len(c.Tombstones) > 0 && tombstones[c.Stream] == nil {
			order = append(order, c.Stream)
		}
		for i := range c.Tombstones {
			tombstones[c.Stream] = append(tombstones[c.Stream], committedTombstone{c.Source, c.Business, &c.Tombstones[i]})
		}
	}
	var steps []step
	for _, table := range order {
		types, err := f.sink.warehouse.Columns(ctx, table)
		if err != nil {
			return nil, err
		}
		for group := range slices.Chunk(newest(tombstones[table]), tombstonesPerStatement) {
			sql := tombstoneStatement(f.sink.warehouse.Dialect, table, types, group)
			steps = append(steps, step{what: "tombstones", table: table, rows: len(group), ofRows: true, run: func(ctx context.Context) (int64, error) {
				return int64(len(sql)), f.sink.warehouse.Exec(ctx, sql, statementSettings)
			}})
		}
	}
	return steps, nil
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
