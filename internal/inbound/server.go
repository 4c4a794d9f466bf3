package inbound

import (
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Limits are those of a listener that others reach.
type Limits struct {
	Connections int           // at once; one more is answered with Full and closed
	Header      int           // bytes of a request's head
	Request     time.Duration // for a whole request to arrive
	Answer      time.Duration // for a whole answer to be taken; 0: the handler bounds it
	Idle        time.Duration // between two requests
	Full        string        // an HTTP answer in full
}

// headTime is how long the head of a request may take.
const headTime = 10 * time.Second

// Server returns a server for strangers, and the listener that it serves: l with
// the limit of connections. Its complaints go to log.
func Server(l net.Listener, h http.Handler, limits Limits, log *slog.Logger) (*http.Server, net.Listener) {
	limited := newListener(l, limits.Connections, limits.Full)
	return &http.Server{
		Handler:                      h,
		DisableGeneralOptionsHandler: true, // whose answer no handler sees
		ReadHeaderTimeout:            min(headTime, limits.Request),
		ReadTimeout:                  limits.Request,
		WriteTimeout:                 limits.Answer,
		IdleTimeout:                  limits.Idle,
		MaxHeaderBytes:               limits.Header,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ConnState:                    limited.state,
		ConnContext:                  withCaller,
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
