package clickhouse

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// described is a table or view with its columns, as the warehouse describes it.
type described struct {
	name, comment string
	columns       [][3]string // name, type, comment
}

const viewsTitle = "Views"

// Dictionary writes the data dictionary of a migrated warehouse as Markdown: the
// views that people query, then the storage tables. The same schema gives the
// same text.
func (r *reader) Dictionary(ctx context.Context, w io.Writer) error {
	var text strings.Builder
	text.WriteString("# Data dictionary\n\nGenerated from the schema of the warehouse; do not edit.\n\n" +
		"Two databases: `larder` (the configured name) holds the views that people query, `larder_raw` the storage\n" +
		"tables behind them. Money is in RON. Instants and days are those of Europe/Bucharest.\n\n" +
		"Each view says what one row is, which columns tell its rows apart, whom it joins, and a query to begin with. Names\n" +
		"stand beside ids, so most questions need no join: the [cookbook](cookbook.md) has many of them.\n")
	for _, part := range []struct{ title, database string }{
		{viewsTitle, r.warehouse.Database}, {"Storage tables", r.warehouse.Raw()},
	} {
		tables, err := r.describe(ctx, part.database)
		if err != nil {
			return fmt.Errorf("describe the schema: %w", err)
		}
		fmt.Fprintf(&text, "\n## %s\n\n", part.title)
		for _, t := range tables {
			fmt.Fprintf(&text, "- [`%s`](#%s-%s): %s\n", t.name, anchor(part.title), t.name, t.comment)
		}
		for _, t := range tables {
			writeTable(&text, part.title, t)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func anchor(title string) string { return strings.ToLower(strings.Fields(title)[0]) }

func writeTable(text *strings.Builder, title string, t described) {
	fmt.Fprintf(text, "\n<a id=\"%s-%s\"></a>\n### `%s`\n\n%s.\n", anchor(title), t.name, t.name, t.comment)
	if g, ok := schema.Guides()[t.name]; ok && title == viewsTitle {
		schema.WriteGuide(text, g)
	}
	text.WriteString("\n| Column | Type | Meaning |\n|---|---|---|\n")
	for _, c := range t.columns {
		fmt.Fprintf(text, "| `%s` | `%s` | %s |\n", c[0], c[1], strings.ReplaceAll(c[2], "|", "\\|"))
	}
}

// describe reads the tables of a database in order of their names; what feeds
// the history is left out.
func (r *reader) describe(ctx context.Context, database string) ([]described, error) {
	var tables []described
	sql := "SELECT name, comment FROM system.tables WHERE database = " + schema.Literal(database) +
		" AND engine NOT IN ('MaterializedView') AND NOT startsWith(name, '.') ORDER BY name"
	err := r.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var t described
		err := rows.Scan(&t.name, &t.comment)
		tables = append(tables, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	sql = "SELECT table, name, type, comment FROM system.columns WHERE database = " + schema.Literal(database) + " ORDER BY table, position"
	return tables, r.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var table string
		var column [3]string
		if err := rows.Scan(&table, &column[0], &column[1], &column[2]); err != nil {
			return err
		}
		if i := slices.IndexFunc(tables, func(t described) bool { return t.name == table }); i >= 0 {
			tables[i].columns = append(tables[i].columns, column)
		}
		return nil
	})
}
