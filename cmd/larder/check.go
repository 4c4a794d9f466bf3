package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/text"
)

func checkCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Try configuration, keys and warehouse before anything runs",
		Long: `Checks, one line each: the configuration, the files with secrets, the API and what
each key may do, the proxy on the way to it, the engine, the warehouse with its
version and rights, and whether the ports are free. Nothing is written anywhere;
each key is asked about once.`,
		Example: `  larder check
  larder check --config /etc/larder/larder.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.load(false, g.err, "error")
			if err != nil {
				return err
			}
			return a.Checker().Run(cmd.Context(), func(f check.Finding) {
				fmt.Fprintf(g.out, "%s %s\n", f.Mark, text.Visible(f.Text))
				if f.Advice != "" {
					fmt.Fprintf(g.out, "  → %s\n", text.Visible(f.Advice))
				}
			})
		},
	}
}
