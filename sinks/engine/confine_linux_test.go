package engine_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// A socket in a folder is what the kernel has no rule for: there, the rights of its file hold.
func TestAConfinedProcessKeepsToItself(t *testing.T) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		t.Fatal(errno)
	}
	dir := t.TempDir()
	for _, name := range []string{"writer", "scratch", "scratch/data", "scratch/conf", "outside"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(dir, "outside")
	for _, file := range []string{filepath.Join(dir, "writer", "file"), filepath.Join(outside, "file")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var address string
	for _, at := range [][2]string{{"unix", filepath.Join(outside, "socket")}, {"unix", "@" + filepath.Join(outside, "socket")}, {"tcp", "127.0.0.1:0"}} {
		listener, err := net.Listen(at[0], at[1])
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		address = listener.Addr().String()
	}
	got := enginetest.AnswerOf(t, "process", nil, filepath.Join(dir, "writer"), filepath.Join(dir, "scratch"), outside, address)
	want := "read, scratch, "
	if version < 4 { // Linux 6.7
		want += "connect, bind, "
	}
	if version < 6 { // Linux 6.12
		want += "abstract socket, socket, signal, no more"
	} else {
		want += "socket, no more"
	}
	if got != want {
		t.Errorf("it may: %s; by Landlock's version %d: %s", got, version, want)
	}
}
