package main

import (
	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/sinks/engine/program"
)

// engineCommand is the engine's process, which the other commands start.
func engineCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "engine ORDERS", Short: "Serve the embedded warehouse, from a process of its own", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			g.begun = true
			return program.Main(args[0])
		},
	}
}
