package embedded_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
)

// What stands behind no right of the engine stands behind the kernel's.
func TestAConfinedEngineKeepsToItsFolder(t *testing.T) {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); errno != 0 {
		t.Fatalf("this kernel has no Landlock, which confines the engine: %v: run the tests on Linux 5.13 or newer, in a container that allows landlock_create_ruleset", errno)
	}
	dir := t.TempDir()
	secret, written := filepath.Join(dir, "secret"), filepath.Join(dir, "written")
	if err := os.WriteFile(secret, []byte("1234567"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	reached := make(chan struct{}, 1)
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_ = conn.Close()
			reached <- struct{}{}
		}
	}()
	if got := embeddedtest.AnswerOf(t, "confined", nil, filepath.Join(dir, "data"), secret, written, listener.Addr().String()); got != "199999" {
		t.Error(got)
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("a file was written")
	}
	select {
	case <-reached:
		t.Error("a connection was opened")
	default:
	}
}

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
	got := embeddedtest.AnswerOf(t, "process", nil, filepath.Join(dir, "writer"), filepath.Join(dir, "scratch"), outside, address)
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
