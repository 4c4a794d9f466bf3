package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// ServeHTTP answers one request. A panic becomes an answer and a log line.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{w: w, version: s.engine.Version()}
	defer func() {
		if reason := recover(); reason != nil {
			if reason == http.ErrAbortHandler { //nolint:errorlint // a panic value is compared as it is
				panic(reason)
			}
			s.log.Error("embedded engine: a request failed", "panic", fmt.Sprint(reason), "stack", string(debug.Stack()))
			a.fail(exception.Refuse(exception.Unknown, "STD_EXCEPTION", "The request could not be handled"))
		}
	}()
	switch r.URL.Path {
	case "/ping", "/replicas_status":
		if err := s.alive(); err != nil {
			a.fail(err)
			return
		}
		a.ok()
	case "/", "", "/query": // the ODBC driver's
		s.answer(a, r)
	default:
		http.Error(w, "There is no handle "+r.URL.Path+"\n\nUse / or /ping for health checks.\nOr POST queries to /\n", http.StatusNotFound)
	}
}

// alive asks the engine itself for its owner; for readers it is enough that somebody listens.
func (s *Server) alive() error {
	if s.readers != nil {
		return nil
	}
	return s.engine.Alive()
}

func (s *Server) answer(a *answer, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodHead:
	case http.MethodOptions:
		a.w.Header().Set("Allow", "GET, HEAD, POST, OPTIONS")
		a.w.WriteHeader(http.StatusNoContent)
		return
	default:
		a.fail(exception.Refuse(exception.NotImplemented, "NOT_IMPLEMENTED", "Method %s is not taken: use GET or POST", r.Method))
		return
	}
	q, err := s.parseRequest(r)
	if err != nil {
		a.fail(err)
		return
	}
	q.zone = q.settings["session_timezone"]
	ctx := r.Context()
	if s.readers != nil {
		s.readOnly(q)
		q.zone = first(q.zone, s.readers.zone)
		bounded, end := s.ended(ctx)
		defer end()
		ctx = bounded
	}
	a.prepare(q)
	if err := s.run(ctx, a, q); err != nil {
		a.fail(inTime(ctx, err))
	}
}

// use calls f with a connection of those who come in here, with a request's settings.
func (s *Server) use(ctx context.Context, q *request, f func(*engine.Conn) error) error {
	pool := s.engine.Pool()
	if s.readers != nil {
		pool = s.readers.pool
	}
	return pool.Use(ctx, q.database, q.settings, f)
}

// run answers a request with the engine, as one statement under way.
func (s *Server) run(ctx context.Context, a *answer, q *request) error {
	if q.text == "" {
		if q.get {
			a.ok()
			return nil
		}
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement is empty")
	}
	if err := s.engine.Admit(); err != nil {
		return err
	}
	if head, inserts := sqltext.ParseInsert(q.text); inserts {
		if s.onlyReads(q) || q.get {
			return exception.Readonly("Cannot execute query in readonly mode: use POST and the data folder's owner's rights to insert")
		}
		return s.insert(ctx, a, q, head)
	}
	sql, err := bindParams(q.text, q.params)
	if err != nil {
		return err
	}
	st := sqltext.Parse(sql)
	a.format = first(st.Format, q.format)
	run := func(c *engine.Conn) error { return s.execute(ctx, a, q, c, &st) }
	err = s.use(ctx, q, run)
	if err != nil && s.readers == nil && s.engine.SetAside(ctx, err) && !a.started && st.Selects() {
		err = s.use(ctx, q, run)
	}
	return err
}

func (s *Server) execute(ctx context.Context, a *answer, q *request, c *engine.Conn, st *sqltext.Statement) error {
	if st.SQL == "" {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement is empty")
	}
	parsed, err := c.Classify(st.SQL)
	if err != nil {
		return err
	}
	if parsed.Statements == 0 { // it does not parse: the engine's words count places in it as it was sent
		_, err := c.Ask(st.SQL, a.format)
		return cmp.Or(err, errUnparsed)
	}
	if parsed.Statements > 1 {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)")
	}
	if parsed.Class != engine.Reading {
		switch {
		case s.readers == nil && s.onlyReads(q): // in the engine's own words
			return exception.Readonly("default: Cannot execute query in readonly mode")
		case s.onlyReads(q): // the engine itself would stop others' statements, and make files in the scratch folder
			return exception.Readonly("Cannot execute query in readonly mode: only what reads is taken here. Settings stand in the address or behind SETTINGS, the database in the address (database=)")
		case q.get:
			return exception.Readonly("Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries")
		}
	}
	if st.InsertsInput() {
		return exception.Refuse(exception.NotImplemented, "NOT_IMPLEMENTED", "INSERT … SELECT … FROM input() is not taken: the embedded engine would insert nothing")
	}
	// The next one on this connection must not see a SET, USE or temporary table.
	if parsed.Class == engine.Control || st.Has("TEMPORARY") {
		c.Spoil()
	}
	if parsed.Class == engine.Reading && st.Selects() && a.inChunks() {
		return a.stream(ctx, c, st, st.SQL)
	}
	query := c.Query
	if parsed.Class == engine.Mutating && s.readers == nil {
		query = c.Write
	}
	out, counted, err := query(ctx, st.SQL, a.format)
	if err != nil {
		return err
	}
	return a.whole(out, counted)
}

var errUnparsed error = exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement cannot be read")

// insert streams data into the engine.
func (s *Server) insert(ctx context.Context, a *answer, q *request, head sqltext.InsertHead) error {
	sql, err := bindParams(head.SQL, q.params)
	if err != nil {
		return err
	}
	return s.use(ctx, q, func(c *engine.Conn) error {
		i, err := c.Insert(sql, head.Format)
		if err != nil {
			return err
		}
		next, end := readAhead(q.body)
		defer end()
		if err := feed(ctx, i, q.text[head.Data:], next); err != nil {
			err = errors.Join(err, i.Abort())
			end()
			drain(q.body)
			return err
		}
		counted, err := i.Commit()
		if err != nil {
			return err
		}
		a.format = head.Format
		return a.whole(nil, counted)
	})
}

// feedSize is how much of a body is handed over at once; as much again is read meanwhile.
const feedSize = 512 << 10

// readAhead reads a body in pieces, each while the one before it is in use: a statement has
// a thread to itself (see engine.Conn), and to wait there for a hundred reads costs two
// changes of threads for each. next gives the next piece, which stands until it is called
// again; end waits until nothing reads any more.
func readAhead(body io.Reader) (next func() ([]byte, error), end func()) {
	type piece struct {
		data []byte
		err  error
	}
	pieces, free := make(chan piece, 2), make(chan []byte, 2)
	free <- make([]byte, feedSize)
	free <- make([]byte, feedSize)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer func() { // a fault in a decoder costs its request, and not the engine
			if reason := recover(); reason != nil {
				pieces <- piece{nil, fmt.Errorf("the body could not be read: panic: %v", reason)}
			}
		}()
		for buffer := range free {
			n, err := fill(body, buffer)
			pieces <- piece{buffer[:n], err}
			if err != nil {
				return
			}
		}
	})
	var last []byte
	next = func() ([]byte, error) {
		if last != nil {
			free <- last[:feedSize]
		}
		p := <-pieces
		last = p.data
		return p.data, p.err
	}
	return next, sync.OnceFunc(func() { close(free); reading.Wait() })
}

// drain reads what a client still sends after its insert failed, so that it
// reads the answer instead of a broken connection.
func drain(body io.Reader) {
	_, err := io.Copy(io.Discard, io.LimitReader(body, 256<<20))
	_ = err // the insert has failed already, and its error is the one to tell
}

// feed hands all data over. When the data ends with an error, or the one who sent it has
// gone, nothing is to be committed.
func feed(ctx context.Context, i *engine.Insertion, inline string, next func() ([]byte, error)) error {
	if err := i.Append([]byte(inline)); err != nil {
		return err
	}
	for {
		data, err := next()
		if failed := i.Append(data); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// fill reads until the buffer is full or an error. Unlike io.ReadFull it tells a
// body that ended (io.EOF) from one that was cut short (io.ErrUnexpectedEOF).
func fill(r io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = r.Read(buffer[n:])
		n += more
	}
	return n, err
}
