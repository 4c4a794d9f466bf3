package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log" //nolint:depguard // execute silences it for good
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/writer"
)

// asLarder has a process of this test binary run main, so that nothing has to be built.
const asLarder = "LARDER_TEST_IS_LARDER"

// TestMain is larder, or its engine, in the processes that tests start. Commands that need no
// process of their own run in this one, see house.run.
func TestMain(m *testing.M) {
	enginetest.PlayEngine()
	if os.Getenv(asLarder) != "" {
		main()
	}
	os.Exit(withFolder(m))
}

// withFolder has the tests share a folder, and an engine's library.
func withFolder(m *testing.M) int {
	dir, err := os.MkdirTemp("", "larder-cli-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	shared.dir = dir
	if library, err = engine.FindLibrary(); err != nil {
		panic(err)
	}
	if self, err = os.Executable(); err != nil {
		panic(err)
	}
	if err := os.Setenv("LARDER_ENGINE", library); err != nil {
		panic(err)
	}
	return m.Run()
}

// library is the engine's, and self this binary, wherever the working directory is.
var library, self string

// shared is a folder with a migrated warehouse, made once.
var shared struct {
	sync.Once
	dir string
}

// house is a folder with a configuration, beside a sandbox.
type house struct {
	*sandbox.Sandbox
	t      *testing.T
	now    func() time.Time // of the service
	dir    string
	url    string
	engine string
	daemon *os.Process   // of start
	log    *polling.Text // of daemon
}

func newHouse(t *testing.T) *house {
	t.Helper()
	return newHouseOf(t, sandbox.Options{Orders: 50, Days: 5, NoLimits: true})
}

func newHouseOf(t *testing.T, o sandbox.Options) *house {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs commands to their end, one after the other, or in processes of their own")
	}
	if o.Now == nil {
		o.Now = sandbox.AtNoon()
	}
	if o.OnlineOrders > 0 {
		o.Epoch = o.Now().Add(-36 * time.Hour)
	}
	o.Inspect = apicheck.Inspect(t)
	box, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(box.Handler())
	t.Cleanup(s.Close)
	h := &house{Sandbox: box, t: t, now: o.Now, dir: t.TempDir(), url: s.URL + "/v1", engine: library}
	h.key(sandbox.RoleMain)
	return h
}

// key makes the configuration use the key of a role.
func (h *house) key(role string) { h.write("key", h.Key(0, role).Value) }

func (h *house) write(name, content string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// configure writes larder.yaml with more sections.
func (h *house) configure(more string) {
	h.write("larder.yaml", fmt.Sprintf("sources:\n  - name: bistro\n    base_url: %s\n    key_file: key\n", h.url)+more)
}

const quiet = "web: {listen: ''}\n"

func local(dsn string) string {
	return fmt.Sprintf("warehouse: {dsn: %q, http_listen: '', flush_interval: 50ms}\n", dsn)
}

type result struct {
	code        int
	out, errors string
}

// command is larder in a process of its own.
func (h *house) command(args ...string) *exec.Cmd {
	c := exec.Command(self, args...) //nolint:gosec // this binary
	c.Dir = h.dir
	c.Env = append(os.Environ(), asLarder+"=1", "LARDER_ENGINE="+h.engine)
	return c
}

// inProcess is held by the command that runs in this process: it changes the working directory.
var inProcess sync.Mutex

// run runs larder to its end, in this process unless the house has another engine.
func (h *house) run(args ...string) result {
	h.t.Helper()
	return h.runWith(strings.NewReader(""), args...)
}

func (h *house) runWith(in io.Reader, args ...string) result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return h.runUntil(ctx, in, args...)
}

// runUntil interrupts the command when ctx ends; a process is killed.
func (h *house) runUntil(ctx context.Context, in io.Reader, args ...string) (r result) {
	h.t.Helper()
	var out, errs bytes.Buffer
	if h.engine == library {
		inProcess.Lock()
		defer inProcess.Unlock()
		defer log.SetOutput(log.Writer())
		before, err := os.Getwd()
		if err := errors.Join(err, os.Chdir(h.dir)); err != nil {
			h.t.Fatal(err)
		}
		r.code = execute(ctx, args, terminal{in: in, out: &out, err: &errs})
		if err := os.Chdir(before); err != nil {
			h.t.Fatal(err)
		}
	} else {
		c := h.command(args...)
		c.Stdin, c.Stdout, c.Stderr = in, &out, &errs
		if err := c.Start(); err != nil {
			h.t.Fatalf("larder %v: %v", args, err)
		}
		defer context.AfterFunc(ctx, func() { _ = c.Process.Kill() })() // what has ended is not killed
		var exit *exec.ExitError
		if err := c.Wait(); err != nil && !errors.As(err, &exit) {
			h.t.Fatalf("larder %v: %v", args, err)
		}
		r.code = c.ProcessState.ExitCode()
	}
	r.out, r.errors = out.String(), errs.String()
	for _, k := range h.Keys() {
		if strings.Contains(r.out+r.errors, k.Value) {
			h.t.Errorf("larder %v shows a key:\n%s%s", args, r.out, r.errors)
		}
	}
	return r
}

// migrated gives the house a copy of a migrated warehouse: most tests are not about that.
func (h *house) migrated() {
	h.t.Helper()
	shared.Do(func() {
		a := &house{Sandbox: h.Sandbox, t: h.t, dir: filepath.Join(shared.dir, "first"), url: h.url, engine: library}
		if err := os.Mkdir(a.dir, 0o700); err != nil {
			h.t.Fatal(err)
		}
		a.key(sandbox.RoleMain)
		a.configure(quiet + local("embedded:./data"))
		a.want(0, "up to date", "migrate")
	})
	if said, err := exec.CommandContext(h.t.Context(), "cp", "-a", filepath.Join(shared.dir, "first", "data"), h.path("data")).CombinedOutput(); err != nil {
		h.t.Fatalf("copy the migrated warehouse: %v: %s", err, said)
	}
}

// engineStays has the engine of the data folder run until the test ends, or stop is called.
// Without it, each command that no daemon is beside starts the engine anew.
func (h *house) engineStays() (stop func()) {
	h.t.Helper()
	inProcess.Lock() // the engine begins in this process's working directory, which must be there
	defer inProcess.Unlock()
	w, err := writer.Open(h.t.Context(), writer.Options{Folder: h.path("data"), Databases: []string{"larder", "larder_raw"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		h.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := w.Close(); err != nil {
			h.t.Errorf("the engine: %v", err)
		}
	})
	h.t.Cleanup(stop)
	return stop
}

// want runs a command and compares its exit code, and its output with words.
func (h *house) want(code int, words string, args ...string) result {
	h.t.Helper()
	r := h.run(args...)
	if r.code != code || !strings.Contains(r.out+r.errors, words) {
		h.t.Errorf("larder %s: exit %d, want %d with %q\n%s%s", strings.Join(args, " "), r.code, code, words, r.out, r.errors)
	}
	return r
}

// freePort returns an address at which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// start runs a daemon until the test ends.
func (h *house) start(args ...string) (page string) {
	h.t.Helper()
	listen := freePort(h.t)
	page = "http://" + listen
	c := h.command(append([]string{"run", "--set", "web.listen=" + listen}, args...)...)
	log := new(polling.Text)
	c.Stdout, c.Stderr, h.log = log, log, log
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.daemon = c.Process
	h.t.Cleanup(func() {
		began := time.Now()
		_ = c.Process.Signal(syscall.SIGTERM) // an error when it has ended: Wait returns why
		if err := c.Wait(); err != nil {
			h.t.Errorf("larder run ends with %v\n%s", err, log.String())
		}
		if took := time.Since(began); took > 15*time.Second {
			h.t.Errorf("larder run took %s to stop\n%s", took, log.String())
		}
	})
	polling.Page(h.t, page+"/healthz", http.StatusOK, "alive")
	return page
}
