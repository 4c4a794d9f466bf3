package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
)

func TestAMissingEngineSaysWhatToDo(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "libchdb.so")
	if err := os.WriteFile(broken, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, library := range []string{"/nowhere/libchdb.so", broken, t.TempDir()} {
		got := enginetest.AnswerOf(t, "open", []string{engine.LibraryEnv + "=" + library}, filepath.Join(t.TempDir(), "data"))
		if !strings.HasPrefix(got, "missing: ") || !strings.Contains(got, library) || !strings.Contains(got, "make engine") {
			t.Errorf("%s: %s", library, got)
		}
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below"), "/proc/larder-data"} {
		got := enginetest.AnswerOf(t, "open", nil, path)
		if !strings.HasPrefix(got, "unwritable: ") || !strings.Contains(got, path) || !strings.Contains(got, "warehouse.dsn") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// Whoever else is on the machine finds no row in a folder that was there before, whether the
// engine was in it or not.
func TestOthersFindNoRowsInAnOpenFolder(t *testing.T) {
	dir := t.TempDir()
	inside := []string{"data", "metadata", "store", "tmp"}
	for _, before := range [][]string{nil, inside} {
		for _, name := range append([]string{""}, before...) {
			if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil { //nolint:gosec // as somebody has made it
				t.Fatal(err)
			}
		}
		enginetest.StartRole(t, "hold", nil, dir).Line()
		for _, name := range inside {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o007 != 0 {
				t.Errorf("%s, with %v before: %v %v", name, before, info, err)
			}
		}
		dir = t.TempDir()
		for _, name := range inside {
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil { //nolint:gosec // likewise
				t.Fatal(err)
			}
		}
	}
}

func TestAHeldFolderIsReachedThroughItsHolder(t *testing.T) {
	ctx := context.Background()
	for name, dir := range map[string]string{
		"plain": filepath.Join(t.TempDir(), "data"),
		"long":  filepath.Join(t.TempDir(), strings.Repeat("a long name/", 12), "data"),
	} {
		t.Run(name, func(t *testing.T) {
			holder := enginetest.StartRole(t, "hold", nil, dir)
			pid := holder.Line()
			got := enginetest.AnswerOf(t, "open", nil, dir)
			if !strings.HasPrefix(got, "held: ") || !strings.Contains(got, "process "+pid) || !strings.Contains(got, dir) {
				t.Errorf("second process: %s", got)
			}
			info, err := os.Stat(filepath.Join(dir, "larder.sock"))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("socket: %v %v", info, err)
			}
			dial := server.DialHeld(dir)
			conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{"embedded"}, DialContext: dial})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.Exec(ctx, "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n"); err != nil {
				t.Error(err)
			}
			if err := conn.InsertFormat(ctx, "CSV", "INSERT INTO w", strings.NewReader("1\n2\n")); err != nil {
				t.Error(err)
			}
			holder.End()
			if _, err := os.Stat(filepath.Join(dir, "larder.sock")); err == nil {
				t.Error("the socket stayed behind")
			}
			if got := enginetest.AnswerOf(t, "count", nil, dir); got != "2 2" {
				t.Errorf("after the holder ended: %s", got)
			}
			if _, err := dial(ctx, ""); err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("nobody holds it: %v", err)
			}
		})
	}
}

// What was acknowledged is there after kill -9, once, and the next start is not
// in the way of what the killed process left.
func TestKilledProcessesLoseNothing(t *testing.T) { killed(t, 2) }

// killed kills a process that writes, in each round later.
func killed(t *testing.T, rounds int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	acknowledged := 0
	for round := range rounds {
		writer := enginetest.StartRole(t, "write", nil, dir)
		for range 3 + 4*round {
			var err error
			if acknowledged, err = strconv.Atoi(writer.Line()); err != nil {
				t.Fatal(err)
			}
		}
		writer.Kill()
		for writer.Lines.Scan() {
			last, err := strconv.Atoi(writer.Lines.Text())
			if err == nil {
				acknowledged = last
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "larder.sock")); err != nil {
			t.Fatalf("a killed process should leave its socket: %v", err)
		}
		if engine.Held(dir) != nil {
			t.Error("the lock outlived its process")
		}
		var count, highest int
		if _, err := fmt.Sscan(enginetest.AnswerOf(t, "count", nil, dir), &count, &highest); err != nil {
			t.Fatal(err)
		}
		// One more may have been durable without having been told.
		if count != highest || highest < acknowledged || highest > acknowledged+1 {
			t.Fatalf("round %d: acknowledged %d, found %d rows up to %d", round, acknowledged, count, highest)
		}
	}
}

func TestAFullDiskFailsTheInsertAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	got := enginetest.AnswerOf(t, "diskfull", nil, filepath.Join(t.TempDir(), "data"))
	if !strings.HasPrefix(got, "1000000 ") {
		t.Error(got)
	}
}

// Inserts that are refused at the same time leave nothing that cannot be read.
func TestDiskRefusesACrowd(t *testing.T) {
	crowd(t, "5")
}

// crowd has each of many inserts refused in each round.
func crowd(t *testing.T, rounds string) {
	t.Helper()
	if got := enginetest.AnswerOf(t, "crowd", nil, filepath.Join(t.TempDir(), "data"), rounds); got != "true" {
		t.Errorf("said %s", got)
	}
}

// A merge that the disk refused must not cost the rows that it was made of: the
// engine deletes those parts eight minutes later.
func TestAMergeThatTheDiskRefusedLosesNothing(t *testing.T) {
	if got := enginetest.AnswerOf(t, "merge", nil, filepath.Join(t.TempDir(), "data")); got != "true" {
		t.Error(got)
	}
}

func TestOneFolderAtATime(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	got := enginetest.AnswerOf(t, "twice", nil, first, second)
	if !strings.HasPrefix(got, "true start the engine on "+second) {
		t.Error(got)
	}
}

func TestClosingStopsWhatIsUnderWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if got := enginetest.AnswerOf(t, "busy", nil, dir); got != "first: true second: true" {
		t.Error(got)
	}
	if got := enginetest.AnswerOf(t, "count", nil, dir); got != "0 0" {
		t.Errorf("rows of an insert that never ended: %s", got)
	}
}

// Where the engine does not say why it cannot start, nobody is told to give up the folder.
func TestAnEngineThatDoesNotStartBlamesNoFolder(t *testing.T) {
	dir := t.TempDir()
	metadata := filepath.Join(dir, "metadata")
	if err := errors.Join(os.Mkdir(metadata, 0o700), os.WriteFile(filepath.Join(metadata, "w.sql"), []byte("of a newer version"), 0o600)); err != nil {
		t.Fatal(err)
	}
	got := enginetest.AnswerOf(t, "open", nil, dir)
	if !strings.Contains(got, "standard error") || !strings.Contains(got, "keep it") || strings.Contains(got, "damaged") {
		t.Error(got)
	}
}

// Rows that go into a folder that was removed or replaced go nowhere: they are not
// acknowledged, whoever puts what in its place.
func TestAFolderLostUnderItsHolder(t *testing.T) {
	for name, lose := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+".old") },
		"replaced by an empty one": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700))
		},
		"replaced by another's": func(dir string) error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			enginetest.StartRole(t, "hold", nil, dir+".another").Line()
			return os.Rename(dir+".another", dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			p := enginetest.StartRole(t, "lost", nil, dir)
			if got := p.Line(); got != "stored" {
				t.Fatal(got)
			}
			if err := lose(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintln(p.Stdin); err != nil {
				t.Fatal(err)
			}
			for _, what := range []string{"insert", "again"} {
				got := p.Line()
				for _, want := range []string{what + ": ", "removed or replaced", dir, "Stop this process"} {
					if !strings.Contains(got, want) {
						t.Errorf("%s: %q lacks %q", what, got, want)
					}
				}
			}
			p.End()
			if name == "replaced by another's" {
				if _, err := os.Stat(filepath.Join(dir, "larder.sock")); err != nil {
					t.Errorf("the socket of who holds the folder now: %v", err)
				}
			}
		})
	}
}
