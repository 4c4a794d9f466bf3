package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// DefaultFormat is how Query prints when no format is asked for.
const DefaultFormat = "PrettyCompactNoEscapes"

// readOnly lets a query read and change settings, and nothing else.
var readOnly = clickhousego.Settings{"readonly": 2, "session_timezone": schema.Zone}

// Query runs a reading query and writes its answer in a format of ClickHouse
// (empty: a table for people). Names without a database mean the views. Over the
// native protocol, which has no formats, only the table, TabSeparated and
// TabSeparatedWithNames can be had.
func (s *Sink) Query(ctx context.Context, sql, format string, w io.Writer) error {
	if format == "" {
		format = DefaultFormat
	}
	conn, err := s.warehouse.Asker()
	if err != nil {
		return err
	}
	sql = strings.TrimRight(strings.TrimSpace(sql), "; \n\t")
	ctx = clickhousego.Context(ctx, clickhousego.WithSettings(readOnly))
	if s.warehouse.Native {
		return s.warehouse.Explain(queryNative(ctx, conn, sql, format, w))
	}
	answer, err := conn.QueryFormat(ctx, format, sql)
	if err != nil {
		return s.warehouse.Explain(err)
	}
	_, err = io.Copy(w, answer)
	return s.warehouse.Explain(errors.Join(err, answer.Close()))
}

// nativeFormats are those that can be made here: what is between values, and
// whether the names of the columns come first.
var nativeFormats = map[string]struct{ names, table bool }{
	DefaultFormat: {names: true, table: true}, "PrettyCompact": {names: true, table: true}, "Pretty": {names: true, table: true},
	"TabSeparated": {}, "TSV": {}, "TabSeparatedWithNames": {names: true}, "TSVWithNames": {names: true},
}

func queryNative(ctx context.Context, conn driver.Conn, sql, format string, w io.Writer) error {
	how, ok := nativeFormats[format]
	if !ok {
		return fmt.Errorf("format %s: the native protocol has no formats: use an https:// DSN, or one of TSV, TSVWithNames, Pretty", format)
	}
	columns, lines, err := askTexts(ctx, conn, sql)
	var refused *clickhousego.Exception
	if errors.As(err, &refused) && refused.Code == codeSyntax { // it cannot stand inside another query, or it is none
		columns, lines, err = askValues(ctx, conn, sql)
	}
	if err != nil {
		return err
	}
	if how.names {
		lines = append([][]string{columns}, lines...)
	}
	if how.table {
		return printTable(w, lines)
	}
	return printTabs(w, lines)
}

// codeSyntax is ClickHouse's for a statement that is not SQL as it reads it.
const codeSyntax = 62

// endOfQuery closes a query within another one, whose last line may be a comment.
const endOfQuery = "\n)"

// askTexts lets the server turn the values of a query into text.
func askTexts(ctx context.Context, conn driver.Conn, sql string) (columns []string, lines [][]string, err error) {
	if columns, err = describe(ctx, conn, sql); err != nil {
		return nil, nil, err
	}
	texts := make([]string, len(columns))
	for i, name := range columns {
		texts[i] = "ifNull(toString(answer." + schema.Quote(name) + "), '\\\\N')"
	}
	rows, err := conn.Query(ctx, "SELECT "+strings.Join(texts, ", ")+" FROM ("+sql+endOfQuery+" AS answer")
	if err != nil {
		return nil, nil, err
	}
	lines, err = scanTexts(rows, len(columns))
	return columns, lines, err
}

// askValues is for what cannot stand inside another query, as SHOW TABLES. The
// server refuses what would change something.
func askValues(ctx context.Context, conn driver.Conn, sql string) (columns []string, lines [][]string, err error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, nil, err
	}
	types := rows.ColumnTypes()
	for rows.Next() {
		values := make([]any, len(types))
		for i, t := range types {
			values[i] = reflect.New(t.ScanType()).Interface()
		}
		if err := rows.Scan(values...); err != nil {
			return nil, nil, errors.Join(err, rows.Close())
		}
		line := make([]string, len(values))
		for i, v := range values {
			line[i] = fmt.Sprint(reflect.ValueOf(v).Elem().Interface())
		}
		lines = append(lines, line)
	}
	return rows.Columns(), lines, errors.Join(rows.Err(), rows.Close())
}

func describe(ctx context.Context, conn driver.Conn, sql string) ([]string, error) {
	rows, err := conn.Query(ctx, "SELECT * FROM ("+sql+endOfQuery+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	return rows.Columns(), rows.Close()
}

func scanTexts(rows driver.Rows, n int) ([][]string, error) {
	var lines [][]string
	for rows.Next() {
		line := make([]string, n)
		into := make([]any, n)
		for i := range line {
			into[i] = &line[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		lines = append(lines, line)
	}
	return lines, errors.Join(rows.Err(), rows.Close())
}

func printTabs(w io.Writer, lines [][]string) error {
	for _, line := range lines {
		escaped := make([]string, len(line))
		for i, text := range line {
			if text != `\N` {
				text = tsv(text)
			}
			escaped[i] = text
		}
		if _, err := io.WriteString(w, strings.Join(escaped, "\t")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// printTable prints lines under a line of names, in columns.
func printTable(w io.Writer, lines [][]string) error {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	for n, line := range lines {
		var b strings.Builder
		for i, text := range line {
			b.WriteString(text + strings.Repeat(" ", widths[i]-len([]rune(text))+2))
		}
		b.WriteByte('\n')
		if n == 0 {
			for _, width := range widths {
				b.WriteString(strings.Repeat("─", width) + "  ")
			}
			b.WriteByte('\n')
		}
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}
