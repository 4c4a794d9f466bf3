package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/sinks/embedded/reader"
)

// engineCommand is started by the daemon, for who only reads.
func engineCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "engine ORDERS", Short: "Serve the warehouse to readers, from a process of its own", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g.begun = true
			return reader.Main(cmd.Context(), args[0], []string{os.Args[0], "engine"}, os.Stdin, os.Stdout, nil)
		},
	}
}
