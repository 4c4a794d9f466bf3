package inbound

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// Limits bound what a listener accepts from clients.
type Limits struct {
	Connections int           // at once; one more is answered with Full and closed
	Header      int           // bytes of a request's head
	Request     time.Duration // for a whole request to arrive
	Answer      time.Duration // for a whole answer to be taken; 0: the handler bounds it
	Idle        time.Duration // between two requests
	Full        string        // an HTTP answer in full
}

// ListenError means that an address could not be listened on.
type ListenError struct {
	Setting string // of the configuration, which has the address
	Addr    string
	Err     error
}

func (e *ListenError) Error() string {
	if errors.Is(e.Err, syscall.EADDRINUSE) {
		return fmt.Sprintf(`%s: %s is taken by another process; stop that one, or set %[1]s to another address, or to "" for none`, e.Setting, e.Addr)
	}
	return fmt.Sprintf("%s: %v; set %[1]s to an address of this machine that this user may listen on", e.Setting, e.Err)
}

// ExitCode is the exit code of a wrong configuration.
func (e *ListenError) ExitCode() int { return lifecycle.ExitUsage }

func (e *ListenError) Unwrap() error { return e.Err }

// Listener is an address of the configuration and the server behind it. It is bound by [Listen].
type Listener struct {
	setting string
	bound   net.Listener // with the limit of connections
	server  *http.Server
}

// Listen binds the address that a setting of the configuration names; [Listener.Serve]
// answers on it. What the server complains of goes to log.
func Listen(ctx context.Context, setting, address string, h http.Handler, limits Limits, log *slog.Logger) (*Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &ListenError{Setting: setting, Addr: address, Err: err}
	}
	server, limited := newServer(l, h, limits, log)
	return &Listener{setting: setting, bound: limited, server: server}, nil
}

// Addr is where it listens: the system may have chosen the port.
func (l *Listener) Addr() net.Addr { return l.bound.Addr() }

// Serve answers until [Listener.Close].
func (l *Listener) Serve() error {
	if err := l.server.Serve(l.bound); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.setting, err)
	}
	return nil
}

// Close lets requests under way finish until ctx ends, breaks off the others, and frees the
// port, also when Serve was never called.
func (l *Listener) Close(ctx context.Context) error {
	err := l.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = l.server.Close()
	}
	if cerr := l.bound.Close(); cerr != nil && !errors.Is(cerr, net.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	return err
}

// newServer returns a server with these limits, and the listener that it serves: l with the
// limit of connections.
func newServer(l net.Listener, h http.Handler, limits Limits, log *slog.Logger) (*http.Server, net.Listener) {
	limited := &listener{Listener: l, most: limits.Connections, full: limits.Full, held: map[*held]bool{}, by: map[netip.Prefix]int{}}
	return &http.Server{
		Handler:                      h,
		DisableGeneralOptionsHandler: true, // whose answer no handler sees
		ReadHeaderTimeout:            min(10*time.Second, limits.Request),
		ReadTimeout:                  limits.Request,
		WriteTimeout:                 limits.Answer,
		IdleTimeout:                  limits.Idle,
		MaxHeaderBytes:               limits.Header,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ConnContext:                  withProven,
		ConnState:                    noteIdle,
	}, limited
}

// PerFiles is how many of something that takes open files there may be: most, or a
// share of the files that this process may have open. What is left is for the
// warehouse, the API and the other listeners.
func PerFiles(most, share int) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return most
	}
	return int(min(uint64(most), max(limit.Cur/uint64(share), 4)))
}
