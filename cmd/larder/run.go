package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func runCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: mirror every source until stopped",
		Long: `Mirrors every configured source until it is stopped (Ctrl-C or SIGTERM): the
backfill first, then what changed, on the schedule of the configuration.

The status page, /metrics, /healthz and /readyz are at web.listen. With the
embedded engine, its ClickHouse HTTP interface is at warehouse.http_listen. A
remote warehouse that is down is waited for; nothing is lost.

The configuration is read anew when its file changes, and on SIGHUP. Sources, the
schedule and log.level change at once; a warning names what waits for the next start.
A configuration that is not right is refused, and the one before stays in use.`,
		Example: `  larder run
  larder run --config /etc/larder/larder.yaml --log-format json
  larder run --set web.listen=127.0.0.1:9000
  pkill -HUP -f 'larder run'         read the configuration anew`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A daemon whose log nobody reads any more goes on: Go ends a process that writes to a
			// closed standard error unless it receives the signal.
			unread := make(chan os.Signal, 1)
			signal.Notify(unread, syscall.SIGPIPE)
			defer signal.Stop(unread)
			hangup := make(chan os.Signal, 1)
			signal.Notify(hangup, syscall.SIGHUP)
			defer signal.Stop(hangup)
			a, err := g.load(false, g.err, "")
			if err != nil {
				return err
			}
			g.reload.Hangup = hangup
			return a.Run(cmd.Context(), g.reload)
		},
	}
}
