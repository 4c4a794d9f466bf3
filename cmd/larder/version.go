package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/notices"
)

func versionLine() string {
	return fmt.Sprintf("larder %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionCommand(g *globals) *cobra.Command {
	var licences bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, or the licences of what is inside",
		Example: `  larder version
  larder version --notices | less`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if licences {
				_, err := io.WriteString(g.out, notices.Text)
				return err
			}
			_, err := io.WriteString(g.out, versionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&licences, "notices", false, "print the licences of third parties whose work the binary contains")
	return cmd
}
