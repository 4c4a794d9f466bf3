package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/debug"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/guard"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// rights are what a way in may do.
type rights int

const (
	full rights = iota
	reading
)

// front speaks ClickHouse's HTTP interface for one way in.
type front struct {
	engine *Engine
	rights rights
	own    bool    // it is this process that asks: its memory is not lent
	reader *reader // what holds for those who come in here; nil with full rights
}

// ServeHTTP answers one request. A panic becomes an answer and a log line.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.reader != nil {
		patient := f.reader.patient(w)
		defer patient.extend() // for what net/http has still to send
		w = patient
	}
	a := &answer{w: w, version: f.engine.version, outside: f.rights == reading}
	defer func() {
		if reason := recover(); reason != nil {
			if reason == http.ErrAbortHandler { //nolint:errorlint // a panic value is compared as it is
				panic(reason)
			}
			f.engine.log.Error("embedded engine: a request failed", "panic", fmt.Sprint(reason), "stack", string(debug.Stack()))
			a.fail(exception.Refuse(exception.Unknown, "STD_EXCEPTION", "The request could not be handled"))
		}
	}()
	if f.reader != nil {
		if err := f.reader.welcome(w, r); err != nil {
			f.reader.dismiss(w)
			a.fail(err)
			return
		}
	}
	switch r.URL.Path {
	case "/ping", "/replicas_status":
		a.ok()
	case "/", "":
		f.answer(a, r)
	default:
		http.Error(w, "There is no handle "+r.URL.Path+"\n\nUse / or /ping for health checks.\nOr POST queries to /\n", http.StatusNotFound)
	}
}

func (f *front) answer(a *answer, r *http.Request) {
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
	if err := f.reader.admit(a.w, r); err != nil {
		f.reader.dismiss(a.w)
		a.fail(err)
		return
	}
	q, err := f.engine.parseRequest(r, f.bounds())
	if err != nil {
		if q == nil || !q.arrived {
			f.reader.dismiss(a.w)
		}
		a.fail(f.inItsWords(r.Context(), q, err))
		return
	}
	q.zone = q.settings["session_timezone"]
	if f.rights == reading {
		q.zone = first(q.zone, f.engine.readerZone)
	}
	a.prepare(q)
	ctx, end := f.reader.limited(r.Context(), a.w, q)
	defer end()
	if f.rights == reading {
		ctx, end = inbound.UntilGone(ctx)
		defer end()
		ctx, end = f.engine.asking.under(ctx)
		defer end()
	}
	if err := f.run(ctx, a, q); err != nil {
		a.fail(inTime(ctx, f.inItsWords(ctx, q, err)))
	}
}

func (f *front) bounds() bounds {
	if f.rights == reading {
		return readingBounds
	}
	return fullBounds
}

func (f *front) pool() *pool {
	if f.rights == reading {
		return f.engine.readers
	}
	return f.engine.pool
}

func (f *front) gate() *gate {
	if f.rights == reading {
		return &f.engine.reads
	}
	return &f.engine.work
}

// run answers a request with the engine, as one statement under way.
func (f *front) run(ctx context.Context, a *answer, q *request) error {
	if q.text == "" {
		if q.get {
			a.ok()
			return nil
		}
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement is empty")
	}
	e := f.engine
	gate := f.gate()
	if !gate.enter() {
		return errClosed
	}
	defer gate.leave()
	if err := e.refuseLost(); err != nil {
		return err
	}
	if head, inserts := sqltext.ParseInsert(q.text); inserts {
		if f.rights == reading || q.get {
			return exception.Readonly("Cannot execute query in readonly mode: use POST and the data folder's owner's rights to insert")
		}
		return e.insert(ctx, a, q, head)
	}
	sql, err := bindParams(q.text, q.params, f.bounds().statement)
	if err != nil {
		return err
	}
	s := sqltext.Parse(sql)
	if sql == q.text {
		q.typed = new(s)
	}
	if f.rights == reading {
		if err := e.readOnly(q, &s); err != nil {
			return err
		}
		if err := q.bound(); err != nil {
			return err
		}
	}
	if !f.own {
		back, err := f.lendMemory(ctx, q)
		if err != nil {
			return err
		}
		defer back()
	}
	a.format = first(s.Format, q.format)
	if err := f.look(ctx, q, &s, a.format); err != nil {
		return err
	}
	run := func(c *conn) error { return f.execute(ctx, a, q, c, &s) }
	err = e.withConn(ctx, f.pool(), q, run)
	if err != nil && e.readable(ctx, err) && !a.started && s.Selects() {
		err = e.withConn(ctx, f.pool(), q, run)
	}
	return err
}

// withConn runs f with a connection that has the request's settings.
func (e *Engine) withConn(ctx context.Context, p *pool, q *request, f func(*conn) error) error {
	c, err := p.lease(ctx, q.settings, q.database)
	if err != nil {
		return err
	}
	defer p.release(c)
	// A statement that failed stays with its connection, locks and part of its
	// answer included, until the next one there: end the connection instead.
	// Cleared only when f comes back, so that a panic ends it too.
	failed := true
	defer func() { c.spoiled = c.spoiled || failed }()
	err = f(c)
	failed = err != nil
	return e.explained(err)
}

// look refuses a reader's statement that does more than read. It has a connection without
// the limits that the reader set to the answer: they would hold for the look.
func (f *front) look(ctx context.Context, q *request, s *sqltext.Statement, format string) error {
	if f.rights == full || s.SQL == "" {
		return nil
	}
	unlimited := &request{database: q.database, settings: maps.Clone(q.settings)}
	maps.DeleteFunc(unlimited.settings, func(name, _ string) bool { return guard.LimitsAnswer(name) })
	return f.engine.withConn(ctx, f.pool(), unlimited, func(c *conn) error {
		kind, err := c.classify(s.Formatted(format))
		if err != nil {
			return err
		}
		return f.engine.guard.MayRead(c.ask, s, format, guard.Parsed{Statements: kind.statements, Reads: kind.class == classReading})
	})
}

func (f *front) execute(ctx context.Context, a *answer, q *request, c *conn, s *sqltext.Statement) error {
	if s.SQL == "" {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error: the statement is empty")
	}
	sql := s.SQL
	if f.rights == reading {
		sql = s.Formatted(a.format) // what was looked at, and is run, is one and the same
	}
	kind, err := c.classify(sql)
	if err != nil {
		return err
	}
	if kind.statements > 1 {
		return exception.Refuse(exception.Syntax, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)")
	}
	if q.get && kind.statements == 1 && kind.class != classReading {
		return exception.Readonly("Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries")
	}
	if s.InsertsInput() {
		return exception.Refuse(exception.NotImplemented, "NOT_IMPLEMENTED", "INSERT … SELECT … FROM input() is not taken: the embedded engine would insert nothing")
	}
	// The next one on this connection must not see a SET, USE or temporary table.
	c.spoiled = c.spoiled || kind.class == classControl || s.Has("TEMPORARY")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	mark, release := f.engine.cancellable(ctx, c)
	defer release()
	switch selects := kind.class == classReading && s.Selects(); {
	case selects && a.inChunks():
		return unmarked(a.stream(ctx, c, s, sql+mark), mark)
	case selects && a.flows(): // SHOW, which becomes another statement, would write nothing
		return a.piped(f.engine, c, s, mark, stop)
	}
	refused := f.engine.damage.refused.Load()
	out, counted, err := c.query(sql+mark, a.format)
	if err != nil {
		return unmarked(err, mark)
	}
	if kind.class == classMutating {
		if err := f.engine.guardWrites(c, refused); err != nil {
			return err
		}
	}
	return a.whole(out, counted)
}

// insert streams data into the engine.
func (e *Engine) insert(ctx context.Context, a *answer, q *request, head sqltext.InsertHead) error {
	sql, err := bindParams(head.SQL, q.params, fullBounds.statement)
	if err != nil {
		return err
	}
	return e.withConn(ctx, e.pool, q, func(c *conn) error {
		refused := e.damage.refused.Load()
		i, err := c.insert(sql, head.Format)
		if err != nil {
			return err
		}
		counted, err := feed(ctx, i, q.text[head.Data:], q.body)
		if err != nil {
			err = errors.Join(err, i.abort())
			drain(q.body)
			return err
		}
		i.close()
		if err := e.guardWrites(c, refused); err != nil {
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

// feed hands all data over and commits. When the data ends with an error, or the
// one who sent it has gone, nothing is committed.
func feed(ctx context.Context, i *insertion, inline string, body io.Reader) (stats, error) {
	if err := i.append([]byte(inline)); err != nil {
		return stats{}, i.reason(err)
	}
	buffer := make([]byte, feedSize)
	for {
		n, err := fill(body, buffer)
		if failed := i.append(buffer[:n]); failed != nil {
			return stats{}, i.reason(failed)
		}
		if errors.Is(err, io.EOF) {
			return i.done()
		}
		if err != nil {
			return stats{}, unreadable(err)
		}
		if err := ctx.Err(); err != nil {
			return stats{}, err
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
