// Command gendocs writes the documents that are made from the code: `make docs`.
//
//	docs/data-dictionary.md from a migrated warehouse, in the embedded engine
//	cmd/larder              from the licences of the modules in the binary
//
// Contents: finding out what the code says of itself and writing it down. The test fails when a
// document is stale.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
)

func main() {
	if err := run(context.Background(), "docs"); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	parties, err := thirdParties(ctx, ".")
	if err != nil {
		return err
	}
	if err := os.WriteFile(noticesFile, parties, 0o644); err != nil { //nolint:gosec // a document
		return err
	}
	scratch, err := os.MkdirTemp("", "larder-docs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	engine, err := server.Open(ctx, scratchIn(scratch))
	if err != nil {
		return err
	}
	defer engine.Close()
	dictionary, err := dataDictionary(ctx, engine)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "data-dictionary.md"), dictionary, 0o644) //nolint:gosec // a document
}

// scratchIn are the options of an engine for Larder's own databases in a folder.
func scratchIn(dir string) engine.Options {
	return engine.Options{Path: filepath.Join(dir, "data"), Databases: []string{"larder", "larder_raw"}}
}

// dataDictionary migrates the engine and describes what is there.
func dataDictionary(ctx context.Context, engine *server.Server) ([]byte, error) {
	sink, err := clickhouse.Open(ctx, clickhouse.Options{Dial: engine.Dial})
	if err != nil {
		return nil, err
	}
	defer sink.Close(ctx)
	if err := sink.Migrate(ctx); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = sink.Dictionary(ctx, &b)
	return b.Bytes(), err
}
