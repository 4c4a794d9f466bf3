package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/sinks/clickhouse"
)

func migrateCommand(g *globals) *cobra.Command {
	var print bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create or update the warehouse's tables and views",
		Long: `Creates the databases, tables and views, or brings them up to date. It may be
run again at any time. The daemon does the same when it starts; run this first
when the daemon's own user may not create tables.`,
		Example: `  larder migrate
  larder migrate --print > schema.sql   the statements, without running them`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.load(true, g.err, "")
			if err != nil {
				return err
			}
			if print {
				return clickhouse.PrintMigrations(g.out, a.Config.Warehouse.Database, a.Config.Warehouse.Cluster)
			}
			if err := a.Migrate(cmd.Context()); err != nil {
				return err
			}
			_, err = fmt.Fprintln(g.out, "The warehouse is up to date.")
			return err
		},
	}
	cmd.Flags().BoolVar(&print, "print", false, "print the statements instead of running them")
	return cmd
}
