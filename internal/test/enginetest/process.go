package enginetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// Role is what another process does with its arguments.
type Role func(ctx context.Context, args []string) error

// Other processes are this test binary, started again in a role.
const roleEnv = "LARDER_EMBEDDED_TEST_ROLE"

// Process is another process that is under way.
type Process struct {
	t     testing.TB
	cmd   *exec.Cmd
	Lines *bufio.Scanner
	Stdin io.WriteCloser
}

// StartRole starts this test binary again to play a role, which Main knows. It is killed
// when the test ends.
func StartRole(t testing.TB, role string, env []string, args ...string) *Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...) //nolint:gosec // this binary
	cmd.Env = append(append(os.Environ(), roleEnv+"="+role), env...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, cmd: cmd, Lines: bufio.NewScanner(stdout), Stdin: stdin}
	t.Cleanup(p.Kill)
	return p
}

// Line is the next line that it prints.
func (p *Process) Line() string {
	p.t.Helper()
	if !p.Lines.Scan() {
		p.t.Fatalf("the other process ended: %v", p.cmd.Wait())
	}
	return p.Lines.Text()
}

// Kill ends it at once.
func (p *Process) Kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(syscall.SIGKILL)
		_ = p.cmd.Wait()
	}
}

// End lets it end by itself.
func (p *Process) End() {
	p.t.Helper()
	p.Stdin.Close()
	for p.Lines.Scan() {
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the other process: %v", err)
	}
}

// AnswerOf runs a role to its end and returns what it printed.
func AnswerOf(t testing.TB, role string, env []string, args ...string) string {
	t.Helper()
	p := StartRole(t, role, env, args...)
	line := p.Line()
	p.End()
	return line
}

// play plays the role of this process, if it has one.
func play(roles []map[string]Role) (code int, played bool) {
	name := os.Getenv(roleEnv)
	if name == "" {
		return 0, false
	}
	for _, some := range roles {
		if role, ok := some[name]; ok {
			if err := role(context.Background(), os.Args[1:]); err != nil {
				fmt.Println("error:", err)
				return 1, true
			}
			return 0, true
		}
	}
	fmt.Println("error: no role", name)
	return 1, true
}

// PID is its number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// RefuseWrites refuses this process all writes beyond so many bytes of any file,
// until room is called.
func RefuseWrites(beyond uint64) (room func() error, err error) {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return nil, err
	}
	room = func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) }
	return room, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: beyond, Max: limit.Max})
}
