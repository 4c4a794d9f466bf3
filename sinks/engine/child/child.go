// Package child starts `larder engine`, the program that loads the engine, and ends it.
//
// Contents: how the program is started, what it inherits, what it says, how it ends, and the
// pauses before it is started again.
package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/larder-sync/larder/sinks/engine"
)

// The line that the program prints when it has started: it answers, or another has its data
// folder open.
const (
	Ready = "ready"
	Held  = "held"
)

const (
	// StartTime is how long a start may take: the engine may have many parts to load.
	StartTime = 10 * time.Minute
	endTime   = 15 * time.Second // in which it has to end when it is told to
	// stoppedLook is how often the program is looked at. One that is stopped at two looks is killed.
	stoppedLook = 500 * time.Millisecond
)

// Options say which program to start, and for what.
type Options struct {
	Orders any // what it is told, in JSON
	Memory int64
	Files  []*os.File   // that it inherits, the first as number 3
	Says   func(string) // takes the lines that it prints once it answers; may be nil
	Log    *slog.Logger
}

// Process is a program that has said that it answers.
type Process struct {
	cmd   *exec.Cmd
	stdin *os.File
	said  *relay
	says  func(string)

	ended chan struct{}
	err   error // of its end
}

// Start starts the program, and returns when it answers. The program ends with this process,
// however that ends. The error is engine.ErrHeld when another has the data folder open.
func Start(ctx context.Context, o Options) (*Process, error) {
	p, lines, err := start(o)
	if err != nil {
		return nil, fmt.Errorf("start the engine's program: %w", err)
	}
	select {
	case line := <-lines:
		if line == Ready {
			return p, nil
		}
	case <-p.ended:
	case <-ctx.Done():
		p.Kill()
		return nil, context.Cause(ctx)
	case <-time.After(StartTime):
		p.Kill()
		return nil, fmt.Errorf("start the engine's program: no answer within %s", StartTime)
	}
	<-p.ended
	return nil, p.err
}

func start(o Options) (*Process, <-chan string, error) {
	orders, err := json.Marshal(o.Orders)
	if err != nil {
		return nil, nil, err
	}
	env, err := environment(o.Memory)
	if err != nil {
		return nil, nil, err
	}
	command, err := command(string(orders))
	if err != nil {
		return nil, nil, err
	}
	p := &Process{cmd: command, said: &relay{log: o.Log}, says: o.Says, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.SysProcAttr, p.cmd.ExtraFiles = env, attributes(), o.Files
	ours, theirs, err := sockets(3)
	if err != nil {
		return nil, nil, err
	}
	p.stdin, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = ours[0], theirs[0], theirs[1], theirs[2]
	lines, begun := make(chan string, 1), make(chan error)
	go func() {
		defer closeAll(ours)
		p.run(ours[1], ours[2], theirs, lines, begun)
	}()
	if err = <-begun; err == nil {
		go p.endStopped()
	}
	return p, lines, err
}

// endStopped kills the program when something has stopped it (SIGSTOP): it would answer nobody.
// It looks twice, since what has stopped this process as well may have both go on.
func (p *Process) endStopped() {
	for before := false; ; {
		select {
		case <-p.ended:
			return
		case <-time.After(stoppedLook):
		}
		now := stopped(p.PID())
		if before && now {
			p.said.log.Error("the engine's program was stopped by a signal; it is ended", "pid", p.PID())
			p.Kill()
		}
		before = now
	}
}

// sockets are the two ends of connections between this process and the program. A pipe would be
// opened again by a statement of the program's (/proc/self/fd/2, in a setting that names a file),
// which Landlock does not hold: a reader could write into our log. Nobody opens a socket by path.
func sockets(n int) (ours, theirs []*os.File, err error) {
	for range n {
		syscall.ForkLock.RLock()
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err == nil {
			syscall.CloseOnExec(pair[0])
			syscall.CloseOnExec(pair[1])
		}
		syscall.ForkLock.RUnlock()
		if err == nil {
			err = syscall.SetNonblock(pair[0], true)
			ours = append(ours, os.NewFile(uintptr(pair[0]), "the engine's program"))
			theirs = append(theirs, os.NewFile(uintptr(pair[1]), "the engine's program"))
		}
		if err != nil {
			closeAll(ours)
			closeAll(theirs)
			return nil, nil, fmt.Errorf("make sockets: %w", err)
		}
	}
	return ours, theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // it may be closed
	}
}

// run starts the program and waits for its end, on one thread: the kernel ends the program
// with the thread that has started it.
func (p *Process) run(stdout, stderr io.Reader, theirs []*os.File, lines chan<- string, begun chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	closeAll(theirs)
	begun <- err
	if err != nil {
		return
	}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		_, _ = io.Copy(p.said, stderr) // an error is an end, too
	}()
	answer := ""
	for read := bufio.NewScanner(stdout); read.Scan(); {
		switch line := read.Text(); {
		case answer == "" && (line == Ready || line == Held):
			answer = line
			lines <- line // which has room for it
		case p.says != nil:
			p.says(line)
		}
	}
	err = p.cmd.Wait()
	<-logged
	if len(p.said.stack) > 0 {
		p.said.log.Error("the engine's program has crashed; report it with the stack", "reason", strings.TrimPrefix(p.said.tail(), ": "), "stack", string(p.said.stack))
	}
	switch {
	case answer == Held:
		p.err = engine.ErrHeld
	case err == nil:
		p.err = errors.New("the engine's program has ended")
	default:
		p.err = fmt.Errorf("the engine's program has ended: %w%s", err, p.said.tail())
	}
	close(p.ended)
}

// command is this program as `larder engine`.
func command(orders string) (*exec.Cmd, error) {
	file, err := engine.Self()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(file, "engine", orders) //nolint:gosec,noctx // this program; it is ended by its input
	cmd.Args[0] = "larder"
	return cmd, nil
}

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err is how the program has ended.
func (p *Process) Err() error { return p.err }

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Close tells the program to end, and kills it when it does not within a quarter of a minute.
func (p *Process) Close() {
	_ = p.stdin.Close() // it may have ended
	select {
	case <-p.ended:
	case <-time.After(endTime):
		p.Kill()
	}
}

// Kill ends the program at once.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// environment is what the program gets of ours: where the engine is, and how its memory is
// kept. The engine does not start in a time zone that it does not know, and needs none.
func environment(limit int64) ([]string, error) {
	library, err := engine.FindLibrary()
	if err != nil {
		return nil, err
	}
	bytes, err := engine.MemoryLimitOf(limit)
	if err != nil {
		return nil, err
	}
	env := []string{engine.LibraryEnv + "=" + library, "TZ=UTC"}
	if _, set := os.LookupEnv(allocatorEnv); !set {
		env = append(env, allocatorEnv+"="+allocatorOptions(bytes, runtime.GOMAXPROCS(0)))
	}
	for _, name := range []string{allocatorEnv, "GOMAXPROCS", "GOCOVERDIR"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env, nil
}

// relay passes on what the program logs, and keeps the end of what else it prints: why it
// crashed, and the first of its stacks.
type relay struct {
	log *slog.Logger

	mu    sync.Mutex
	line  []byte // not ended yet
	rest  []byte
	stack []byte // of a crash, which begins after its reason
}

// longestTail is how much is kept of what the program prints, and of the stacks of a crash.
const longestTail = 2 << 10

// Write takes lines.
func (r *relay) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range b {
		if r.line = append(r.line, c); c == '\n' || len(r.line) == 1<<20 {
			r.take()
		}
	}
	return len(b), nil
}

func (r *relay) take() {
	switch {
	case logged(r.log, r.line):
	case len(r.stack) > 0 || bytes.HasPrefix(r.line, []byte("goroutine ")):
		r.stack = append(r.stack, r.line[:min(len(r.line), longestTail-len(r.stack))]...)
	default:
		r.rest = append(r.rest, r.line...)
		r.rest = r.rest[max(0, len(r.rest)-longestTail):]
	}
	r.line = r.line[:0]
}

// tail is what else the program printed, to stand behind its error.
func (r *relay) tail() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := strings.TrimSpace(string(append(r.rest, r.line...)))
	if text == "" {
		return ""
	}
	return ": " + text
}

// logged logs a line that is a record of a log in JSON.
func logged(log *slog.Logger, line []byte) bool {
	var record map[string]any
	if line[0] != '{' || json.Unmarshal(line, &record) != nil {
		return false
	}
	var level slog.Level
	name, _ := record[slog.LevelKey].(string)
	text, isText := record[slog.MessageKey].(string)
	if !isText || level.UnmarshalText([]byte(name)) != nil {
		return false
	}
	delete(record, slog.TimeKey)
	delete(record, slog.LevelKey)
	delete(record, slog.MessageKey)
	log.LogAttrs(context.Background(), level, text, attributesOf(record)...)
	return true
}

func attributesOf(record map[string]any) []slog.Attr {
	var all []slog.Attr
	for _, name := range slices.Sorted(maps.Keys(record)) {
		all = append(all, slog.Any(name, record[name]))
	}
	return all
}
