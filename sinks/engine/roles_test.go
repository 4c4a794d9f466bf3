package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// roles are what other processes do.
var roles = map[string]enginetest.Role{
	"open":     roleOpen,
	"hold":     roleHold,
	"write":    roleWrite,
	"count":    roleCount,
	"diskfull": roleDiskFull,
	"merge":    roleMerge,
	"crowd":    roleCrowd,
	"twice":    roleTwice,
	"busy":     roleBusy,
	"process":  roleProcess,
	"lost":     roleLost,
	"parts":    roleParts,
}

// roleProcess is confined as a whole, and prints what it may do.
func roleProcess(ctx context.Context, args []string) error {
	data, scratch, outside, address := args[0], args[1], args[2], args[3]
	if len(args) == 4 {
		return engine.ExecConfined(data, scratch, append(os.Args, "inside"), os.Environ())
	}
	dial := func(network, address string) error {
		conn, err := net.Dial(network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	_, read := os.ReadFile(filepath.Join(data, "file"))
	_, readOutside := os.ReadFile(filepath.Join(outside, "file"))
	plain := net.ListenConfig{} // Landlock has no rule for multipath TCP, which Go's listeners prefer
	plain.SetMultipathTCP(false)
	listener, bound := plain.Listen(ctx, "tcp", "127.0.0.1:0")
	if bound == nil {
		_ = listener.Close()
	}
	for _, tried := range []struct {
		what string
		err  error
	}{
		{"read", read}, {"write", os.WriteFile(filepath.Join(data, "new"), nil, 0o600)}, {"scratch", os.WriteFile(filepath.Join(scratch, "data", "new"), nil, 0o600)},
		{"configuration", os.WriteFile(filepath.Join(scratch, "conf", "new"), nil, 0o600)}, {"read outside", readOutside},
		{"write outside", os.WriteFile(filepath.Join(outside, "new"), nil, 0o600)}, {"program", exec.Command("/bin/true").Run()}, {"connect", dial("tcp", address)}, {"bind", bound},
		{"abstract socket", dial("unix", "@"+filepath.Join(outside, "socket"))}, {"socket", dial("unix", filepath.Join(outside, "socket"))}, {"signal", syscall.Kill(os.Getppid(), 0)},
	} {
		if tried.err == nil {
			fmt.Print(tried.what, ", ")
		}
	}
	fmt.Println("no more")
	return nil
}

// roleOpen tells how opening went.
func roleOpen(ctx context.Context, args []string) error {
	opened, err := server.Open(ctx, engine.Options{Path: args[0]})
	switch {
	case errors.Is(err, engine.ErrHeld):
		fmt.Println("held:", err)
	case errors.Is(err, engine.ErrEngineMissing):
		fmt.Println("missing:", err)
	case errors.Is(err, engine.ErrUnwritable):
		fmt.Println("unwritable:", err)
	case err != nil:
		fmt.Println("other:", err)
	default:
		fmt.Println("open")
		return opened.Close()
	}
	return nil
}

// roleHold holds a folder until its input ends.
func roleHold(ctx context.Context, args []string) error {
	opened, err := server.Open(ctx, engine.Options{Path: args[0]})
	if err != nil {
		return err
	}
	fmt.Println(os.Getpid())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return opened.Close()
}

// roleWrite inserts without end and prints the number of each row once it is
// acknowledged.
func roleWrite(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS w (n UInt64) ENGINE = MergeTree ORDER BY n"); err != nil {
		return err
	}
	var n uint64
	if err := conn.QueryRow(ctx, "SELECT max(n) FROM w").Scan(&n); err != nil {
		return err
	}
	for n++; ; n++ {
		if err := conn.InsertFormat(ctx, "CSV", "INSERT INTO w", strings.NewReader(fmt.Sprintln(n))); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// roleCount tells how many rows there are, and the highest.
func roleCount(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	var count, highest uint64
	if err := conn.QueryRow(ctx, "SELECT count(), max(n) FROM w").Scan(&count, &highest); err != nil {
		return err
	}
	fmt.Println(count, highest)
	return errors.Join(conn.Close(), opened.Close())
}

// roleDiskFull inserts while no file may grow, which is how a full disk looks to
// the engine, and again when there is room.
func roleDiskFull(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := conn.Exec(ctx, "CREATE TABLE w (n UInt64, s String) ENGINE = MergeTree ORDER BY n"); err != nil {
		return err
	}
	var rows strings.Builder
	for i := range uint64(500_000) {
		fmt.Fprintf(&rows, "%d,%x\n", i, i*0x9e3779b97f4a7c15)
	}
	insert := func() error {
		return conn.InsertFormat(ctx, "CSV", "INSERT INTO w", strings.NewReader(rows.String()))
	}
	if err := insert(); err != nil {
		return err
	}
	room, err := enginetest.RefuseWrites(4096)
	if err != nil {
		return err
	}
	full := insert()
	again := insert()
	if err := room(); err != nil {
		return err
	}
	var exception *clickhouse.Exception
	if !errors.As(full, &exception) || !errors.As(again, &exception) {
		return fmt.Errorf("inserts on a full disk: %w; %w", full, again)
	}
	if err := insert(); err != nil {
		return fmt.Errorf("an insert after the disk was full: %w", err)
	}
	var count uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM w WHERE NOT ignore(s)").Scan(&count); err != nil {
		return err
	}
	fmt.Println(count, exception.Message)
	return nil
}

// roleMerge lets the engine merge while the disk refuses writes, and reads when
// it takes them again: nothing but reading tells the engine to look.
func roleMerge(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	defer opened.Close()
	statements := []string{"CREATE TABLE w (n UInt64, s String) ENGINE = MergeTree ORDER BY n", "SYSTEM STOP MERGES w"}
	for i := range 12 {
		statements = append(statements, fmt.Sprintf("INSERT INTO w SELECT %d + number, hex(sipHash64(number)) FROM numbers(20000)", 20000*i))
	}
	for _, sql := range statements {
		if err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	room, err := enginetest.RefuseWrites(4096)
	if err != nil {
		return err
	}
	if err := conn.Exec(ctx, "SYSTEM START MERGES w"); err != nil {
		return err
	}
	// Any merge that ends now has lost writes; the engine may have noticed already.
	unreadable := "SELECT (SELECT count() FROM system.parts WHERE active AND level > 0 AND table = 'w') + (SELECT count() FROM system.detached_parts WHERE table = 'w')"
	if err := await(ctx, conn, unreadable, func(n uint64) bool { return n > 0 }); err != nil {
		return err
	}
	if err := room(); err != nil {
		return err
	}
	if err := await(ctx, conn, "SELECT count() FROM w WHERE NOT ignore(s)", func(n uint64) bool { return n == 240_000 }); err != nil {
		return err
	}
	if err := await(ctx, conn, "SELECT count() FROM system.parts WHERE active AND table = 'w'", func(n uint64) bool { return n < 12 }); err != nil {
		return err
	}
	var aside uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM system.detached_parts WHERE table = 'w'").Scan(&aside); err != nil {
		return err
	}
	fmt.Println(aside > 0)
	return nil
}

// roleCrowd inserts into many tables at once while the disk refuses writes, and reads
// them as soon as it takes them again: what one insert has looked into is not what the
// next one is about to leave.
func roleCrowd(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	defer opened.Close()
	const tables = 6
	rounds, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := range tables {
		if err := conn.Exec(ctx, fmt.Sprintf("CREATE TABLE w%d (n UInt64, s String) ENGINE = MergeTree ORDER BY n", i)); err != nil {
			return err
		}
	}
	room, err := enginetest.RefuseWrites(0)
	if err != nil {
		return err
	}
	var crowd errgroup.Group
	for i := range tables {
		crowd.Go(func() error {
			for range rounds {
				if conn.InsertFormat(ctx, "CSV", fmt.Sprintf("INSERT INTO w%d", i), strings.NewReader("1,a\n")) == nil {
					return errors.New("an insert that the disk refused was acknowledged")
				}
			}
			return nil
		})
	}
	if err := errors.Join(crowd.Wait(), room()); err != nil {
		return err
	}
	for i := range tables {
		var n uint64
		if err := conn.QueryRow(ctx, fmt.Sprintf("SELECT count() FROM w%d WHERE NOT ignore(*)", i)).Scan(&n); err != nil || n > 0 {
			return fmt.Errorf("%d rows of what was refused, %w", n, err)
		}
	}
	fmt.Println(true)
	return nil
}

// await asks until the answer is as wanted; an error is no answer.
func await(ctx context.Context, conn driver.Conn, sql string, wanted func(uint64) bool) error {
	var n uint64
	var err error
	if polling.For(ctx, func() bool {
		err = conn.QueryRow(ctx, sql).Scan(&n)
		return err == nil && wanted(n)
	}) {
		return nil
	}
	return fmt.Errorf("%s: it stays %d, %w", sql, n, err)
}

// roleTwice opens two folders, together and one after the other.
func roleTwice(ctx context.Context, args []string) error {
	opened, _, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	_, second := server.Open(ctx, engine.Options{Path: args[1]})
	if err := opened.Close(); err != nil {
		return err
	}
	for range 3 {
		opened, conn, err := openConn(ctx, args[1])
		if err != nil {
			return err
		}
		if err := errors.Join(conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS w (n UInt64) ENGINE = MergeTree ORDER BY n"), conn.Exec(ctx, "INSERT INTO w VALUES (1)"), opened.Close()); err != nil {
			return err
		}
		if err := conn.Ping(ctx); err == nil {
			return errors.New("a closed engine answers")
		}
	}
	fmt.Println(second != nil, second)
	return nil
}

// roleBusy closes the engine while statements are under way.
func roleBusy(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	if err := conn.Exec(ctx, "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n"); err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- conn.Exec(ctx, "SELECT sum(sipHash64(number)) FROM numbers_mt(1000000000000)") }()
	body, more := io.Pipe()
	go func() { ended <- conn.InsertFormat(ctx, "CSV", "INSERT INTO w", body) }()
	if _, err := io.WriteString(more, "1\n"); err != nil {
		return err
	}
	for running := uint64(0); running < 2; {
		if err := conn.QueryRow(ctx, "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64%' OR query LIKE 'INSERT%'").Scan(&running); err != nil {
			return err
		}
	}
	begun := time.Now()
	if err := opened.Close(); err != nil {
		return err
	}
	if took := time.Since(begun); took > 10*time.Second {
		return fmt.Errorf("closing took %s", took)
	}
	// The driver waits for what it reads the data from, too.
	if err := more.Close(); err != nil {
		return err
	}
	fmt.Println("first:", <-ended != nil, "second:", <-ended != nil)
	return nil
}

// roleLost inserts into a folder that is taken away from it, once it was told so.
func roleLost(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	if err := errors.Join(conn.Exec(ctx, "CREATE TABLE w (n UInt64) ENGINE = MergeTree ORDER BY n"),
		conn.InsertFormat(ctx, "CSV", "INSERT INTO w", strings.NewReader("1\n"))); err != nil {
		return err
	}
	fmt.Println("stored")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	fmt.Println("insert:", conn.InsertFormat(ctx, "CSV", "INSERT INTO w", strings.NewReader("2\n")))
	fmt.Println("again:", opened.Engine().Health())
	return opened.Close()
}

// damagedTables are tables of three parts, and the file of the second part that is damaged.
var damagedTables = []struct {
	name, form, file string
	read             bool // the file is read again while the engine runs
}{
	{"compact_data", "1000000000", "data.bin", true}, {"compact_marks", "1000000000", "data.cmrk4", true},
	{"wide_data", "0", "s.bin", true}, {"wide_index", "0", "primary.cidx", true},
	{"columns", "1000000000", "columns.txt", false}, {"checksums", "1000000000", "checksums.txt", false},
}

// smallBlocks keep a damage cheap: the engine searches the one bit that would explain a wrong
// checksum, in time that grows with the square of a block's size.
const smallBlocks = "index_granularity = 512, min_compress_block_size = 4096, max_compress_block_size = 16384"

// roleParts makes the tables, when it is to fill the folder, and prints where the second part
// of each is. For each line of its input it reads all of them twice, and prints what it got.
func roleParts(ctx context.Context, args []string) error {
	opened, conn, err := openConn(ctx, args[0])
	if err != nil {
		return err
	}
	for _, table := range damagedTables {
		var statements []string
		if len(args) > 1 {
			statements = append(statements, "CREATE TABLE "+table.name+" (b String, id UInt64, s String, v UInt64) ENGINE = ReplacingMergeTree(v) ORDER BY (b, id) SETTINGS "+smallBlocks+", min_bytes_for_wide_part = "+table.form)
		}
		statements = append(statements, "SYSTEM STOP MERGES "+table.name)
		for i := range 3 * (len(args) - 1) {
			statements = append(statements, fmt.Sprintf("INSERT INTO %s SELECT 'bistro', %d + number, hex(sipHash64(number)), 1 FROM numbers(20000)", table.name, 20000*i))
		}
		for _, sql := range statements {
			if err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		var path string
		if err := conn.QueryRow(ctx, "SELECT any(path) FROM system.parts WHERE table = '"+table.name+"' AND active AND name = 'all_2_2_0'").Scan(&path); err != nil {
			return err
		}
		fmt.Println(path)
	}
	for wanted := bufio.NewScanner(os.Stdin); wanted.Scan(); {
		for _, table := range damagedTables {
			for range 2 {
				var n, v uint64
				err := conn.QueryRow(ctx, "SELECT count(), max(v) FROM "+table.name+" FINAL WHERE NOT ignore(s, b, id)").Scan(&n, &v)
				fmt.Println(n, err)
			}
		}
	}
	return errors.Join(conn.Close(), opened.Close())
}

func openConn(ctx context.Context, path string) (*server.Server, driver.Conn, error) {
	opened, err := server.Open(ctx, engine.Options{Path: path})
	if err != nil {
		return nil, nil, err
	}
	conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{"embedded"}, DialContext: opened.Dial})
	return opened, conn, err
}
