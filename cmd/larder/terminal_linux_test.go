package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/larder-sync/larder/internal/test/polling"
)

// terminalRun is a command on a terminal of its own.
type terminalRun struct {
	t      *testing.T
	cmd    *exec.Cmd
	args   []string
	master *os.File
	done   chan struct{} // all has been read

	mu   sync.Mutex
	text bytes.Buffer
}

// onTerminal starts a command on a terminal so many columns wide.
func (h *house) onTerminal(columns uint16, args ...string) *terminalRun {
	h.t.Helper()
	master, slave := openTerminal(h.t, columns)
	c := &terminalRun{t: h.t, cmd: h.command(args...), args: args, master: master, done: make(chan struct{})}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		h.t.Fatal(err)
	}
	go c.read(master)
	h.t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // most have ended
		<-c.done
		if err := master.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return c
}

func openTerminal(t *testing.T, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("no terminal for a command: %v: give this machine, or the container, a /dev/ptmx", err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

func (c *terminalRun) read(master *os.File) {
	defer close(c.done)
	b := make([]byte, 4096)
	for {
		n, err := master.Read(b)
		c.mu.Lock()
		c.text.Write(b[:n])
		c.mu.Unlock()
		if err != nil { // EIO: the command has ended
			return
		}
	}
}

// output is what has come so far.
func (c *terminalRun) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.ReplaceAll(c.text.String(), "\r\n", "\n")
}

// shows waits until words have been shown.
func (c *terminalRun) shows(words string) {
	c.t.Helper()
	defer func() {
		if c.t.Failed() {
			c.t.Logf("larder %v shows\n%s", c.args, c.output())
		}
	}()
	polling.Until(c.t, fmt.Sprintf("larder %v shows %q", c.args, words), func() bool { return strings.Contains(c.output(), words) })
}

// interrupt is Ctrl-C, which the terminal shows as ^C.
func (c *terminalRun) interrupt() {
	c.t.Helper()
	c.typed("\x03")
}

// ends waits for the end, with an exit code, and returns all that was shown.
func (c *terminalRun) ends(code int) string {
	c.t.Helper()
	timer := time.AfterFunc(90*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	var exit *exec.ExitError
	if err := c.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	<-c.done
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("larder %v: exit %d, want %d:\n%s", c.args, got, code, c.output())
	}
	return c.output()
}

// typed is a person at the keyboard; the terminal shows what is typed.
func (c *terminalRun) typed(text string) {
	c.t.Helper()
	if _, err := c.master.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// screenOf is what a terminal shows after an output: line breaks, returns, the cursor
// taken up and what is below it erased, which is all that bars use.
func screenOf(output string, columns int) []string {
	screen := [][]rune{nil}
	x, y := 0, 0
	down := func() {
		if y++; y == len(screen) {
			screen = append(screen, nil)
		}
	}
	text := []rune(output)
	for i := 0; i < len(text); i++ {
		switch r := text[i]; r {
		case '\r':
			x = 0
		case '\n': // read with its return left out
			x = 0
			down()
		case '\x1b':
			n := 0
			for i += 2; text[i] >= '0' && text[i] <= '9'; i++ {
				n = 10*n + int(text[i]-'0')
			}
			switch text[i] {
			case 'A':
				y = max(0, y-n)
			case 'J':
				screen = screen[:y+1]
				screen[y] = screen[y][:min(x, len(screen[y]))]
			}
		default:
			if x == columns {
				x = 0
				down()
			}
			for len(screen[y]) <= x {
				screen[y] = append(screen[y], ' ')
			}
			screen[y][x] = r
			x++
		}
	}
	lines := make([]string, len(screen))
	for i, line := range screen {
		lines[i] = string(line)
	}
	return lines
}
