package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/debug"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/guard"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// rights are what a way in may do.
type rights int

const (
	full rights = iota
	reading
	mirrored // on a mirror, where the kernel and the engine hold what a statement may do
)

// handler speaks ClickHouse's HTTP interface for one way in.
type handler struct {
	server *Server
	rights rights
	own    bool    // it is this process that asks: its memory is not lent
	reader *reader // what holds for those who come in here; nil with full rights
}

// ServeHTTP answers one request. A panic becomes an answer and a log line.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.reader != nil {
		limited := h.reader.limitStalls(w)
		defer limited.extend() // for what net/http has still to send
		w = limited
	}
	a := &answer{w: w, version: h.server.engine.Version(), outside: h.rights == reading}
	defer func() {
		if reason := recover(); reason != nil {
			if reason == http.ErrAbortHandler { //nolint:errorlint // a panic value is compared as it is
				panic(reason)
			}
			h.server.log.Error("embedded engine: a request failed", "panic", fmt.Sprint(reason), "stack", string(debug.Stack()))
			a.fail(exception.Refuse(exception.Unknown, "STD_EXCEPTION", "The request could not be handled"))
		}
	}()
	if h.reader != nil {
		if err := h.reader.refuseForeign(w, r); err != nil {
			h.reader.dropBody(w)
			a.fail(err)
			return
		}
	}
	switch r.URL.Path {
	case "/ping", "/replicas_status":
		a.ok()
	case "/", "":
		h.answer(a, r)
	default:
		http.Error(w, "There is no handle "+r.URL.Path+"\n\nUse / or /ping for health checks.\nOr POST queries to /\n", http.StatusNotFound)
	}
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
	if err := h.reader.admit(a.w, r); err != nil {
		h.reader.dropBody(a.w)
		a.fail(err)
		return
	}
	q, err := h.server.parseRequest(r, h.bounds())
	if err != nil {
		if q == nil || !q.arrived {
			h.reader.dropBody(a.w)
		}
		a.fail(h.inItsWords(r.Context(), q, err))
		return
	}
	q.zone = q.settings["session_timezone"]
	if h.rights != full {
		q.zone = first(q.zone, h.server.zone)
	}
	if h.rights == mirrored {
		h.server.mirror(q)
	}
	a.prepare(q)
	ctx, end := h.reader.limited(r.Context(), a.w, q)
	defer end()
	if h.rights == mirrored {
		ctx, end = h.server.ended(ctx)
		defer end()
	}
	if h.rights == reading {
		ctx, end = inbound.UntilGone(ctx)
		defer end()
		ctx, end = h.server.asking.under(ctx)
		defer end()
	}
	if err := h.run(ctx, a, q); err != nil {
		a.fail(inTime(ctx, h.inItsWords(ctx, q, err)))
	}
}

func (h *handler) bounds() bounds {
	if h.rights == reading {
		return readingBounds
	}
	return fullBounds
}

// use calls f with a connection of those who come in here, with a request's settings.
func (h *handler) use(ctx context.Context, q *request, f func(*embedded.Conn) error) error {
	session := embedded.Session{Database: q.database, Settings: q.settings}
	if h.rights != full {
		session.Patience = h.server.patience
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
		if h.rights != full || q.get {
			return exception.Readonly("Cannot execute query in readonly mode: use POST and the data folder's owner's rights to insert")
		}
		return h.insert(ctx, a, q, head)
	}
	sql, err := bindParams(q.text, q.params, h.bounds().statement)
	if err != nil {
		return err
	}
	s := sqltext.Parse(sql)
	if sql == q.text {
		q.typed = new(s)
	}
	if h.rights == reading {
		if err := h.server.readOnly(q, &s); err != nil {
			return err
		}
		if err := q.bound(); err != nil {
			return err
		}
	}
	if !h.own && h.rights != mirrored {
		back, err := h.lendMemory(ctx, q)
		if err != nil {
			return err
		}
		defer back()
	}
	a.format = first(s.Format, q.format)
	if err := h.look(ctx, q, &s, a.format); err != nil {
		return err
	}
	run := func(c *embedded.Conn) error { return h.execute(ctx, a, q, c, &s) }
	err = h.use(ctx, q, run)
	if err != nil && h.rights != mirrored && h.server.engine.SetAside(ctx, err) && !a.started && s.Selects() {
		err = h.use(ctx, q, run)
	}
	return err
}

// look refuses a reader's statement that does more than read. It has a connection without
// the limits that the reader set to the answer: they would hold for the look.
func (h *handler) look(ctx context.Context, q *request, s *sqltext.Statement, format string) error {
	if h.rights != reading || s.SQL == "" {
		return nil
	}
	unlimited := &request{database: q.database, settings: maps.Clone(q.settings)}
	maps.DeleteFunc(unlimited.settings, func(name, _ string) bool { return guard.LimitsAnswer(name) })
	return h.use(ctx, unlimited, func(c *embedded.Conn) error {
		parsed, err := c.Classify(s.Formatted(format))
		if err != nil {
			return err
		}
		ask := func(sql, format string) ([]byte, error) {
			out, _, err := c.Query(ctx, sql, format) // subqueries that stand for a value are run to tell types
			return out, err
		}
		return h.server.guard.MayRead(ask, s, format, guard.Parsed{Statements: parsed.Statements, Reads: parsed.Class == embedded.Reading})
	})
}

func (h *handler) execute(ctx context.Context, a *answer, q *request, c *embedded.Conn, s *sqltext.Statement) error {
	if s.SQL == "" {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement is empty")
	}
	sql := s.SQL
	if h.rights == reading {
		sql = s.Formatted(a.format) // what was looked at, and is run, is one and the same
	}
	parsed, err := c.Classify(sql)
	if err != nil {
		return err
	}
	if parsed.Statements > 1 {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)")
	}
	if q.get && parsed.Statements == 1 && parsed.Class != embedded.Reading {
		return exception.Readonly("Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries")
	}
	if s.InsertsInput() {
		return exception.Refuse(exception.NotImplemented, "NOT_IMPLEMENTED", "INSERT … SELECT … FROM input() is not taken: the embedded engine would insert nothing")
	}
	// The next one on this connection must not see a SET, USE or temporary table.
	if parsed.Class == embedded.Control || s.Has("TEMPORARY") {
		c.Spoil()
	}
	switch selects := parsed.Class == embedded.Reading && s.Selects(); {
	case selects && a.inChunks():
		return a.stream(ctx, c, s, sql)
	case selects && h.rights == reading && a.flows(): // SHOW, which becomes another statement, would write nothing
		out, err := h.server.openOutlet()
		if err != nil {
			return err
		}
		return a.piped(ctx, c, s, out)
	}
	query := c.Query
	if parsed.Class == embedded.Mutating && h.rights == full {
		query = c.Write
	}
	out, counted, err := query(ctx, sql, a.format)
	if err != nil {
		return err
	}
	return a.whole(out, counted)
}

// insert streams data into the engine.
func (h *handler) insert(ctx context.Context, a *answer, q *request, head sqltext.InsertHead) error {
	sql, err := bindParams(head.SQL, q.params, fullBounds.statement)
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
