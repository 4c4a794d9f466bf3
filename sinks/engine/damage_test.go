package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// Of a part whose bytes have changed, under a running process or a stopped one, the
// table and the rows are named; the rest of the table can be read.
func TestADamagedPartIsSetAsideAndNamed(t *testing.T) {
	const wide, compact = "0", "1000000000"
	for _, c := range []struct{ form, file string }{
		{compact, "data.bin"}, {compact, "data.cmrk4"}, {wide, "s.bin"}, {wide, "primary.cidx"},
	} {
		for _, running := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s running=%v", c.file, running), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "data")
				p := enginetest.StartRole(t, "parts", nil, dir, c.form, "fill")
				part := p.Line()
				if !running {
					p.Kill()
				}
				flip(t, filepath.Join(part, c.file))
				if !running {
					p = enginetest.StartRole(t, "parts", nil, dir, c.form)
					p.Line()
				}
				if _, err := fmt.Fprintln(p.Stdin); err != nil {
					t.Fatal(err)
				}
				first, second, damages, repaired := p.Line(), p.Line(), p.Line(), p.Line()
				p.End()
				if running && c.file == "primary.cidx" && damages == "[]" {
					return // the index is in memory: the file is not read any more
				}
				if first != "40000 <nil>" || second != first {
					t.Errorf("read %s, and again %s", first, second)
				}
				if !strings.Contains(damages, "part all_2_2_0 of table default.w was damaged on the disk and is set aside: 20,000 rows are missing") {
					t.Error(damages)
				}
				// Of a part that cannot be loaded there is no index to look into.
				loaded := c.file != "primary.cidx" && (running || c.file != "data.cmrk4")
				if loaded && !strings.Contains(damages, "b, id from ('bistro',20000) to ('bistro',39999)") {
					t.Errorf("which rows: %s", damages)
				}
				if repaired != "<nil> []" {
					t.Error(repaired)
				}
			})
		}
	}
}

// What was found is known after a restart, and told once.
func TestADamageIsRemembered(t *testing.T) {
	for _, file := range []string{"data.bin", "columns.txt", "checksums.txt"} {
		t.Run(file, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			p := enginetest.StartRole(t, "parts", nil, dir, "1000000000", "fill")
			part := p.Line()
			p.Kill()
			flip(t, filepath.Join(part, file))
			for range 2 {
				p = enginetest.StartRole(t, "parts", nil, dir, "1000000000")
				p.Line()
				p.Kill()
			}
			p = enginetest.StartRole(t, "parts", nil, dir, "1000000000")
			p.Line()
			if _, err := fmt.Fprintln(p.Stdin); err != nil {
				t.Fatal(err)
			}
			first, _, damages, repaired := p.Line(), p.Line(), p.Line(), p.Line()
			p.End()
			if first != "40000 <nil>" || strings.Count(damages, "all_2_2_0") != 1 || !strings.Contains(damages, "20,000 rows are missing") || repaired != "<nil> []" {
				t.Errorf("%s, %s, then %s", first, damages, repaired)
			}
			p = enginetest.StartRole(t, "parts", nil, dir, "1000000000")
			p.Line()
			if _, err := fmt.Fprintln(p.Stdin); err != nil {
				t.Fatal(err)
			}
			p.Line()
			p.Line()
			if again := p.Line(); again != "[]" {
				t.Errorf("told again after it was repaired: %s", again)
			}
			p.Line()
			p.End()
		})
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
