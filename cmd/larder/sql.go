package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

func sqlCommand(g *globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "Ask the warehouse",
		Long: `Runs one query on the warehouse and prints the answer: as a table on a terminal,
as tab-separated lines elsewhere, or in any of ClickHouse's formats. "-" reads the
query from standard input. Queries may read and not change. It works beside a
running daemon. On a terminal, what would act on it or cannot be seen is escaped, as
in \u001b; a pipe or file gets the answer as it is.`,
		Example: `  larder sql 'SELECT business_day, sum(totals_net_sales) FROM sales_orders GROUP BY 1 ORDER BY 1'
  larder sql --format JSONEachRow 'SELECT * FROM products LIMIT 3'
  larder sql - < report.sql`,
		Args: oneQuery,
		RunE: func(cmd *cobra.Command, args []string) error {
			query := args[0]
			if query == "-" {
				b, err := io.ReadAll(g.in)
				if err != nil {
					return fmt.Errorf("read query: %w", err)
				}
				query = string(b)
			}
			if strings.TrimSpace(query) == "" {
				return lifecycle.UsageError(errors.New("the query is empty"))
			}
			if m := namesFormat.FindStringSubmatch(query); m != nil && !strings.EqualFold(m[1], "asc") && !strings.EqualFold(m[1], "desc") {
				return lifecycle.UsageError(fmt.Errorf("the query names its format: leave out FORMAT %s, and say --format %s", m[1], m[1]))
			}
			a, err := g.load(true, g.err, "warn")
			if err != nil {
				return err
			}
			usual, out := "TabSeparatedWithNames", unescaped(g.out) // a pipe gets what the warehouse answers, byte by byte
			if interactive(g.out) {
				usual, out = clickhouse.DefaultFormat, g.out
			}
			return a.Query(cmd.Context(), query, cmp.Or(format, usual), out)
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "one of ClickHouse's `format`s, as in CSVWithNames, JSON, Vertical")
	return cmd
}

func oneQuery(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("one query is needed, and here are %d arguments: put it in quotes, as in larder sql 'SELECT count() FROM sales_orders'; - reads it from standard input", len(args))
	}
	return nil
}

// namesFormat is a query that ends in a format, which the driver does not take: what it
// asks for would be another. A sort by a column of that name is none.
var namesFormat = regexp.MustCompile(`(?is)\sFORMAT\s+([A-Za-z][A-Za-z0-9]*)[\s;]*$`)
