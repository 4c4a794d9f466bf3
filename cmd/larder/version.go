package main

import (
	_ "embed" // the notices
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// notices are the licences of third parties, which internal/gendocs writes.
//
//go:embed THIRD-PARTY-NOTICES.txt
var notices string

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
			text := versionLine()
			if licences {
				text = notices
			}
			_, err := io.WriteString(g.out, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&licences, "notices", false, "print the licences of third parties whose work the binary contains")
	return cmd
}
