package engine

import (
	"context"
	"errors"
	"runtime"
	"unsafe"

	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// Conn is a connection of the engine, for one statement at a time. The engine keeps the state
// of a statement in the thread that began it, and a stream or an insert takes several calls:
// whoever has a connection stays on one thread (see Pool.Use). A statement that changes rows
// is not acknowledged before its writes have reached the disk.
type Conn struct {
	engine   *Engine
	raw      *handle
	key      string // of the pool: its settings
	mark     string // among its settings, see cancellable
	database string // in use on it now
	spoiled  bool   // a statement changed what the next user would see
}

var errConnect = errors.New("the engine refused the connection")

func (e *Engine) connect(args []string) (*Conn, error) {
	c := &Conn{engine: e, raw: e.lib.dial(args), database: "default"}
	if c.raw == nil {
		return nil, errConnect
	}
	return c, nil
}

func (c *Conn) close() { c.engine.lib.closeConn(c.raw) }

// Spoil keeps the connection from being used again.
func (c *Conn) Spoil() { c.spoiled = true }

// use makes a database the current one.
func (c *Conn) use(database string) error {
	if database == c.database {
		return nil
	}
	if _, err := c.Ask("USE "+sqltext.QuoteIdentifier(database), "Null"); err != nil {
		return err
	}
	c.database = database
	return nil
}

// Stats are what the engine counts about a statement.
type Stats struct {
	ReadRows, ReadBytes, WrittenRows, WrittenBytes, ResultRows, ResultBytes uint64
}

func (s *Stats) add(more Stats) {
	s.ReadRows += more.ReadRows
	s.ReadBytes += more.ReadBytes
	s.WrittenRows += more.WrittenRows
	s.WrittenBytes += more.WrittenBytes
	s.ResultRows += more.ResultRows
	s.ResultBytes += more.ResultBytes
}

var errNoResult = errors.New("the engine returned no result")

// taken is what a result holds; the engine forgets it.
func (c *Conn) taken(result handle) ([]byte, Stats, error) {
	lib := c.engine.lib
	if result == 0 {
		return nil, Stats{}, errNoResult
	}
	defer lib.destroy(result)
	if failure := lib.failure(result); failure != "" {
		return nil, Stats{}, exception.Parse(failure)
	}
	return lib.content(result), Stats{
		ReadRows:     lib.scannedRows(result),
		ReadBytes:    lib.scannedBytes(result),
		WrittenRows:  lib.rowsWritten(result),
		WrittenBytes: lib.bytesWritten(result),
		ResultRows:   lib.rowsRead(result),
		ResultBytes:  lib.bytesRead(result),
	}, nil
}

// begin starts a statement by one of the library's functions.
func (c *Conn) begin(start func(conn handle, sql unsafe.Pointer, n uintptr, format unsafe.Pointer, fn uintptr) handle, sql, format string) handle {
	s, n := text(sql)
	f, fn := text(format)
	result := start(*c.raw, s, n, f, fn)
	runtime.KeepAlive(sql)
	runtime.KeepAlive(format)
	return result
}

func (c *Conn) query(sql, format string) ([]byte, Stats, error) {
	return c.taken(c.begin(c.engine.lib.query, sql, format))
}

// Ask runs a short statement to its end.
func (c *Conn) Ask(sql, format string) ([]byte, error) {
	out, _, err := c.query(sql, format)
	return out, err
}

// Query runs any statement, to its end or to that of ctx, and returns the whole of its
// result.
func (c *Conn) Query(ctx context.Context, sql, format string) ([]byte, Stats, error) {
	defer c.engine.stopper.cancellable(ctx, c)()
	return c.query(sql, format)
}

// Write is Query for a statement that changes rows: it fails when the disk refused a
// write meanwhile.
func (c *Conn) Write(ctx context.Context, sql, format string) ([]byte, Stats, error) {
	refused := c.engine.writes.Refused()
	out, counted, err := c.Query(ctx, sql, format)
	if err != nil {
		return nil, Stats{}, err
	}
	return out, counted, c.engine.guardWrites(c, refused)
}

// Class is what the engine's parser says a statement does.
type Class uint32

// The classes; what the parser calls otherwise is none of them.
const (
	Reading  Class = 0 // changes nothing
	Mutating Class = 1 // INSERT, CREATE, ALTER, DROP, …
	Control  Class = 3 // SET, USE, SYSTEM, KILL, INTO OUTFILE, temporary tables
)

// Parsed is what the engine's parser says of a text, its struct chdb_query_analysis_v1.
type Parsed struct {
	size       uint32
	Statements uint32 // 0 when it does not parse
	flags      uint32
	Class      Class // of the first
}

var errClassify = errors.New("the engine could not classify the statement")

// Classify asks the engine's parser what a text is, without running it.
func (c *Conn) Classify(sql string) (Parsed, error) {
	p := Parsed{size: uint32(unsafe.Sizeof(Parsed{}))}
	s, n := text(sql)
	state := c.engine.lib.classify(*c.raw, s, n, nil, 0, unsafe.Pointer(&p))
	runtime.KeepAlive(sql)
	if state != 0 {
		return Parsed{}, errClassify
	}
	return p, nil
}

// Stream is the result of a SELECT, a chunk at a time.
type Stream struct {
	conn    *Conn
	raw     handle
	stats   Stats
	release func()
}

// Stream starts a SELECT; no other kind of statement can be streamed. It is stopped when
// ctx ends. Close it.
func (c *Conn) Stream(ctx context.Context, sql, format string) (*Stream, error) {
	release := c.engine.stopper.cancellable(ctx, c)
	raw := c.begin(c.engine.lib.streamQuery, sql, format)
	err := errNoResult
	if raw != 0 {
		failure := c.engine.lib.failure(raw)
		if failure == "" {
			return &Stream{conn: c, raw: raw, release: release}, nil
		}
		c.engine.lib.destroy(raw)
		err = exception.Parse(failure)
	}
	release()
	return nil, err
}

// Next returns the next chunk, nil at the end.
func (s *Stream) Next() ([]byte, error) {
	chunk, counted, err := s.conn.taken(s.conn.engine.lib.streamFetch(*s.conn.raw, s.raw))
	s.stats.add(counted)
	return chunk, err
}

// Stats are what the engine has counted so far.
func (s *Stream) Stats() Stats { return s.stats }

// Close ends the SELECT, wherever it is.
func (s *Stream) Close() {
	s.conn.engine.lib.streamStop(*s.conn.raw, s.raw)
	s.conn.engine.lib.destroy(s.raw)
	s.release()
}

// Insertion is an INSERT whose data is being appended. End it with Commit or Abort.
type Insertion struct {
	conn    *Conn
	raw     handle
	refused uint64 // writes, before it began
}

// Insert starts an INSERT without data and without FORMAT.
func (c *Conn) Insert(sql, format string) (*Insertion, error) {
	i := &Insertion{conn: c, refused: c.engine.writes.Refused()}
	if i.raw = c.begin(c.engine.lib.insert, sql, format); i.raw == 0 {
		return nil, errNoResult
	}
	if failure := c.engine.lib.insertFailure(i.raw); failure != "" {
		return nil, errors.Join(exception.Parse(failure), i.Abort())
	}
	return i, nil
}

var errInsertEnded = errors.New("the engine ended the insert early")

// Append hands over data; the engine takes a copy. When it fails, Abort comes next.
func (i *Insertion) Append(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	state := i.conn.engine.lib.insertAppend(i.raw, unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data)))
	runtime.KeepAlive(data)
	if state == 0 {
		return nil
	}
	if failure := i.conn.engine.lib.insertFailure(i.raw); failure != "" {
		return exception.Parse(failure)
	}
	if _, err := i.done(); err != nil { // the engine may give the reason only at the end
		return err
	}
	return errInsertEnded
}

func (i *Insertion) done() (Stats, error) {
	_, counted, err := i.conn.taken(i.conn.engine.lib.insertDone(i.raw))
	return counted, err
}

// Commit ends the INSERT. Without an error, its rows are on the disk.
func (i *Insertion) Commit() (Stats, error) {
	counted, err := i.done()
	if err != nil {
		return Stats{}, errors.Join(err, i.Abort())
	}
	i.conn.engine.lib.insertDestroy(i.raw)
	return counted, i.conn.engine.guardWrites(i.conn, i.refused)
}

// Abort gives up: nothing is inserted. A failed insert keeps its table locked until the
// connection's next statement, so one is run at once (docs/architecture/engine.md).
func (i *Insertion) Abort() error {
	i.conn.engine.lib.insertCancel(i.raw)
	i.conn.engine.lib.insertDestroy(i.raw)
	_, err := i.conn.Ask("SELECT 1", "Null")
	return err
}
