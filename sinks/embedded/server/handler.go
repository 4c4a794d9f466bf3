package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// rights are what a way in may do.
type rights int

const (
	full    rights = iota
	reading        // on a mirror: the kernel and the engine hold what a statement may do
)

// handler speaks ClickHouse's HTTP interface for one way in.
type handler struct {
	server *Server
	rights rights
}

// ServeHTTP answers one request. A panic becomes an answer and a log line.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{w: w, version: h.server.engine.Version()}
	defer func() {
		if reason := recover(); reason != nil {
			if reason == http.ErrAbortHandler { //nolint:errorlint // a panic value is compared as it is
				panic(reason)
			}
			h.server.log.Error("embedded engine: a request failed", "panic", fmt.Sprint(reason), "stack", string(debug.Stack()))
			a.fail(exception.Refuse(exception.Unknown, "STD_EXCEPTION", "The request could not be handled"))
		}
	}()
	switch r.URL.Path {
	case "/ping", "/replicas_status":
		if err := h.alive(); err != nil {
			a.fail(err)
			return
		}
		a.ok()
	case "/", "", "/query": // the ODBC driver's
		h.answer(a, r)
	default:
		http.Error(w, "There is no handle "+r.URL.Path+"\n\nUse / or /ping for health checks.\nOr POST queries to /\n", http.StatusNotFound)
	}
}

// alive asks the engine itself for its owner; for readers it is enough that somebody listens.
func (h *handler) alive() error {
	if h.rights == reading {
		return nil
	}
	return h.server.engine.Alive()
}

func (h *handler) answer(a *answer, r *http.Request) {
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
	q, err := h.server.parseRequest(r)
	if err != nil {
		a.fail(err)
		return
	}
	q.zone = q.settings["session_timezone"]
	ctx := r.Context()
	if h.rights == reading {
		h.server.readOnly(q)
		q.zone = first(q.zone, h.server.zone)
		bounded, end := h.server.ended(ctx)
		defer end()
		ctx = bounded
	}
	a.prepare(q)
	if err := h.run(ctx, a, q); err != nil {
		a.fail(inTime(ctx, err))
	}
}

// use calls f with a connection of those who come in here, with a request's settings.
func (h *handler) use(ctx context.Context, q *request, f func(*embedded.Conn) error) error {
	session := embedded.Session{Database: q.database, Settings: q.settings}
	if h.rights == reading {
		session.Patience = readerPatience
		return h.server.readers.Use(ctx, session, f)
	}
	return h.server.engine.Pool().Use(ctx, session, f)
}

// run answers a request with the engine, as one statement under way.
func (h *handler) run(ctx context.Context, a *answer, q *request) error {
	if q.text == "" {
		if q.get {
			a.ok()
			return nil
		}
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement is empty")
	}
	if err := h.server.engine.Admit(); err != nil {
		return err
	}
	if head, inserts := sqltext.ParseInsert(q.text); inserts {
		if h.rights == reading || q.get {
			return exception.Readonly("Cannot execute query in readonly mode: use POST and the data folder's owner's rights to insert")
		}
		return h.insert(ctx, a, q, head)
	}
	sql, err := bindParams(q.text, q.params)
	if err != nil {
		return err
	}
	s := sqltext.Parse(sql)
	a.format = first(s.Format, q.format)
	run := func(c *embedded.Conn) error { return h.execute(ctx, a, q, c, &s) }
	err = h.use(ctx, q, run)
	if err != nil && h.rights == full && h.server.engine.SetAside(ctx, err) && !a.started && s.Selects() {
		err = h.use(ctx, q, run)
	}
	return err
}

func (h *handler) execute(ctx context.Context, a *answer, q *request, c *embedded.Conn, s *sqltext.Statement) error {
	if s.SQL == "" {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement is empty")
	}
	parsed, err := c.Classify(s.SQL)
	if err != nil {
		return err
	}
	if parsed.Statements == 0 { // it does not parse: the engine's words count places in it as it was sent
		_, err := c.Ask(s.SQL, a.format)
		return cmp.Or(err, errUnparsed)
	}
	if parsed.Statements > 1 {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)")
	}
	if parsed.Class != embedded.Reading {
		switch {
		case h.rights == reading: // the engine itself would stop others' statements, and make files in the scratch folder
			return exception.Readonly("Cannot execute query in readonly mode: only what reads is taken here. Settings stand in the address or behind SETTINGS, the database in the address (database=)")
		case q.get:
			return exception.Readonly("Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries")
		}
	}
	if s.InsertsInput() {
		return exception.Refuse(exception.NotImplemented, "NOT_IMPLEMENTED", "INSERT … SELECT … FROM input() is not taken: the embedded engine would insert nothing")
	}
	// The next one on this connection must not see a SET, USE or temporary table.
	if parsed.Class == embedded.Control || s.Has("TEMPORARY") {
		c.Spoil()
	}
	if parsed.Class == embedded.Reading && s.Selects() && a.inChunks() {
		return a.stream(ctx, c, s, s.SQL)
	}
	query := c.Query
	if parsed.Class == embedded.Mutating && h.rights == full {
		query = c.Write
	}
	out, counted, err := query(ctx, s.SQL, a.format)
	if err != nil {
		return err
	}
	return a.whole(out, counted)
}

var errUnparsed error = exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement cannot be read")

// insert streams data into the engine.
func (h *handler) insert(ctx context.Context, a *answer, q *request, head sqltext.InsertHead) error {
	sql, err := bindParams(head.SQL, q.params)
	if err != nil {
		return err
	}
	return h.use(ctx, q, func(c *embedded.Conn) error {
		i, err := c.Insert(sql, head.Format)
		if err != nil {
			return err
		}
		if err := feed(ctx, i, q.text[head.Data:], q.body); err != nil {
			err = errors.Join(err, i.Abort())
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

const feedSize = 1 << 20

// drain reads what a client still sends after its insert failed, so that it
// reads the answer instead of a broken connection.
func drain(body io.Reader) {
	_, err := io.Copy(io.Discard, io.LimitReader(body, 256<<20))
	_ = err // the insert has failed already, and its error is the one to tell
}

// feed hands all data over. When the data ends with an error, or the one who sent it has
// gone, nothing is to be committed.
func feed(ctx context.Context, i *embedded.Insertion, inline string, body io.Reader) error {
	if err := i.Append([]byte(inline)); err != nil {
		return err
	}
	buffer := make([]byte, feedSize)
	for {
		n, err := fill(body, buffer)
		if failed := i.Append(buffer[:n]); failed != nil {
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
