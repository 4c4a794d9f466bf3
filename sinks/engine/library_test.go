package engine

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// libraryAt puts a file where a library may be.
func libraryAt(t *testing.T, path string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("not a library"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whoever starts Larder in a folder does not mean to run a library that lies there.
func TestWorkingDirectoryIsNoPlaceForTheEngine(t *testing.T) {
	t.Setenv(LibraryEnv, "")
	dir := t.TempDir()
	planted := libraryAt(t, filepath.Join(dir, "node_modules", "@chdb", npmPackage(), "libchdb.so"))
	below := filepath.Join(dir, "reports", "march")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, below, filepath.Dir(planted)} {
		t.Chdir(at)
		if found, err := FindLibrary(); found == planted {
			t.Errorf("in %s the engine is %s, %v", at, found, err)
		}
		for _, c := range candidates("/opt/larder/bin/larder", "github.com/larder-sync/larder/sinks/engine/library.go") {
			if strings.HasPrefix(c, dir) {
				t.Errorf("in %s a candidate is %s", at, c)
			}
		}
	}
}

func TestWhereTheEngineMayBe(t *testing.T) {
	const exe = "/opt/larder/bin/larder"
	beside := []string{"/opt/larder/bin/libchdb.so", "/opt/larder/lib/larder/libchdb.so"}
	trimmed := candidates(exe, "github.com/larder-sync/larder/sinks/engine/library.go")
	if !slices.Equal(trimmed, beside) {
		t.Errorf("a released binary looks at %v", trimmed)
	}
	whole := candidates(exe, "/home/anna/larder/sinks/engine/library.go")
	if want := append(beside, "/home/anna/larder/node_modules/@chdb/"+npmPackage()+"/libchdb.so"); !slices.Equal(whole, want) {
		t.Errorf("a binary of a checkout looks at %v", whole)
	}
	// This test is one of a checkout, wherever its binary is, unless it was built with -trimpath.
	_, source, _, _ := runtime.Caller(0)
	t.Setenv(LibraryEnv, "")
	found, err := FindLibrary()
	if !filepath.IsAbs(source) {
		if err == nil {
			t.Errorf("a binary that knows no checkout found %s", found)
		}
		return
	}
	if want := filepath.Join(filepath.Dir(source), "..", "..", "node_modules", "@chdb", npmPackage(), "libchdb.so"); err != nil || found != want {
		t.Errorf("found %s, %v; want %s", found, err, want)
	}
}

func TestALibraryThatOthersCanWriteIsRefused(t *testing.T) {
	mine := []uint32{0, uint32(os.Geteuid())}
	dir := t.TempDir()
	library := libraryAt(t, filepath.Join(dir, "lib", "libchdb.so"))
	link := filepath.Join(dir, "link.so")
	if err := os.Symlink(library, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{library, link} {
		if got, err := trusted(path, mine); err != nil || got != library {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	open := func(path string, mode os.FileMode, want string) {
		t.Helper()
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{library, link} {
			_, err = trusted(at, mine)
			if want == "" && err != nil || want != "" && (err == nil || !errors.Is(err, ErrEngineMissing) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s with mode %v: %v, want %q", path, mode, err, want)
			}
		}
		if err := os.Chmod(path, before.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	open(library, 0o666, "chmod o-w "+library)
	open(library, 0o664, "") // a group of one's own is usual
	open(filepath.Dir(library), 0o777, "chmod o-w "+filepath.Dir(library))
	open(filepath.Dir(library), 0o777|os.ModeSticky, "") // as /tmp: what is there can only be removed by its owner
	if _, err := trusted(library, []uint32{uint32(os.Geteuid()) + 1}); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("a library of someone else: %v", err)
	}
	t.Setenv(LibraryEnv, library)
	if found, err := FindLibrary(); err != nil || found != library {
		t.Errorf("%s: %s, %v", LibraryEnv, found, err)
	}
	if err := os.Chmod(library, 0o646); err != nil {
		t.Fatal(err)
	}
	if _, err := FindLibrary(); err == nil {
		t.Error("a named library that everyone may write is loaded")
	}
}

// Every engine that npm fetches is the one that was meant, byte by byte, and from the
// registry that npm is configured for.
func TestTheLockHasHashesAndNoHosts(t *testing.T) {
	text, err := os.ReadFile("../../package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	engines := 0
	for name, p := range lock.Packages {
		if name == "" {
			continue
		}
		engines++
		if !strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "" {
			t.Errorf("%s: integrity %q, resolved %q", name, p.Integrity, p.Resolved)
		}
	}
	if engines == 0 || strings.Contains(string(text), "://") {
		t.Errorf("%d engines:\n%s", engines, text)
	}
}
