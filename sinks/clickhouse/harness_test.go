package clickhouse_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/sinktest"
)

func TestSinkOverHTTP(t *testing.T) {
	if testing.Short() {
		sinktest.RunWrites(t, overHTTP(t)) // reads are one statement after the other
		return
	}
	sinktest.Run(t, overHTTP(t))
}

// overHTTP is the harness of each test on one warehouse.
func overHTTP(t *testing.T) (fresh func(*testing.T) sinktest.Harness) {
	t.Helper()
	s, database := migrated(t, clickhouse.Options{})
	return func(t *testing.T) sinktest.Harness {
		empty(t, database)
		return harness(t, s, database, clickhouse.Options{Dial: enginetest.Engine(t).Dial})
	}
}

// notInShort skips a test under the race detector: it runs one statement after the other.
func notInShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("one statement after the other")
	}
}

// openSink opens a sink on a database of the shared engine and closes it at the
// end of the test.
func openSink(t testing.TB, o clickhouse.Options) *clickhouse.Sink {
	t.Helper()
	if o.Dial == nil && o.DSN == "" {
		o.Dial = enginetest.Engine(t).Dial
	}
	s, err := clickhouse.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// migrated is a sink on a migrated database without rows.
func migrated(t testing.TB, o clickhouse.Options) (s *clickhouse.Sink, database string) {
	t.Helper()
	o.Database = take(t)
	return openSink(t, o), o.Database
}

// migratedAnew is a sink on a database of the test's own, which may change its schema.
func migratedAnew(t testing.TB, o clickhouse.Options) (s *clickhouse.Sink, database string) {
	t.Helper()
	o.Database = enginetest.Database(t)
	s = openSink(t, o)
	if err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s, o.Database
}

// harness is a warehouse reached by the options; s reads what it holds.
func harness(t *testing.T, s *clickhouse.Sink, database string, way clickhouse.Options) sinktest.Harness {
	t.Helper()
	return sinktest.Harness{
		Dial:   way.Dial,
		Tables: tables(t, s),
		Open: func(o sinktest.Options) sinks.Sink {
			options := way
			if o.Dial != nil {
				options.Dial = o.Dial
			}
			options.ClaimTimeout = claimTimeout
			options.Database, options.FlushInterval, options.FlushRows, options.QueueBytes = database, o.FlushInterval, o.FlushRows, o.QueueBytes
			opened, err := clickhouse.Open(context.Background(), options)
			if err != nil {
				t.Fatal(err)
			}
			return opened
		},
		Rows:         func(table, business string) []sinktest.Row { return readRows(t, s, database, table, business) },
		Refuse:       func(table string) { refuse(t, database, table) },
		ClaimTimeout: claimTimeout,
		Age:          func(d time.Duration) { age(t, database, d) },
	}
}

func refuse(t *testing.T, database, table string) {
	t.Helper()
	alter(t, database, table, "ADD CONSTRAINT not_refused CHECK NOT startsWith(id, 'refused')")
	t.Cleanup(func() { alter(t, database, table, "DROP CONSTRAINT not_refused") })
}

func alter(t *testing.T, database, table, change string) {
	t.Helper()
	sql := fmt.Sprintf("ALTER TABLE `%s_raw`.`%s` %s", database, table, change)
	if err := enginetest.Conn(t, "default").Exec(context.Background(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// claimTimeout is long, so that the pauses of a busy machine are none and days
// pass in few steps.
const claimTimeout = 6 * time.Hour

// age moves what is stored about processes into the past, and what is too old out.
func age(t *testing.T, database string, d time.Duration) {
	t.Helper()
	conn := enginetest.Conn(t, "default")
	for table, columns := range map[string][]string{"processes": {"beat_at", "alive_since"}, "claims": {"since", "stated_at"}} {
		name := "`" + database + "_raw`." + table
		var moved []string
		for _, column := range columns {
			moved = append(moved, fmt.Sprintf("%[1]s = %[1]s - toIntervalMicrosecond(%[2]d)", column, d.Microseconds()))
		}
		for _, sql := range []string{
			"ALTER TABLE " + name + " UPDATE " + strings.Join(moved, ", ") + " WHERE 1 SETTINGS mutations_sync = 2",
			"ALTER TABLE " + name + " MATERIALIZE TTL SETTINGS mutations_sync = 2",
		} {
			if err := conn.Exec(context.Background(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
}

func tables(t testing.TB, s *clickhouse.Sink) map[string]*sinks.Table {
	t.Helper()
	all, err := s.Tables(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*sinks.Table{}
	for _, table := range all {
		byName[table.Name] = table
	}
	return byName
}

// query returns the answer in a format.
func query(t testing.TB, s *clickhouse.Sink, sql, format string) string {
	t.Helper()
	var answer bytes.Buffer
	if err := s.Query(context.Background(), sql, format, &answer); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer.String()
}

// asText are the settings under which JSON holds what sinktest.Values promises.
const asText = ` SETTINGS output_format_json_quote_decimals = 1, output_format_json_quote_64bit_integers = 1,
	output_format_decimal_trailing_zeros = 1, date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0`

func sqlText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\x00", `\0`).Replace(s) + "'"
}

// readRows reads the newest version of each row, and how often FINAL shows it.
func readRows(t testing.TB, s *clickhouse.Sink, database, table, business string) []sinktest.Row {
	t.Helper()
	from := fmt.Sprintf("`%s_raw`.`%s`", database, table)
	answer := query(t, s, fmt.Sprintf(`SELECT newest.*, seen.copies AS copies FROM
(SELECT * FROM %[1]s WHERE business_id = %[2]s ORDER BY _version DESC LIMIT 1 BY business_id, id) AS newest
LEFT JOIN (SELECT id, count() AS copies FROM %[1]s FINAL WHERE business_id = %[2]s GROUP BY id) AS seen ON newest.id = seen.id
ORDER BY newest.id %[3]s`, from, sqlText(business), asText), "JSONEachRow")
	var rows []sinktest.Row
	for line, err := range lines(strings.NewReader(answer)) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, rowOf(t, line))
	}
	return rows
}

func lines(r io.Reader) func(yield func(map[string]any, error) bool) {
	return func(yield func(map[string]any, error) bool) {
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				var values map[string]any
				if failed := json.Unmarshal(line, &values); !yield(values, failed) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

func rowOf(t testing.TB, values map[string]any) sinktest.Row {
	t.Helper()
	r := sinktest.Row{Values: map[string]any{}}
	for name, value := range values {
		name = strings.TrimPrefix(name, "newest.")
		text, _ := value.(string)
		switch name {
		case "id":
			r.ID = text
		case "_source":
			r.Source = text
		case "_version":
			r.Version = number(t, text)
		case "_fetched_at":
			r.FetchedAt = instant(t, text)
		case "_raw":
			r.Raw = text
		case "_deleted":
			r.Deleted = value.(float64) != 0
		case "_delete_reason":
			r.Reason = text
		case "_deleted_at":
			if value != nil {
				r.DeletedAt = instant(t, text)
			}
		case "_tombstone_raw":
			r.Tombstone = text
		case "_tombstone_updated_at":
			if value != nil {
				r.UpdatedAt = instant(t, text)
			}
		case "copies":
			r.Copies = int(number(t, text))
		case "business_id":
		default:
			r.Values[name] = value
		}
	}
	return r
}

func number(t testing.TB, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}
