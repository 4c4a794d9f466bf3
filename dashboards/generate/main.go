// Command generate writes the dashboards of package dashboards into dashboards/ro and
// dashboards/en: `go run ./dashboards/generate`, which `make docs` does too.
//
// Contents: writing down what Build gives.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/larder-sync/larder/dashboards"
)

func main() {
	if err := run("dashboards"); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	for _, language := range dashboards.Languages {
		files, err := dashboards.Build(language)
		if err != nil {
			return err
		}
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(dir, language, name), b, 0o644); err != nil { //nolint:gosec // committed
				return err
			}
		}
	}
	return nil
}
