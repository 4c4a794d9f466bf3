package writer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/socket"
	"github.com/larder-sync/larder/sinks/engine/writer"
)

func TestMain(m *testing.M) {
	os.Exit(enginetest.Main(m, map[string]enginetest.Role{"start": roleStart}))
}

// roleStart opens a folder, prints the process id of its engine, and waits until its input
// ends.
func roleStart(ctx context.Context, args []string) error {
	w, err := writer.Open(ctx, optionsFor(args[0]))
	if err != nil {
		return err
	}
	fmt.Println(w.PID())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return w.Close()
}

func optionsFor(dir string) writer.Options {
	return writer.Options{Folder: dir, Databases: []string{"default"}, Log: slog.New(slog.DiscardHandler)}
}

func open(t *testing.T, dir string) *writer.Writer {
	t.Helper()
	w, err := writer.Open(t.Context(), optionsFor(dir))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, w)
	return w
}

func closed(t *testing.T, w *writer.Writer) {
	t.Helper()
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func connect(t *testing.T, w *writer.Writer) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{"embedded"}, DialContext: w.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func exec(t *testing.T, conn driver.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// alive reports whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func ends(t *testing.T, pid int) {
	t.Helper()
	if !polling.For(t.Context(), func() bool { return !alive(pid) }) {
		t.Errorf("process %d goes on", pid)
	}
}

// The engine is a process of its own, with nothing of this one's, and confined to its folder.
func TestTheEngineIsAProcessOfItsOwn(t *testing.T) {
	t.Setenv("LARDER_TEST_SECRET", "a key")
	outside := t.TempDir()
	secret, written := filepath.Join(outside, "secret"), filepath.Join(outside, "written")
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
	for name, dir := range map[string]string{
		"plain": filepath.Join(t.TempDir(), "data"),
		"long":  filepath.Join(t.TempDir(), strings.Repeat("a long name/", 12), "data"),
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, dir)
			conn := connect(t, w)
			exec(t, conn,
				"CREATE TABLE w (n UInt64, s String) ENGINE = ReplacingMergeTree ORDER BY n",
				"INSERT INTO w SELECT number, toString(number) FROM numbers(200000)", "INSERT INTO w SELECT number, toString(number) FROM numbers(200000)",
				"OPTIMIZE TABLE w FINAL", "ALTER TABLE w ADD COLUMN z UInt8", "ALTER TABLE w DELETE WHERE n = 1 SETTINGS mutations_sync = 1",
				"SELECT s, count() FROM w GROUP BY s ORDER BY s SETTINGS max_bytes_before_external_sort = 100000, max_bytes_before_external_group_by = 100000 FORMAT Null",
				"SELECT toDateTime(0, 'Europe/Bucharest')", "SELECT count() FROM system.tables", "DETACH TABLE w SYNC", "ATTACH TABLE w",
			)
			for _, sql := range []string{
				"SELECT file('" + secret + "')", "SELECT file('/etc/passwd')", "SELECT 1 INTO OUTFILE '" + written + "'",
				"SELECT a FROM generateRandom('x UInt8, a String ALIAS file(\\'" + secret + "\\')') LIMIT 1",
				"SELECT * FROM format(TSV, 'a UInt8', 'x\n1\n') SETTINGS input_format_allow_errors_num = 10, input_format_record_errors_file_path = '" + written + "'",
				"SELECT * FROM format(AvroConfluent, 'a String', '\x00\x00\x00\x00\x01a') SETTINGS format_avro_schema_registry_url = 'http://" + listener.Addr().String() + "/'",
			} {
				if err := conn.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "Permission denied") {
					t.Errorf("%s: %v", sql, err)
				}
			}
			if _, err := os.Stat(written); err == nil {
				t.Error("a file was written")
			}
			select {
			case <-reached:
				t.Error("a connection was opened")
			default:
			}
			maps, err := os.ReadFile("/proc/self/maps")
			if err != nil || strings.Contains(string(maps), "libchdb") {
				t.Errorf("this process has loaded the library, %v", err)
			}
			environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", w.PID()))
			if err != nil || strings.Contains(string(environ), "LARDER_TEST_SECRET") || !strings.Contains(string(environ), "TZ=UTC") {
				t.Errorf("the environment of the engine: %q %v", environ, err)
			}
			socket := filepath.Join(dir, "larder.sock")
			if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the socket: %v %v", info, err)
			}
			pid := w.PID()
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if alive(pid) || w.Ends() > 0 {
				t.Errorf("after Close the engine runs: %t; it has ended by itself %d times", alive(pid), w.Ends())
			}
			if _, err := os.Stat(socket); err == nil {
				t.Error("the socket stayed behind")
			}
			if _, err := w.Dial(t.Context(), ""); err == nil || writer.Listens(t.Context(), dir) {
				t.Errorf("a closed engine is reached: %v", err)
			}
		})
	}
}

// Of two that start at once one starts the engine, and both reach it.
func TestTwoStartAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var both sync.WaitGroup
	var writers [4]*writer.Writer
	var errs [4]error
	for i := range writers {
		both.Go(func() { writers[i], errs[i] = writer.Open(t.Context(), optionsFor(dir)) })
	}
	both.Wait()
	started := 0
	for i, w := range writers {
		if errs[i] != nil {
			t.Errorf("%d: %v", i, errs[i])
			continue
		}
		closed(t, w)
		if w.PID() > 0 {
			started++
		}
		exec(t, connect(t, w), "SELECT 1")
	}
	if started != 1 {
		t.Errorf("%d engines were started", started)
	}
}

// An engine that is killed is started again by who needs it, and has what it acknowledged.
func TestTheEngineIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := open(t, dir)
	conn := connect(t, w)
	exec(t, conn, "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n", "INSERT INTO w VALUES (1)")
	for n := 1; n <= 4; n++ {
		pid := w.PID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if !polling.For(t.Context(), func() bool { return conn.Exec(t.Context(), "INSERT INTO w VALUES (1)") == nil }) {
			t.Fatal("the engine is not started again")
		}
		if w.PID() == pid || w.Ends() != n {
			t.Errorf("after %d kills the engine has ended %d times", n, w.Ends())
		}
	}
	var rows uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM w").Scan(&rows); err != nil || rows != 5 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if problem := w.Problem(); !strings.Contains(problem, "has ended 4 times") || !strings.Contains(problem, "signal: killed") {
		t.Errorf("the problem is %q", problem)
	}
}

// Who has started an engine starts it again though nobody asks it: who asks next may be a
// command, with which it would end.
func TestTheEngineIsKilledAtRest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := open(t, dir)
	pid := w.PID()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !polling.For(t.Context(), func() bool { return w.PID() != 0 && w.PID() != pid }) {
		t.Error("the engine is not started again")
	}
}

// However many statements are under way, an engine that runs them does not hang.
func TestTheEngineIsFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w, err := writer.OpenImpatient(t.Context(), optionsFor(dir), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, w)
	conn := connect(t, w)
	exec(t, conn, "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.Dial(ctx, "") }}
	defer transport.CloseIdleConnections()
	var inserts sync.WaitGroup
	var ends []func() error
	for range 64 { // as many as there are places
		rows, send := io.Pipe()
		ends = append(ends, send.Close)
		inserts.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://engine/?query=INSERT+INTO+w+FORMAT+TSV", rows)
			if err != nil {
				t.Error(err)
				return
			}
			res, err := transport.RoundTrip(r)
			if err != nil {
				t.Error(err)
			} else if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("an insert ends with %s, %v", res.Status, err)
			}
		})
	}
	full := polling.For(t.Context(), func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return conn.Exec(ctx, "SELECT 1") != nil
	})
	if !full || !w.Answers() {
		t.Errorf("the engine is full: %t; then it does not answer", full)
	}
	for _, end := range ends {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	inserts.Wait()
}

// An engine that does not answer any more is replaced: within seconds when it is stopped, else
// after its silence.
func TestTheEngineHangs(t *testing.T) {
	for name, c := range map[string]struct {
		silence time.Duration
		hang    func(pid int, dir string) error
		log     string
	}{
		"stopped": {time.Hour, func(pid int, _ string) error { return syscall.Kill(pid, syscall.SIGSTOP) }, "stopped by a signal"},
		"silent":  {2 * time.Second, func(_ int, dir string) error { return silence(t, filepath.Join(dir, "larder.sock")) }, "does not answer any more"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			var log polling.Text
			o := optionsFor(dir)
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			w, err := writer.OpenImpatient(t.Context(), o, c.silence)
			if err != nil {
				t.Fatal(err)
			}
			conn := connect(t, w)
			exec(t, conn, "SELECT 1")
			pid := w.PID()
			if err := c.hang(pid, dir); err != nil {
				t.Fatal(err)
			}
			// It may still answer once: a process does not stop at the very moment it is told to.
			polling.Until(t, "the engine that hangs is replaced", func() bool { return conn.Exec(t.Context(), "SELECT 1") == nil && !alive(pid) })
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(log.String(), c.log) {
				t.Errorf("the log does not say %q: %s", c.log, log.String())
			}
		})
	}
}

// silence puts in a socket's place one that takes connections and answers nothing.
func silence(t *testing.T, path string) error {
	t.Helper()
	if err := os.Remove(path); err != nil {
		return err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	t.Cleanup(func() { _ = listener.Close() })
	return nil
}

// However its starter ends, the engine ends with it, also when it hangs, and who is left
// starts it again.
func TestTheStarterEnds(t *testing.T) {
	for name, end := range map[string]func(starter *enginetest.Process, engine int) error{
		"by itself": func(starter *enginetest.Process, _ int) error { starter.End(); return nil },
		"killed":    func(starter *enginetest.Process, _ int) error { starter.Kill(); return nil },
		"killed, with an engine that hangs": func(starter *enginetest.Process, engine int) error {
			defer starter.Kill()
			return syscall.Kill(engine, syscall.SIGSTOP)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			starter := enginetest.StartRole(t, "start", nil, dir)
			pid, err := strconv.Atoi(starter.Line())
			if err != nil {
				t.Fatal(err)
			}
			w := open(t, dir)
			conn := connect(t, w)
			exec(t, conn, "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n", "INSERT INTO w VALUES (1)")
			if w.PID() != 0 {
				t.Error("a second engine was started")
			}
			if err := end(starter, pid); err != nil {
				t.Fatal(err)
			}
			ends(t, pid)
			if !polling.For(t.Context(), func() bool { return conn.Exec(t.Context(), "INSERT INTO w VALUES (2)") == nil }) {
				t.Fatal("the engine is not started again")
			}
			if w.PID() == 0 || w.Ends() != 0 {
				t.Errorf("who is left has process %d, and counts %d ends", w.PID(), w.Ends())
			}
		})
	}
}

// Once the folder is removed or replaced nothing is stored, and no other is made in its place.
func TestTheFolderIsLost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := open(t, dir)
	conn := connect(t, w)
	exec(t, conn, "SELECT 1")
	if err := w.Health(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Health(); !errors.Is(err, engine.ErrFolderLost) {
			t.Errorf("health: %v", err)
		}
		if _, err := w.Dial(t.Context(), ""); !errors.Is(err, engine.ErrFolderLost) {
			t.Errorf("dial: %v", err)
		}
		if err := conn.Exec(t.Context(), "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n"); err == nil {
			t.Error("a table was made")
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("another folder was made")
		}
	}
	if err := syscall.Kill(w.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !polling.For(t.Context(), func() bool { return w.Ends() == 1 }) {
		t.Error("the end of the engine is not seen")
	}
	if err := w.Start(t.Context()); !errors.Is(err, engine.ErrFolderLost) {
		t.Errorf("the engine is started again: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("another folder was made for the next engine")
	}
	if err := os.Rename(dir+".old", dir); err != nil {
		t.Fatal(err)
	}
	if w.Health() == nil {
		t.Error("the folder is as it was, but for what was refused meanwhile")
	}
}

// A folder with another database in it, which nobody may use then, is opened all the same.
func TestAnotherDatabaseInTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := open(t, dir)
	exec(t, connect(t, w), "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n", "INSERT INTO w VALUES (1)")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := optionsFor(dir)
	o.Databases = []string{"another"}
	other, err := writer.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, other)
	if err := connect(t, other).Exec(t.Context(), "SELECT n FROM default.w"); err == nil {
		t.Error("it is read")
	}
}

// What is wrong with the library or the folder is said before the engine is started.
func TestWhatIsWrongAtTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Open(t.Context(), optionsFor(file)); !errors.Is(err, engine.ErrUnwritable) {
		t.Errorf("a folder that is a file: %v", err)
	}
	t.Setenv(engine.LibraryEnv, file)
	_, err := writer.Open(t.Context(), optionsFor(filepath.Join(t.TempDir(), "data")))
	if err == nil || !strings.Contains(err.Error(), "make engine") || !strings.Contains(err.Error(), file) {
		t.Errorf("a library that is none: %v", err)
	}
	t.Setenv(engine.LibraryEnv, "/nowhere")
	if _, err := writer.Open(t.Context(), optionsFor(filepath.Join(t.TempDir(), "data"))); !errors.Is(err, engine.ErrEngineMissing) {
		t.Errorf("no library: %v", err)
	}
}

// Root's command starts no engine on the folder of a daemon that is down for the moment, and
// works beside it once it is there.
func TestRootStartsNoEngineOfAnothersFolder(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 { // who cannot give a file away: the rule is for root
		open(t, dir)
		return
	}
	lock := filepath.Join(dir, engine.LockName)
	if err := os.Chown(lock, 1, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Open(t.Context(), optionsFor(dir)); !errors.Is(err, engine.ErrForeign) {
		t.Errorf("opened: %v", err)
	}
	if err := os.Chown(lock, 0, 0); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if err := os.Chown(lock, 1, 1); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// An engine that is ending still takes connections, and answers nothing.
func TestAnEngineThatEndsIsNotTheOneThatIsOpened(t *testing.T) {
	dir := t.TempDir()
	ending, err := socket.Listen(filepath.Join(dir, "larder.sock"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer ending.Close()
		for range 5 {
			conn, err := ending.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		}
	}()
	exec(t, connect(t, open(t, dir)), "SELECT 1")
}
