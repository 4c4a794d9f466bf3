package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/memory"
)

// What readers may have, all of them together. The daemon's own ways in have
// places of their own (maxConns), so that no reader keeps a row from being stored.
const (
	readerPlaces      = 32               // statements at once, or a 32nd of the open files allowed: each takes ten
	readerPatience    = 10 * time.Second // for a place
	readerConnections = 128              // or a fifth of the open files allowed
	maxUnpacking      = 4                // compressed bodies at once
)

// readingHead is how long the head of a request may be, a statement in its URL included.
// What net/http makes of a head takes up to twenty times its length, on each connection, for
// as long as the body does not come: with 512 KB, 128 of them took more than a gigabyte.
const readingHead = 64 << 10

// readerTime is the longest that a reader's statement may take, the time in which
// its answer is read included. A reader may ask for less (max_execution_time).
const readerTime = 5 * time.Minute

// maxBacktracks is how often the engine's parser may start over within a statement.
// Its own limit is twenty times that, and lets 256 KB of f(f(f(… take five seconds.
// Lists of 60,000 values need a few, 50 KB of expressions some ten thousands.
const maxBacktracks = 50_000

// maxExpanded is how many nodes a statement may have once its names stand for what they
// mean: each WITH that names the one before twice doubles them, and nothing stops the
// engine meanwhile. Its own limit, five times that, took 23 s.
const maxExpanded = 100_000

// maxElements is how many nodes a statement may have as it is written, lists of values
// counting as one. The engine's plans take memory that no limit counts, often with the
// square of what a statement holds; its own limit is five times that.
const maxElements = 10_000

// readerSettings are those of a reader's connection, over the engine's. Each statement
// brings its limit of memory with it, see memory.Loans.
func readerSettings(o Options, limit memory.Limit) map[string]string {
	all := map[string]string{
		"max_memory_usage":                          strconv.FormatInt(limit.LeastLoan(), 10),
		"max_execution_time":                        strconv.Itoa(int(readerTime.Seconds())),
		"max_temporary_data_on_disk_size_for_query": strconv.Itoa(embedded.TemporaryDisk / 8),
		"max_parser_backtracks":                     strconv.Itoa(maxBacktracks),
		"max_ast_elements":                          strconv.Itoa(maxElements),
		"max_expanded_ast_elements":                 strconv.Itoa(maxExpanded),
		// multiMatchAny and its like prepare their patterns for as long as these want, which
		// nothing stops, and keep what they prepared.
		"allow_hyperscan": "0",
		// parallel_hash takes 2 MB a thread for each JOIN before there is a row, and no limit is
		// looked at until all are there: 150 of them, correlated subqueries too, took gigabytes.
		"join_algorithm":             "direct,hash",
		"use_variant_as_common_type": "0", // [x, [x]] would hold the type of x twice, see widths
		// To find what follows from two comparisons, the engine goes through what names stand for
		// again at each of their uses: that took up to half of the time to plan a query of views.
		"optimize_and_compare_chain":          "0",
		"optimize_redundant_comparisons":      "0",
		"optimize_extract_common_expressions": "0",
		// The analysis has left out the columns that nobody asks for. Going through the plan for
		// more of them takes 3 ms of 45, and finds none that cost anything.
		"query_plan_remove_unused_columns": "0",
		// Parquet keeps all columns of a row group until the last is encoded, when it encodes
		// several at once: 100 that share 4 MB took 550 MB.
		"output_format_parquet_parallel_encoding": "0",
		// Pretty keeps the text of each cell, cut to this, in memory that no limit counts: a
		// row of 40 values of 4 MB took 3.7 GB.
		"output_format_pretty_max_value_width":                        "1000",
		"output_format_pretty_max_value_width_apply_for_single_value": "1",
		"output_format_pretty_max_rows":                               "1000",
		"max_query_size":                                              strconv.Itoa(readingBounds.statement + 1<<10), // with the engine's mark
	}
	if o.ReaderZone != "" {
		all["session_timezone"] = o.ReaderZone
	}
	return all
}

// readerBounds are settings that a reader may lower and not exceed. 0, which to the
// engine is no limit or its own choice, is what a reader has who asks for nothing.
var readerBounds = map[string]int{
	"max_execution_time": int(readerTime.Seconds()),
	"max_threads":        max(8, runtime.NumCPU()),
	"max_block_size":     65_409, // the engine's own: it looks for a stop between blocks
}

// bound keeps the settings of a request within the bounds of readers.
func (q *request) bound() error {
	for name, most := range readerBounds {
		given, ok := q.settings[name]
		if !ok {
			continue
		}
		asked, err := strconv.ParseFloat(given, 64)
		switch {
		case err != nil:
			return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The value of setting '%s' cannot be read: give a number up to %d", name, most)
		case asked > 0:
			q.settings[name] = strconv.FormatFloat(min(asked, float64(most)), 'f', -1, 64)
		default: // NaN too
			delete(q.settings, name)
		}
	}
	return nil
}

// reader is what holds for those who come in over the read-only way. Its methods
// do nothing on nil, which stands for full rights.
type reader struct {
	names     inbound.Names
	passwords *inbound.Passwords // nil for none
	limits    readerLimits
}

// readerLimits are the times of one request.
type readerLimits struct {
	request   time.Duration // for it to arrive
	statement time.Duration // for it to be answered in full
	stall     time.Duration // in which a client must have taken 64 KB of the answer
}

var defaultReaderLimits = readerLimits{request: 30 * time.Second, statement: readerTime + 5*time.Second, stall: 30 * time.Second}

// ListenTCP serves the read-only way in (warehouse.http_listen) and returns the
// address, whose port may have been chosen by the system. An address that is not
// loopback needs a user and a password.
func (s *Server) ListenTCP(ctx context.Context, address, user, password string) (net.Addr, error) {
	return s.listenReaders(ctx, address, user, password, defaultReaderLimits)
}

func (s *Server) listenReaders(ctx context.Context, address, user, password string, limits readerLimits) (net.Addr, error) {
	if password == "" && !inbound.OnLoopback(address) {
		return nil, fmt.Errorf("listen on %s: an address that others can reach needs a user and a password: set them, or listen on 127.0.0.1", address)
	}
	r := &reader{names: inbound.NamesFor(address, password != ""), limits: limits}
	if password != "" {
		r.passwords = inbound.NewPasswords(user, password)
	}
	connections := inbound.PerFiles(readerConnections, 5)
	l, err := inbound.Listen(ctx, "warehouse.http_listen", address, &handler{server: s, rights: reading, reader: r}, inbound.Limits{
		Connections: connections,
		Header:      readingHead,
		Request:     limits.request,
		Idle:        2 * time.Minute,
		Full:        fullAnswer(connections),
	}, s.log)
	if err != nil {
		return nil, err
	}
	s.serve(l.Parts())
	return l.Addr(), nil
}

// fullAnswer is the answer to one connection too many.
func fullAnswer(connections int) string {
	body := exception.Refuse(exception.TooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many connections: readers may have %d, and %d of one address. Try again later", connections, inbound.OfOneAddress(connections)).Message + "\n"
	return fmt.Sprintf("HTTP/1.1 503 Service Unavailable\r\nX-ClickHouse-Exception-Code: %d\r\nContent-Type: text/plain; charset=UTF-8\r\n"+
		"X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", exception.TooManyQueries, len(body), body)
}

// refuseForeign refuses what a page of another site sent, whatever it asks for.
func (r *reader) refuseForeign(w http.ResponseWriter, req *http.Request) error {
	inbound.Secure(w.Header())
	err := inbound.Foreign(req)
	if err == nil {
		err = r.names.Check(req.Host)
	}
	if err != nil {
		return exception.Refuse(exception.Authentication, "AUTHENTICATION_FAILED", "Authentication failed: %v", err)
	}
	return nil
}

// admit checks who asks, in every way that ClickHouse's interface has for it.
func (r *reader) admit(w http.ResponseWriter, req *http.Request) error {
	if r == nil || r.passwords == nil {
		return nil
	}
	user, password, ok := req.BasicAuth()
	if !ok {
		user, password = req.Header.Get("X-ClickHouse-User"), req.Header.Get("X-ClickHouse-Key")
	}
	if user == "" && password == "" {
		query := req.URL.Query()
		user, password = query.Get("user"), query.Get("password")
	}
	right, err := r.passwords.Right(req.Context(), req.RemoteAddr, user, password)
	var tooMany *inbound.TooManyError
	switch {
	case errors.As(err, &tooMany):
		w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait.Seconds())))
		refused := exception.Refuse(exception.Authentication, "AUTHENTICATION_FAILED", "Authentication failed: %v", err)
		refused.Answer = http.StatusTooManyRequests
		return refused
	case err != nil:
		return err
	case !right:
		w.Header().Set("WWW-Authenticate", `Basic realm="ClickHouse server HTTP API"`)
		return exception.Refuse(exception.Authentication, "AUTHENTICATION_FAILED", "Authentication failed: password is incorrect, or there is no user with such name")
	}
	return nil
}

// dropBody has the server not wait for the body of a request that is refused.
func (r *reader) dropBody(w http.ResponseWriter) {
	if r == nil {
		return
	}
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // the connection ends either way
}

// errReaderTime is why a statement of a reader is stopped.
var errReaderTime = errors.New("the time of a reader is over")

// limited bounds the time of a request that has arrived.
func (r *reader) limited(ctx context.Context, w http.ResponseWriter, q *request) (context.Context, context.CancelFunc) {
	if r == nil {
		return ctx, func() {}
	}
	if q.arrived {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it has gone otherwise
	}
	return context.WithTimeoutCause(ctx, r.limits.statement, errReaderTime)
}

// inTime tells a statement that took too long, or too much, from one that its client left.
func inTime(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errResident):
		return outOfMemory()
	case !errors.Is(cause, errReaderTime):
		return err
	}
	return exception.Refuse(exception.Timeout, "TIMEOUT_EXCEEDED", "Timeout exceeded: a statement over this interface may take %s, its answer included", readerTime)
}

// stallWriter is a ResponseWriter that gives up a client that reads nothing for a while.
type stallWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	wait    time.Duration
}

// atOnce is how much is written under one deadline, so that it is the same for a
// large answer as for a small one.
const atOnce = 64 << 10

// limitStalls bounds how long a client may read nothing of an answer.
func (r *reader) limitStalls(w http.ResponseWriter) *stallWriter {
	p := &stallWriter{ResponseWriter: w, control: http.NewResponseController(w), wait: r.limits.stall}
	p.extend()
	return p
}

func (p *stallWriter) extend() {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.wait)) // the connection has gone otherwise
}

func (p *stallWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var more int
		p.extend()
		more, err = p.ResponseWriter.Write(b[n:min(n+atOnce, len(b))])
		n += more
	}
	return n, err
}

// Unwrap lets a ResponseController reach the connection.
func (p *stallWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
