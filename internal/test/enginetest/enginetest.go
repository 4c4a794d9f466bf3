// Package enginetest gives tests a real ClickHouse: the embedded engine, one
// for each test binary, with a database of its own for each test.
//
// Contents: what tests of any package need to reach an engine.
package enginetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/program"
	"github.com/larder-sync/larder/sinks/engine/server"
)

var shared struct {
	sync.Mutex
	engine *server.Server
	dir    string
	serial atomic.Uint64
}

// Engine returns the engine of this test binary, opened on a folder of its own
// at the first call. It fails the test when the engine is missing. Use Main in
// TestMain so that the folder is removed at the end.
func Engine(t testing.TB) *server.Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.engine != nil {
		return shared.engine
	}
	removeStale()
	dir, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		t.Fatalf("folder for the embedded engine: %v", err)
	}
	engine, err := server.Open(context.Background(), engine.Options{Path: dir, Databases: []string{"default", "test_*"}})
	if err != nil {
		t.Fatalf("open the embedded engine: %v", err)
	}
	shared.engine, shared.dir = engine, dir
	return engine
}

// Main runs the tests of a binary, closes its engine and removes the folder. A process
// that StartRole has started plays its role instead, and one that Larder has started as its
// engine is that.
//
//	func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }
func Main(m *testing.M, roles ...map[string]Role) int {
	PlayEngine()
	if code, played := play(roles); played {
		return code
	}
	code := m.Run()
	if err := Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// PlayEngine is `larder engine` in a process that was started as that, and ends it: what is
// tested starts its engine from the program that it is in, which is the test binary. TestMain
// calls it first.
func PlayEngine() {
	if len(os.Args) != 3 || os.Args[1] != engineCommand {
		return
	}
	if err := program.Main(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Close closes the engine of this test binary, if it is open, and removes its folder.
func Close() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.engine == nil {
		return nil
	}
	engine := shared.engine
	shared.engine = nil
	if err := engine.Close(); err != nil {
		return fmt.Errorf("close the embedded engine: %w", err)
	}
	if err := os.RemoveAll(shared.dir); err != nil {
		return fmt.Errorf("remove the embedded engine's folder: %w", err)
	}
	return nil
}

const folderPrefix = "larder-engine-test-"

// removeStale removes the folders of test binaries that were killed: those whose
// engine is not locked any more. A young one may be about to be locked.
func removeStale() {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range old {
		info, err := os.Stat(dir)
		if err == nil && time.Since(info.ModTime()) > time.Hour && engine.Held(dir) == nil {
			_ = os.RemoveAll(dir) // a folder that stays is for the next run
		}
	}
}

// Database creates a fresh database on the shared engine, returns its name and
// drops it when the test ends, with <name>_raw beside it (docs/rules.md, Warehouse) if there
// is one.
func Database(t testing.TB) string {
	t.Helper()
	engine := Engine(t)
	name := fmt.Sprintf("test_%d_%s", shared.serial.Add(1), simple(t.Name()))
	conn := connect(t, engine, "default")
	if err := conn.Exec(context.Background(), "CREATE DATABASE `"+name+"`"); err != nil {
		t.Fatalf("create database %s: %v", name, err)
	}
	t.Cleanup(func() {
		for _, database := range []string{name, name + "_raw"} {
			if err := conn.Exec(context.Background(), "DROP DATABASE IF EXISTS `"+database+"` SYNC"); err != nil {
				t.Errorf("drop database %s: %v", database, err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return name
}

// Conn returns a connection to a database of the shared engine, closed when the
// test ends.
func Conn(t testing.TB, database string) driver.Conn {
	t.Helper()
	conn := connect(t, Engine(t), database)
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return conn
}

func connect(t testing.TB, engine *server.Server, database string) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Open(&clickhouse.Options{
		Protocol:    clickhouse.HTTP,
		Addr:        []string{"embedded"},
		Auth:        clickhouse.Auth{Database: database},
		DialContext: engine.Dial,
	})
	if err != nil {
		t.Fatalf("connect to the embedded engine: %v", err)
	}
	return conn
}

// simple makes a test's name one of a database.
func simple(name string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	return kept[:min(len(kept), 40)]
}
