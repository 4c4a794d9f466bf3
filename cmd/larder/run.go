package main

import "github.com/spf13/cobra"

func runCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: mirror every source until stopped",
		Long: `Mirrors every configured source until it is stopped (Ctrl-C or SIGTERM): the
backfill first, then what changed, on the schedule of the configuration.

The status page, /metrics, /healthz and /readyz are at web.listen. With the
embedded engine, its ClickHouse HTTP interface is at warehouse.http_listen. A
remote warehouse that is down is waited for; nothing is lost.`,
		Example: `  larder run
  larder run --config /etc/larder/larder.yaml --log-format json
  larder run --set web.listen=127.0.0.1:9000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.load(false)
			if err != nil {
				return err
			}
			return a.Run(cmd.Context())
		},
	}
}
