package embedded

import (
	"context"
	"errors"
)

// Conn is a connection for one statement, and for what is asked about it. A statement
// that changes rows is not acknowledged before its writes have reached the disk.
type Conn struct {
	engine *Engine
	conn   *conn
}

// Parsed is what the engine's parser says of a text.
type Parsed struct {
	Statements uint32 // 0 when it does not parse
	Class      Class  // of the first
}

// Classify asks the engine's parser what a text is, without running it.
func (c *Conn) Classify(sql string) (Parsed, error) {
	a, err := c.conn.classify(sql)
	return Parsed{Statements: a.statements, Class: a.class}, err
}

// Ask runs a short statement to its end.
func (c *Conn) Ask(sql, format string) ([]byte, error) {
	out, _, err := c.conn.query(sql, format)
	return out, err
}

// Query runs any statement, to its end or to that of ctx, and returns the whole of its
// result.
func (c *Conn) Query(ctx context.Context, sql, format string) ([]byte, Stats, error) {
	mark, release := c.engine.stopper.cancellable(ctx, c.conn)
	defer release()
	out, counted, err := c.conn.query(sql+mark, format)
	return out, counted, unmarked(err, mark)
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

// Spoil keeps the connection from being used again.
func (c *Conn) Spoil() { c.conn.spoiled = true }

// Stream is the result of a SELECT, a chunk at a time.
type Stream struct {
	raw     *stream
	mark    string
	release func()
}

// Stream starts a SELECT; no other kind of statement can be streamed. It is stopped when
// ctx ends. Close it.
func (c *Conn) Stream(ctx context.Context, sql, format string) (*Stream, error) {
	mark, release := c.engine.stopper.cancellable(ctx, c.conn)
	raw, err := c.conn.stream(sql+mark, format)
	if err != nil {
		release()
		return nil, unmarked(err, mark)
	}
	return &Stream{raw: raw, mark: mark, release: release}, nil
}

// Next returns the next chunk, nil at the end.
func (s *Stream) Next() ([]byte, error) {
	chunk, err := s.raw.next()
	return chunk, unmarked(err, s.mark)
}

// Stats are what the engine has counted so far.
func (s *Stream) Stats() Stats { return s.raw.stats }

// Close ends the SELECT, wherever it is.
func (s *Stream) Close() {
	s.raw.close()
	s.release()
}

// Insertion is an INSERT whose data is being appended. End it with Commit or Abort.
type Insertion struct {
	conn    *Conn
	raw     *insertion
	refused uint64 // writes, before it began
}

// Insert starts an INSERT without data and without FORMAT.
func (c *Conn) Insert(sql, format string) (*Insertion, error) {
	refused := c.engine.writes.Refused()
	raw, err := c.conn.insert(sql, format)
	if err != nil {
		return nil, err
	}
	return &Insertion{conn: c, raw: raw, refused: refused}, nil
}

// Append hands over data; the engine takes a copy. When it fails, Abort comes next.
func (i *Insertion) Append(data []byte) error { return i.raw.reason(i.raw.append(data)) }

// Commit ends the INSERT. Without an error, its rows are on the disk.
func (i *Insertion) Commit() (Stats, error) {
	counted, err := i.raw.done()
	if err != nil {
		return Stats{}, errors.Join(err, i.raw.abort())
	}
	i.raw.close()
	return counted, i.conn.engine.guardWrites(i.conn, i.refused)
}

// Abort gives up: nothing is inserted.
func (i *Insertion) Abort() error { return i.raw.abort() }
