package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// answer writes what a request gets back.
type answer struct {
	w       http.ResponseWriter
	version string
	q       *request
	begun   time.Time
	format  string
	tag     string // marks an exception behind the first data
	started bool

	encoder flushCloser // of the Content-Encoding; nil for none
	out     io.Writer   // through framing and encoding
}

func (a *answer) ok() {
	a.w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	io.WriteString(a.w, "Ok.\n") //nolint:errcheck // the client has gone: nobody is left to tell
}

func (a *answer) prepare(q *request) {
	a.q, a.tag, a.begun = q, rand.Text()[:16], time.Now()
	h := a.w.Header()
	h.Set("X-ClickHouse-Query-Id", q.id)
	h.Set("X-ClickHouse-Server-Display-Name", "larder")
	h.Set("X-ClickHouse-Timezone", first(q.zone, "UTC"))
}

// start sends the headers; what comes after can only be data, or an exception
// among the data.
func (a *answer) start(counted engine.Stats) error {
	h := a.w.Header()
	h.Set("Content-Type", contentType(a.format))
	h.Set("X-ClickHouse-Format", a.format)
	h.Set("X-ClickHouse-Exception-Tag", a.tag)
	counts := a.counts(counted)
	h.Set("X-ClickHouse-Summary", counts)
	if a.q.progress {
		h.Set("X-ClickHouse-Progress", counts) // once: net/http sends all headers together
	}
	a.started = true
	a.out = a.w
	encoder, err := encoder(a.w, a.q.encoding)
	if err != nil {
		return err
	}
	if encoder != nil {
		h.Set("Content-Encoding", a.q.encoding)
		a.encoder, a.out = encoder, encoder
	}
	if a.q.compress != "" {
		a.out = newFramer(a.out, a.q.compress)
	}
	return nil
}

func (a *answer) finish() error {
	if a.encoder == nil {
		return nil
	}
	return a.encoder.Close()
}

// counts is the X-ClickHouse-Summary of a statement.
func (a *answer) counts(s engine.Stats) string {
	n := func(v uint64) string { return strconv.FormatUint(v, 10) }
	text, err := json.Marshal(map[string]string{
		"read_rows": n(s.ReadRows), "read_bytes": n(s.ReadBytes),
		"written_rows": n(s.WrittenRows), "written_bytes": n(s.WrittenBytes),
		"result_rows": n(s.ResultRows), "result_bytes": n(s.ResultBytes),
		"total_rows_to_read": n(s.ReadRows), "elapsed_ns": strconv.FormatInt(time.Since(a.begun).Nanoseconds(), 10),
	})
	if err != nil {
		return "{}"
	}
	return string(text)
}

// whole answers with a complete result.
func (a *answer) whole(out []byte, counted engine.Stats) error {
	out, err := a.reframed(out)
	if err != nil {
		return err
	}
	if len(out) == 0 {
		a.q.encoding, a.q.compress = "", ""
	}
	if err := a.start(counted); err != nil {
		return err
	}
	if len(out) == 0 {
		a.w.Header().Set("Content-Length", "0")
		return nil
	}
	if _, err := a.out.Write(out); err != nil {
		return err
	}
	return a.finish()
}

func (a *answer) native() bool { return strings.EqualFold(a.format, "Native") }

// inChunks is true when an answer to a SELECT is sent chunk by chunk.
func (a *answer) inChunks() bool { return streams(a.format) && !a.q.whole }

// reframed is a chunk as the client reads it.
func (a *answer) reframed(chunk []byte) ([]byte, error) {
	if len(chunk) == 0 || a.q.protocol == 0 || !a.native() {
		return chunk, nil
	}
	return reframe(chunk, a.q.protocol)
}

// stream answers a SELECT chunk by chunk, one in memory at a time.
func (a *answer) stream(ctx context.Context, c *engine.Conn, s *sqltext.Statement, sql string) error {
	result, err := c.Stream(ctx, sql, a.format)
	if err != nil {
		return a.unstreamed(ctx, c, sql, err)
	}
	open := true
	defer func() {
		if open {
			result.Close()
		}
	}()
	chunk, err := result.Next()
	if err != nil {
		return err
	}
	if len(chunk) == 0 {
		open = false
		result.Close()
		return a.empty(ctx, c, s, sql, result.Stats())
	}
	if chunk, err = a.reframed(chunk); err != nil {
		return err
	}
	if err := a.start(result.Stats()); err != nil {
		return err
	}
	for len(chunk) > 0 {
		if _, err := a.out.Write(chunk); err != nil {
			return err
		}
		if chunk, err = a.following(result); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return a.finish()
}

// following is the next chunk as it continues those before.
func (a *answer) following(result *engine.Stream) ([]byte, error) {
	chunk, err := result.Next()
	if err != nil || len(chunk) == 0 {
		return nil, err
	}
	return a.reframed(withoutHeader(chunk, a.format))
}

// unstreamed runs a statement that the engine does not stream.
func (a *answer) unstreamed(ctx context.Context, c *engine.Conn, sql string, err error) error {
	if !strings.Contains(err.Error(), "Streaming query is not supported") {
		return err
	}
	out, counted, err := c.Query(ctx, sql, a.format)
	if err != nil {
		return err
	}
	return a.whole(out, counted)
}

// empty answers a SELECT without rows. Streamed, the engine writes nothing at
// all; clients expect the columns, for which it reads the statement once more.
func (a *answer) empty(ctx context.Context, c *engine.Conn, s *sqltext.Statement, sql string, counted engine.Stats) error {
	if !a.native() {
		out, _, err := c.Query(ctx, sql, a.format)
		if err != nil {
			return err
		}
		return a.whole(out, counted)
	}
	if a.q.rowsOnly {
		return a.whole(nil, counted)
	}
	columns, err := columnsOf(c, s.Bare)
	if err != nil {
		return err
	}
	if err := a.start(counted); err != nil {
		return err
	}
	if _, err := a.out.Write(emptyBlock(columns, a.q.protocol)); err != nil {
		return err
	}
	return a.finish()
}

// fail answers with an exception: as a status when nothing was sent yet, else
// among the data, in the frame that ClickHouse's clients look for, and with a
// connection that breaks off, so that nobody takes the answer for complete.
func (a *answer) fail(err error) {
	thrown := exception.As(err)
	text := thrown.Message
	if !strings.Contains(text, "(version ") {
		text += " (version " + a.version + " (official build))"
	}
	if a.started {
		a.failLate(text)
	}
	h := a.w.Header()
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("X-ClickHouse-Exception-Code", strconv.Itoa(thrown.Code))
	a.w.WriteHeader(thrown.Status())
	io.WriteString(a.w, text+"\n") //nolint:errcheck // the client has gone: nobody is left to tell
}

func (a *answer) failLate(text string) {
	if a.out != nil {
		frame := "\r\n__exception__\r\n" + a.tag + "\r\n" + text + "\n" + strconv.Itoa(len(text)+1) + " " + a.tag + "\r\n__exception__\r\n"
		_, err := io.WriteString(a.out, frame)
		if err == nil {
			err = a.finish()
		}
		if err == nil {
			err = http.NewResponseController(a.w).Flush()
		}
		_ = err // the connection breaks off either way
	}
	panic(http.ErrAbortHandler)
}
