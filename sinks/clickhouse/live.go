package clickhouse

import (
	"context"
	"encoding/json"
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

// Live implements [sinks.Sink]. It reads no column but those that the answer and
// the conditions need. Businesses that ask for the same share a statement, unless they page.
func (r *reader) Live(ctx context.Context, q sinks.LiveQuery) (live []sinks.LiveRow, err error) {
	location, from, err := r.liveOf(ctx, q)
	if err == nil {
		sql := "SELECT business_id, id, " + location + ", _version" + from
		if q.After != "" {
			sql += " AND id > " + schema.Literal(q.After)
		}
		if q.Limit == 0 {
			live, err = r.lives.ask(ctx, sql, q.Business)
		} else {
			err = r.eachLive(ctx, sql+of(q.Business)+" ORDER BY id LIMIT "+strconv.Itoa(q.Limit), func(_ string, row sinks.LiveRow) { live = append(live, row) })
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the live rows of %s: %w", q.Table, err)
	}
	return live, nil
}

// of is the condition of some businesses.
func of(businesses ...string) string { return " AND business_id IN (" + literals(businesses) + ")" }

// readLive answers a query of live rows for some businesses.
func (r *reader) readLive(ctx context.Context, sql string, businesses []string) ([][]sinks.LiveRow, error) {
	byBusiness := map[string][]sinks.LiveRow{}
	err := r.eachLive(ctx, sql+of(businesses...)+" ORDER BY id", func(business string, row sinks.LiveRow) { byBusiness[business] = append(byBusiness[business], row) })
	answers := make([][]sinks.LiveRow, len(businesses))
	for i, b := range businesses {
		answers[i] = byBusiness[b]
	}
	return answers, err
}

func (r *reader) eachLive(ctx context.Context, sql string, each func(business string, row sinks.LiveRow)) error {
	return r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var business string
		var row sinks.LiveRow
		err := rows.Scan(&business, &row.ID, &row.Location, &row.Version)
		each(business, row)
		return err
	})
}

// CountLive implements [sinks.Sink].
func (r *reader) CountLive(ctx context.Context, q sinks.LiveQuery) (uint64, error) {
	_, from, err := r.liveOf(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("count the live rows of %s: %w", q.Table, err)
	}
	var n uint64
	err = r.warehouse.Rows(longStatement(ctx), "SELECT count()"+from+of(q.Business), func(rows driver.Rows) error { return rows.Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("count the live rows of %s: %w", q.Table, err)
	}
	return n, nil
}

// longStatement allows statements with many ids in them.
func longStatement(ctx context.Context) context.Context {
	return clickhousego.Context(ctx, clickhousego.WithSettings(statementSettings))
}

// liveOf is how to read the location of a row of the table, and from where to
// read the rows that q selects, whatever business, After and Limit say. FINAL comes before
// the conditions: a row is judged by its newest version alone.
func (r *reader) liveOf(ctx context.Context, q sinks.LiveQuery) (location, from string, err error) {
	types, err := r.warehouse.Columns(ctx, q.Table)
	if err != nil {
		return "", "", err
	}
	var located bool
	location = "''"
	if _, located = types["location_id"]; located {
		location = "toString(ifNull(location_id, ''))"
	}
	conditions := []string{"_deleted = 0"}
	if q.Before != "" {
		conditions = append(conditions, "id < "+schema.Literal(q.Before))
	}
	if len(q.NotStatus) > 0 {
		conditions = append(conditions, "status NOT IN ("+literals(q.NotStatus)+")")
	}
	if !q.CreatedFrom.IsZero() {
		conditions = append(conditions, fmt.Sprintf("created_at >= fromUnixTimestamp64Micro(%d, 'UTC')", q.CreatedFrom.UnixMicro()))
	}
	if q.Day != "" {
		conditions = append(conditions, "business_day = toDate32("+schema.Literal(q.Day)+")")
	}
	if q.Below > 0 {
		conditions = append(conditions, "_version < "+strconv.FormatUint(q.Below, 10))
	}
	if whose := whoseRows(q, location, located); whose != "" {
		conditions = append(conditions, whose)
	}
	if located && len(q.Except) > 0 {
		conditions = append(conditions, location+" NOT IN ("+literals(q.Except)+")")
	}
	return location, " FROM " + r.warehouse.Table(q.Table) + " FINAL WHERE " + strings.Join(conditions, " AND "), nil
}

// whoseRows is the condition of Source and Locations; empty for all.
func whoseRows(q sinks.LiveQuery, location string, located bool) string {
	if q.Source == "" && (q.Locations == nil || !located) {
		return ""
	}
	whose := "_source = " + schema.Literal(q.Source)
	if located && len(q.Locations) > 0 {
		whose = "(" + whose + " OR " + location + " IN (" + literals(q.Locations) + "))"
	}
	return whose
}

func literals(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = schema.Literal(text)
	}
	return strings.Join(quoted, ", ")
}

// Hashes implements [sinks.Sink]. Businesses that ask for the same range of ids of a table, or for ids of
// it, share a statement.
func (r *reader) Hashes(ctx context.Context, q sinks.HashQuery) ([]sinks.RowHash, error) {
	key := q.Table
	if q.IDs == nil {
		key += "\x00" + q.From + "\x00" + q.Before
	}
	hashes, err := r.hashes.ask(ctx, key, q)
	if err != nil {
		return nil, fmt.Errorf("read the hashes of stored rows of %s: %w", q.Table, err)
	}
	return hashes, nil
}

func (r *reader) readHashes(ctx context.Context, _ string, all []sinks.HashQuery) ([][]sinks.RowHash, error) {
	q := all[0]
	var businesses, keys []string
	for _, q := range all {
		businesses = append(businesses, q.Business)
		for _, id := range q.IDs {
			keys = append(keys, "("+schema.Literal(q.Business)+", "+schema.Literal(id)+")")
		}
	}
	which := fmt.Sprintf("business_id IN (%s) AND id >= %s AND id < %s", literals(businesses), schema.Literal(q.From), schema.Literal(q.Before))
	if q.IDs != nil {
		which = "(business_id, id) IN (" + strings.Join(keys, ", ") + ")"
	}
	found := map[string][]sinks.RowHash{}
	sql := "SELECT business_id, id, _version, _deleted = 1, cityHash64(if(_deleted = 1, _tombstone_raw, _raw)) FROM " + r.warehouse.Table(q.Table) +
		" WHERE " + which + " ORDER BY _version DESC LIMIT 1 BY business_id, id"
	err := r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var business string
		var removed uint8
		var h sinks.RowHash
		err := rows.Scan(&business, &h.ID, &h.Version, &removed, &h.Hash)
		h.Removed = removed != 0
		found[business] = append(found[business], h)
		return err
	})
	answers := make([][]sinks.RowHash, len(all))
	for i, q := range all {
		for _, h := range found[q.Business] {
			if q.IDs == nil || slices.Contains(q.IDs, h.ID) { // two sources of a business have each its own
				answers[i] = append(answers[i], h)
			}
		}
	}
	return answers, err
}

// asJSON are the settings under which JSON holds what [sinks.StoredRow] promises.
const asJSON = ` SETTINGS output_format_json_quote_decimals = 1, output_format_decimal_trailing_zeros = 1,
	output_format_json_quote_64bit_integers = 0, date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0`

// Rows implements [sinks.Sink]. It looks among all versions stored, since FINAL
// would hide the removed ones.
func (r *reader) Rows(ctx context.Context, table, business string, ids []string) ([]sinks.StoredRow, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if len(ids) > sinks.MaxRowIDs {
		return nil, fmt.Errorf("read stored rows of %s: %d ids in one call: at most %d", table, len(ids), sinks.MaxRowIDs)
	}
	types, err := r.warehouse.Columns(ctx, table)
	if err != nil {
		return nil, fmt.Errorf("read stored rows of %s: %w", table, err)
	}
	names := dataColumns(types)
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = "ifNull(toJSONString(" + schema.Quote(name) + "), 'null')"
	}
	sql := fmt.Sprintf(`SELECT id, _version, _deleted, toString(_delete_reason), _deleted_at, _raw, [%s]
FROM %s WHERE business_id = %s AND id IN (%s) ORDER BY _version DESC LIMIT 1 BY id%s`,
		strings.Join(texts, ", "), r.warehouse.Table(table), schema.Literal(business), literals(ids), asJSON)
	var stored []sinks.StoredRow
	err = r.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		r, err := scanStored(rows, names, types)
		stored = append(stored, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read stored rows of %s: %w", table, err)
	}
	return stored, nil
}

func scanStored(rows driver.Rows, names []string, types map[string]native.Type) (sinks.StoredRow, error) {
	r := sinks.StoredRow{Columns: make(map[string]json.RawMessage, len(names))}
	var deleted uint8
	var deletedAt *time.Time
	var raw string
	var texts []string
	if err := rows.Scan(&r.ID, &r.Version, &deleted, &r.Reason, &deletedAt, &raw, &texts); err != nil {
		return r, err
	}
	r.DeletedAt = orZero(deletedAt)
	r.Removed = deleted != 0
	lone := r.Removed
	for i, name := range names {
		r.Columns[name] = json.RawMessage(texts[i])
		lone = lone && texts[i] == types[name].EmptyJSON()
	}
	if !lone {
		r.Raw = []byte(raw)
	}
	return r, nil
}

// dataColumns are the typed columns of a storage table, in order of their names:
// neither the key nor the meta columns.
func dataColumns(types map[string]native.Type) []string {
	names := make([]string, 0, len(types))
	for name := range types {
		if !strings.HasPrefix(name, "_") && name != "business_id" && name != "id" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
