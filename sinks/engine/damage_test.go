package engine_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/engine/damage"
)

// Of a part whose bytes have changed under a running process the table and the rows are
// named; the rest of the table can be read.
func TestDamagedPartsAreSetAsideAndNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	dir := filepath.Join(t.TempDir(), "data")
	p := enginetest.StartRole(t, "parts", nil, dir, "fill")
	for i, part := range partPaths(p) {
		if table := damagedTables[i]; table.read {
			flip(t, filepath.Join(part, table.file))
		}
	}
	got := readTables(t, p)
	told := damages(t, dir)
	p.End()
	for i, table := range damagedTables {
		// The index is in memory: it may be that the file is not read any more.
		if !table.read || table.file == "primary.cidx" && len(told[table.name]) == 0 {
			continue
		}
		expectDamage(t, table.name, got[i], told[table.name], table.file != "primary.cidx")
	}
}

// What has changed while no process ran is named too. It is known after a restart, and
// reported once.
func TestADamageIsRemembered(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	dir := filepath.Join(t.TempDir(), "data")
	start := func(args ...string) (p *enginetest.Process, parts []string) {
		p = enginetest.StartRole(t, "parts", nil, append([]string{dir}, args...)...)
		return p, partPaths(p)
	}
	p, parts := start("fill")
	p.Kill()
	for i, part := range parts {
		flip(t, filepath.Join(part, damagedTables[i].file))
	}
	p, _ = start()
	polling.Until(t, "parts that cannot be loaded are named before anything is read", func() bool {
		told := damages(t, dir)
		return len(told["columns"]) == 1 && len(told["checksums"]) == 1
	})
	expect := func() {
		t.Helper()
		got, told := readTables(t, p), damages(t, dir)
		for i, table := range damagedTables {
			// Of a part that cannot be loaded there is no index to look into.
			expectDamage(t, table.name, got[i], told[table.name], strings.HasSuffix(table.file, ".bin"))
		}
	}
	expect()
	p.Kill()
	p, _ = start()
	p.Kill()
	p, _ = start()
	expect()
	record := damage.RecordIn(dir, slog.New(slog.DiscardHandler))
	for _, table := range damagedTables {
		if err := record.Repaired("default", table.name, time.Now()); err != nil {
			t.Error(err)
		}
	}
	p.End()
	p, _ = start()
	readTables(t, p)
	p.End()
	if again := damages(t, dir); len(again) > 0 {
		t.Errorf("told again after it was repaired: %v", again)
	}
}

// partPaths are where a process in the role "parts" has found the second part of each table.
func partPaths(p *enginetest.Process) (paths []string) {
	for range damagedTables {
		paths = append(paths, p.Line())
	}
	return paths
}

// readTables are the two answers of each table to a process that reads all of them.
func readTables(t *testing.T, p *enginetest.Process) (answers [][2]string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.Stdin); err != nil {
		t.Fatal(err)
	}
	for range damagedTables {
		answers = append(answers, [2]string{p.Line(), p.Line()})
	}
	return answers
}

// damages are the entries of a folder's record, by table.
func damages(t *testing.T, dir string) map[string][]string {
	t.Helper()
	all, err := damage.RecordIn(dir, slog.New(slog.DiscardHandler)).All()
	if err != nil {
		t.Fatal(err)
	}
	byTable := map[string][]string{}
	for _, d := range all {
		byTable[d.Table] = append(byTable[d.Table], d.String())
	}
	return byTable
}

func expectDamage(t *testing.T, table string, got [2]string, told []string, loaded bool) {
	t.Helper()
	if got != [2]string{"40000 <nil>", "40000 <nil>"} {
		t.Errorf("%s: read %q", table, got)
	}
	want := "part all_2_2_0 of table default." + table + " was damaged on the disk and is set aside: 20,000 rows are missing"
	if loaded {
		want += ", b, id from ('bistro',20000) to ('bistro',39999)"
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], want) {
		t.Errorf("%s: %q, want %s", table, told, want)
	}
}

// flip changes bytes in the middle of a file.
func flip(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < min(len(content)/2+8, len(content)); i++ {
		content[i] ^= 0x5a
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
