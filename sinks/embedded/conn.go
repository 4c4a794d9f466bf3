package embedded

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// conn is one connection of the engine. It runs one statement at a time; its
// holder (see pool) is alone with it. The engine keeps the state of a statement
// in the thread that began it, and a stream or an insert takes several calls:
// all calls of a connection are made from one thread of its own.
type conn struct {
	lib      *native
	raw      *handle
	calls    chan func() // run on the connection's thread
	returned chan struct{}
	key      string // of the pool: its settings
	mark     string // among its settings; "" for none
	database string // in use on it now
	spoiled  bool   // a statement changed what the next user would see
}

var errConnect = errors.New("the engine refused the connection")

func openConn(lib *native, args []string) (*conn, error) {
	c := &conn{lib: lib, database: "default", calls: make(chan func()), returned: make(chan struct{})}
	go c.serve()
	c.do(func() { c.raw = lib.dial(args) })
	if c.raw == nil {
		close(c.calls)
		return nil, errConnect
	}
	return c, nil
}

// serve makes the calls of the connection, on one thread, until it is closed.
func (c *conn) serve() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for call := range c.calls {
		call()
		c.returned <- struct{}{}
	}
}

// do makes a call on the connection's thread and waits for it.
func (c *conn) do(call func()) {
	c.calls <- call
	<-c.returned
}

func (c *conn) close() {
	c.do(func() { c.lib.closeConn(c.raw) })
	close(c.calls)
}

// Stats are what the engine counts about a statement.
type Stats struct {
	ReadRows, ReadBytes, WrittenRows, WrittenBytes, ResultRows, ResultBytes uint64
}

func (c *conn) stats(result handle) Stats {
	return Stats{
		ReadRows:     c.lib.scannedRows(result),
		ReadBytes:    c.lib.scannedBytes(result),
		WrittenRows:  c.lib.rowsWritten(result),
		WrittenBytes: c.lib.bytesWritten(result),
		ResultRows:   c.lib.rowsRead(result),
		ResultBytes:  c.lib.bytesRead(result),
	}
}

func (s *Stats) add(more Stats) {
	s.ReadRows += more.ReadRows
	s.ReadBytes += more.ReadBytes
	s.WrittenRows += more.WrittenRows
	s.WrittenBytes += more.WrittenBytes
	s.ResultRows += more.ResultRows
	s.ResultBytes += more.ResultBytes
}

// query runs any statement to its end and returns the whole of its result.
func (c *conn) query(sql, format string) (content []byte, counted Stats, err error) {
	c.do(func() { content, counted, err = c.queryHere(sql, format) })
	return content, counted, err
}

// queryHere and the other …Here functions run on the connection's thread.
func (c *conn) queryHere(sql, format string) ([]byte, Stats, error) {
	s, n := text(sql)
	f, fn := text(format)
	result := c.lib.query(*c.raw, s, n, f, fn)
	runtime.KeepAlive(sql)
	runtime.KeepAlive(format)
	if result == 0 {
		return nil, Stats{}, errNoResult
	}
	defer c.lib.destroy(result)
	if failure := c.lib.failure(result); failure != "" {
		return nil, Stats{}, exception.Parse(failure)
	}
	return c.lib.content(result), c.stats(result), nil
}

var errNoResult = errors.New("the engine returned no result")

// exec runs a statement whose result does not matter.
func (c *conn) exec(sql string) error {
	_, _, err := c.query(sql, "Null")
	return err
}

// use makes a database the current one.
func (c *conn) use(database string) error {
	if database == c.database {
		return nil
	}
	if err := c.exec("USE " + sqltext.QuoteIdentifier(database)); err != nil {
		return err
	}
	c.database = database
	return nil
}

// stream is the result of a SELECT, a chunk at a time.
type stream struct {
	conn  *conn
	raw   handle
	stats Stats
}

// stream starts a SELECT; no other kind of statement can be streamed.
func (c *conn) stream(sql, format string) (s *stream, err error) {
	c.do(func() { s, err = c.streamHere(sql, format) })
	return s, err
}

func (c *conn) streamHere(sql, format string) (*stream, error) {
	s, n := text(sql)
	f, fn := text(format)
	raw := c.lib.streamQuery(*c.raw, s, n, f, fn)
	runtime.KeepAlive(sql)
	runtime.KeepAlive(format)
	if raw == 0 {
		return nil, errNoResult
	}
	if failure := c.lib.failure(raw); failure != "" {
		c.lib.destroy(raw)
		return nil, exception.Parse(failure)
	}
	return &stream{conn: c, raw: raw}, nil
}

// next returns the next chunk, nil at the end.
func (s *stream) next() (chunk []byte, err error) {
	s.conn.do(func() { chunk, err = s.nextHere() })
	return chunk, err
}

func (s *stream) nextHere() ([]byte, error) {
	lib := s.conn.lib
	result := lib.streamFetch(*s.conn.raw, s.raw)
	if result == 0 {
		return nil, errNoResult
	}
	defer lib.destroy(result)
	if failure := lib.failure(result); failure != "" {
		return nil, exception.Parse(failure)
	}
	s.stats.add(s.conn.stats(result))
	return lib.content(result), nil
}

// close ends the SELECT, wherever it is.
func (s *stream) close() {
	s.conn.do(func() {
		s.conn.lib.streamStop(*s.conn.raw, s.raw)
		s.conn.lib.destroy(s.raw)
	})
}

// insertion is an INSERT whose data is being appended.
type insertion struct {
	conn *conn
	raw  handle
}

// insert starts an INSERT without data and without FORMAT.
func (c *conn) insert(sql, format string) (*insertion, error) {
	i := &insertion{conn: c}
	failure := ""
	c.do(func() { failure = i.beginHere(sql, format) })
	if i.raw == 0 {
		return nil, errNoResult
	}
	if failure != "" {
		return nil, errors.Join(exception.Parse(failure), i.abort())
	}
	return i, nil
}

func (i *insertion) beginHere(sql, format string) (failure string) {
	s, n := text(sql)
	f, fn := text(format)
	i.raw = i.conn.lib.insert(*i.conn.raw, s, n, f, fn)
	runtime.KeepAlive(sql)
	runtime.KeepAlive(format)
	if i.raw == 0 {
		return ""
	}
	return i.conn.lib.insertFailure(i.raw)
}

// append hands over data; the engine takes a copy.
func (i *insertion) append(data []byte) (err error) {
	if len(data) > 0 {
		i.conn.do(func() { err = i.appendHere(data) })
	}
	return err
}

func (i *insertion) appendHere(data []byte) error {
	state := i.conn.lib.insertAppend(i.raw, unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data)))
	runtime.KeepAlive(data)
	if state == 0 {
		return nil
	}
	if failure := i.conn.lib.insertFailure(i.raw); failure != "" {
		return exception.Parse(failure)
	}
	return errInsertEnded
}

var errInsertEnded = errors.New("the engine ended the insert early")

// reason is why an append failed; the engine may tell it only at the end.
func (i *insertion) reason(err error) error {
	if !errors.Is(err, errInsertEnded) {
		return err
	}
	if _, cause := i.done(); cause != nil {
		return cause
	}
	return err
}

// done commits. Its error means that the insert failed; abort comes next.
func (i *insertion) done() (counted Stats, err error) {
	i.conn.do(func() { counted, err = i.doneHere() })
	return counted, err
}

func (i *insertion) doneHere() (Stats, error) {
	lib := i.conn.lib
	result := lib.insertDone(i.raw)
	if result == 0 {
		return Stats{}, errNoResult
	}
	defer lib.destroy(result)
	if failure := lib.failure(result); failure != "" {
		return Stats{}, exception.Parse(failure)
	}
	return i.conn.stats(result), nil
}

// close frees a committed insertion.
func (i *insertion) close() { i.conn.do(func() { i.conn.lib.insertDestroy(i.raw) }) }

// abort gives up. A failed insert keeps its table locked until the connection's
// next statement, so one is run at once (DESIGN §8, pitfalls).
func (i *insertion) abort() error {
	i.conn.do(func() {
		i.conn.lib.insertCancel(i.raw)
		i.conn.lib.insertDestroy(i.raw)
	})
	return i.conn.exec("SELECT 1")
}
