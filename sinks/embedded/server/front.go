package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// front is the read-only way in, for statements that run elsewhere: it checks who asks.
type front struct {
	reader *reader
	next   http.Handler
}

// ServeHTTP answers one request.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limited := f.reader.limitStalls(w)
	defer limited.extend() // for what net/http has still to send
	a := &answer{w: limited, version: "larder"}
	err := f.reader.refuseForeign(limited, r)
	if err == nil {
		err = f.reader.admit(limited, r)
	}
	if err != nil {
		f.reader.dropBody(limited)
		a.fail(err)
		return
	}
	f.next.ServeHTTP(limited, r)
}

// ListenFront opens the read-only way in (warehouse.http_listen) in front of a handler and
// returns the address, whose port may have been chosen by the system, and its server. An
// address that is not loopback needs a user and a password.
func ListenFront(ctx context.Context, address, user, password string, next http.Handler, log *slog.Logger) (net.Addr, *http.Server, error) {
	if password == "" && !inbound.OnLoopback(address) {
		return nil, nil, errOpenToOthers(address)
	}
	r := &reader{names: inbound.NamesFor(address, password != ""), limits: defaultReaderLimits}
	if password != "" {
		r.passwords = inbound.NewPasswords(user, password)
	}
	connections := inbound.PerFiles(readerConnections, 5)
	l, err := inbound.Listen(ctx, "warehouse.http_listen", address, &front{reader: r, next: next}, inbound.Limits{
		Connections: connections, Header: readingHead, Request: r.limits.request, Idle: 2 * time.Minute, Full: fullAnswer(connections),
	}, log)
	if err != nil {
		return nil, nil, err
	}
	listener, server := l.Parts()
	go func() { _ = server.Serve(listener) }() // it ends with server.Close
	return l.Addr(), server, nil
}

// errOpenToOthers refuses an address without a password.
func errOpenToOthers(address string) error {
	return exception.Refuse(exception.Authentication, "AUTHENTICATION_FAILED", "Listen on %s: an address that others can reach needs a user and a password: set them, or listen on 127.0.0.1", address)
}
