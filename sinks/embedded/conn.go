package embedded

import (
	"errors"
	"runtime"
	"unsafe"
)

// conn is one connection of the engine. It runs one statement at a time; its
// holder (see pool) is alone with it.
type conn struct {
	lib      *native
	raw      *handle
	key      string // of the pool: its settings
	database string // in use on it now
	spoiled  bool   // a statement changed what the next user would see
}

var errConnect = errors.New("the engine refused the connection")

func openConn(lib *native, args []string) (*conn, error) {
	raw := lib.dial(args)
	if raw == nil {
		return nil, errConnect
	}
	return &conn{lib: lib, raw: raw, database: "default"}, nil
}

func (c *conn) close() { c.lib.closeConn(c.raw) }

// stats are what the engine counts about a statement.
type stats struct {
	readRows, readBytes, writtenRows, writtenBytes, resultRows, resultBytes uint64
}

func (c *conn) stats(result handle) stats {
	return stats{
		readRows:     c.lib.scannedRows(result),
		readBytes:    c.lib.scannedBytes(result),
		writtenRows:  c.lib.rowsWritten(result),
		writtenBytes: c.lib.bytesWritten(result),
		resultRows:   c.lib.rowsRead(result),
		resultBytes:  c.lib.bytesRead(result),
	}
}

func (s *stats) add(more stats) {
	s.readRows += more.readRows
	s.readBytes += more.readBytes
	s.writtenRows += more.writtenRows
	s.writtenBytes += more.writtenBytes
	s.resultRows += more.resultRows
	s.resultBytes += more.resultBytes
}

// query runs any statement to its end and returns the whole of its result.
func (c *conn) query(sql, format string) ([]byte, stats, error) {
	s, n := text(sql)
	f, fn := text(format)
	result := c.lib.query(*c.raw, s, n, f, fn)
	runtime.KeepAlive(sql)
	runtime.KeepAlive(format)
	if result == 0 {
		return nil, stats{}, errNoResult
	}
	defer c.lib.destroy(result)
	if failure := c.lib.failure(result); failure != "" {
		return nil, stats{}, parseException(failure)
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
	if err := c.exec("USE " + quoteIdentifier(database)); err != nil {
		return err
	}
	c.database = database
	return nil
}

// stream is the result of a SELECT, a chunk at a time.
type stream struct {
	conn  *conn
	raw   handle
	stats stats
}

// stream starts a SELECT; no other kind of statement can be streamed.
func (c *conn) stream(sql, format string) (*stream, error) {
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
		return nil, parseException(failure)
	}
	return &stream{conn: c, raw: raw}, nil
}

// next returns the next chunk, nil at the end.
func (s *stream) next() ([]byte, error) {
	lib := s.conn.lib
	result := lib.streamFetch(*s.conn.raw, s.raw)
	if result == 0 {
		return nil, errNoResult
	}
	defer lib.destroy(result)
	if failure := lib.failure(result); failure != "" {
		return nil, parseException(failure)
	}
	s.stats.add(s.conn.stats(result))
	return lib.content(result), nil
}

// close ends the SELECT, wherever it is.
func (s *stream) close() {
	s.conn.lib.streamStop(*s.conn.raw, s.raw)
	s.conn.lib.destroy(s.raw)
}

// insertion is an INSERT whose data is being appended.
type insertion struct {
	conn *conn
	raw  handle
}

// insert starts an INSERT without data and without FORMAT.
func (c *conn) insert(sql, format string) (*insertion, error) {
	s, n := text(sql)
	f, fn := text(format)
	raw := c.lib.insert(*c.raw, s, n, f, fn)
	runtime.KeepAlive(sql)
	runtime.KeepAlive(format)
	if raw == 0 {
		return nil, errNoResult
	}
	i := &insertion{conn: c, raw: raw}
	if failure := c.lib.insertFailure(raw); failure != "" {
		return nil, errors.Join(parseException(failure), i.abort())
	}
	return i, nil
}

// append hands over data; the engine takes a copy.
func (i *insertion) append(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	state := i.conn.lib.insertAppend(i.raw, unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data)))
	runtime.KeepAlive(data)
	if state == 0 {
		return nil
	}
	if failure := i.conn.lib.insertFailure(i.raw); failure != "" {
		return parseException(failure)
	}
	return errInsertEnded
}

var errInsertEnded = errors.New("the engine ended the insert early")

// reason is why an append failed; the engine may tell it only at the end.
func (i *insertion) reason(err error) error {
	if !errors.Is(err, errInsertEnded) {
		return err
	}
	if _, told := i.done(); told != nil {
		return told
	}
	return err
}

// done commits. Its error means that the insert failed; abort comes next.
func (i *insertion) done() (stats, error) {
	lib := i.conn.lib
	result := lib.insertDone(i.raw)
	if result == 0 {
		return stats{}, errNoResult
	}
	defer lib.destroy(result)
	if failure := lib.failure(result); failure != "" {
		return stats{}, parseException(failure)
	}
	return i.conn.stats(result), nil
}

// close frees a committed insertion.
func (i *insertion) close() { i.conn.lib.insertDestroy(i.raw) }

// abort gives up. A failed insert keeps its table locked until the connection's
// next statement, so one is run at once (DESIGN §8, pitfalls).
func (i *insertion) abort() error {
	i.conn.lib.insertCancel(i.raw)
	i.conn.lib.insertDestroy(i.raw)
	return i.conn.exec("SELECT 1")
}
