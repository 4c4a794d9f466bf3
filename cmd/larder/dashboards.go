package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/dashboards"
	"github.com/larder-sync/larder/internal/lifecycle"
)

func dashboardsCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dashboards",
		Short: "Grafana dashboards, in Romanian and English",
		Long: `Larder carries dashboards for Grafana: for owners sales, products, stock,
cash-up and online-orders, for operations mirror and larder, each in Romanian and in
English.`,
		Example: "  larder dashboards export /etc/grafana/larder",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return lifecycle.UsageError(errors.New("say what to do with the dashboards, as in larder dashboards export DIR"))
		},
	}
	cmd.AddCommand(exportCommand(g))
	return cmd
}

func exportCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR",
		Short: "Write the Grafana dashboards into a folder",
		Long: `Writes the dashboards to DIR/ro/*.json (Romanian) and DIR/en/*.json (English),
and says which. DIR is made when it is not there; dashboards of the same names are
replaced, other files stay. Nothing else is read: no configuration, no warehouse.

Grafana 11.6 or newer with the plugin grafana-clickhouse-datasource 4.20 shows them:
a provider of dashboards takes each of the two folders (deploy/grafana/provisioning has
both), or a person imports single files. docs/dashboards.md tells more.`,
		Example: `  larder dashboards export /etc/grafana/larder
  larder dashboards export .   into ./ro and ./en`,
		Args: oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := dashboards.Export(args[0])
			p := &printer{out: g.out}
			for _, file := range files {
				p.printf("%s\n", file)
			}
			return errors.Join(err, p.err)
		},
	}
}

func oneFolder(_ *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return errors.New("one folder is needed, as in larder dashboards export /etc/grafana/larder")
	}
	return nil
}
