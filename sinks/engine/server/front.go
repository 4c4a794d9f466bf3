package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/engine/exception"
)

const (
	readerConnections = 128              // or a fifth of the open files allowed
	requestTime       = 30 * time.Second // for a request to arrive
	stallTime         = 30 * time.Second // in which a client must have taken 64 KB of the answer
)

// readingHead is how long the head of a request may be, a statement in its URL included.
// What net/http makes of a head takes up to twenty times its length, on each connection, for
// as long as the body does not come: with 512 KB, 128 of them took more than a gigabyte.
const readingHead = 64 << 10

// Readers is the read-only way in (warehouse.http_listen): it checks who asks, and hands
// requests on.
type Readers struct {
	address   string
	passwords *inbound.Passwords // nil for none
	stall     time.Duration      // see stallTime
	next      http.Handler
	listener  *inbound.Listener
}

// ListenReaders opens the read-only way in before a handler. An address that is not loopback
// needs a user and a password; its port may be chosen by the system. Serve it.
func ListenReaders(ctx context.Context, address, user, password string, next http.Handler, log *slog.Logger) (*Readers, error) {
	return listenReaders(ctx, address, user, password, next, log, requestTime, stallTime)
}

func listenReaders(ctx context.Context, address, user, password string, next http.Handler, log *slog.Logger, request, stall time.Duration) (*Readers, error) {
	if password == "" && !inbound.OnLoopback(address) {
		return nil, fmt.Errorf("listen on %s: an address that others can reach needs a user and a password: set them, or listen on 127.0.0.1", address)
	}
	r := &Readers{address: address, stall: stall, next: next}
	if password != "" {
		r.passwords = inbound.NewPasswords(user, password)
	}
	connections := inbound.PerFiles(readerConnections, 5)
	var err error
	r.listener, err = inbound.Listen(ctx, "warehouse.http_listen", address, r, inbound.Limits{
		Connections: connections, Header: readingHead, Request: request, Idle: 2 * time.Minute, Full: fullAnswer(connections),
	}, log)
	return r, err
}

// Addr is where it listens.
func (r *Readers) Addr() net.Addr { return r.listener.Addr() }

// Serve answers requests until Close.
func (r *Readers) Serve() error { return r.listener.Serve() }

// Close lets answers under way end for a moment, then ends them.
func (r *Readers) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeGrace)
	defer cancel()
	return r.listener.Close(ctx)
}

// ServeHTTP answers one request.
func (r *Readers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	limited := r.limitStalls(w)
	defer limited.extend() // for what net/http has still to send
	err := r.refuseForeign(limited, req)
	if err == nil {
		err = r.admit(limited, req)
	}
	if err != nil {
		dropBody(limited)
		(&answer{w: limited, version: "larder"}).fail(err)
		return
	}
	r.next.ServeHTTP(limited, req)
}

// fullAnswer is the answer to one connection too many.
func fullAnswer(connections int) string {
	body := exception.Refuse(exception.TooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many connections: readers may have %d, and %d of one address. Try again later", connections, inbound.OfOneAddress(connections)).Message + "\n"
	return fmt.Sprintf("HTTP/1.1 503 Service Unavailable\r\nX-ClickHouse-Exception-Code: %d\r\nContent-Type: text/plain; charset=UTF-8\r\n"+
		"X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", exception.TooManyQueries, len(body), body)
}

// refuseForeign refuses what a page of another site sent, whatever it asks for.
func (r *Readers) refuseForeign(w http.ResponseWriter, req *http.Request) error {
	inbound.Secure(w.Header())
	err := inbound.Foreign(req)
	if err == nil {
		err = inbound.CheckName(req.Host, r.address, r.passwords != nil)
	}
	if err != nil {
		return exception.Refuse(exception.Authentication, "AUTHENTICATION_FAILED", "Authentication failed: %v", err)
	}
	return nil
}

// admit checks who asks, in every way that ClickHouse's interface has for it.
func (r *Readers) admit(w http.ResponseWriter, req *http.Request) error {
	if r.passwords == nil {
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
func dropBody(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // the connection ends either way
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
func (r *Readers) limitStalls(w http.ResponseWriter) *stallWriter {
	p := &stallWriter{ResponseWriter: w, control: http.NewResponseController(w), wait: r.stall}
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

// FlushError is a write, too: what is flushed first may come long after the request.
func (p *stallWriter) FlushError() error {
	p.extend()
	return p.control.Flush()
}

// Unwrap lets a ResponseController reach the connection.
func (p *stallWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
