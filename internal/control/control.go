package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/engine/socket"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// The routes of the daemon's socket. A pass is asked for by a POST, and answered by a stream of
// messages, one a line.
const (
	routeStatus    = "/status"    // GET: status.Status
	routeSync      = "/sync"      // syncer.Selection: message[syncer.Report]
	routeVerify    = "/verify"    // syncer.Selection: message[verify.Report]
	routeReconcile = "/reconcile" // syncer.ReconcileRequest: message[syncer.ReconcileReport]
	routeForget    = "/forget"    // syncer.ForgetRequest: message[syncer.ForgetReport]
)

// socketName is the daemon's socket in the data folder.
const socketName = "control.sock"

// Passer makes passes: a syncer of this process, or, as a [Client], the daemon beside it.
type Passer interface {
	RunOnce(ctx context.Context, sel syncer.Selection, onProgress func(status.Status)) (syncer.Report, error)
	Verify(ctx context.Context, sel syncer.Selection, found func(verify.Finding), progress func(verify.Progress)) (verify.Report, error)
	Reconcile(ctx context.Context, r syncer.ReconcileRequest, progress func(syncer.ReconcileReport)) (syncer.ReconcileReport, error)
	Forget(ctx context.Context, r syncer.ForgetRequest) (syncer.ForgetReport, error)
}

// message is one line of what the daemon answers while it makes a pass. The last one says how
// the pass ended.
type message[R any] struct {
	Finding *verify.Finding `json:"finding,omitempty"`
	Status  *status.Status  `json:"status,omitempty"`
	Report  *R              `json:"report,omitempty"` // so far
	Done    bool            `json:"done,omitempty"`   // Report is the last
	Failed  *status.Failure `json:"failed,omitempty"`
}

// ErrTaken is returned by Listen when another daemon serves the commands beside it.
var ErrTaken = errors.New("another daemon on this data folder takes what commands ask for")

// Listen serves the commands of the same user beside a daemon on the embedded warehouse, on
// a socket in its data folder; passer waits until passes can be made. The returned function
// ends that.
func Listen(ctx context.Context, folder string, snapshot func() status.Status, passer func(context.Context) (Passer, error), log *slog.Logger) (stop func(context.Context) error, err error) {
	if _, err := Beside(folder).Status(ctx); err == nil {
		return nil, ErrTaken
	}
	path := filepath.Join(folder, socketName)
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, fmt.Errorf("listen for commands on %s: %w", path, err)
	}
	ours, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	under, end := context.WithCancel(context.WithoutCancel(ctx))
	server := &http.Server{
		Handler: handler(snapshot, passer, log), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return under },
	}
	go func() { _ = server.Serve(listener) }() // it ends with the server
	return func(ctx context.Context) error {
		end()
		err := server.Shutdown(ctx)
		if there, gone := os.Stat(path); gone == nil && os.SameFile(ours, there) { // else it is another's
			err = errors.Join(err, os.Remove(path))
		}
		return err
	}, nil
}

func handler(snapshot func() status.Status, passer func(context.Context) (Passer, error), log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+routeStatus, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(snapshot()); err != nil {
			log.Debug("answer was not taken", "error", err)
		}
	})
	mux.Handle("POST "+routeSync, pass(passer, log, func(ctx context.Context, p Passer, sel syncer.Selection, send func(message[syncer.Report])) (syncer.Report, error) {
		return p.RunOnce(ctx, sel, func(s status.Status) { send(message[syncer.Report]{Status: &s}) })
	}))
	mux.Handle("POST "+routeVerify, pass(passer, log, func(ctx context.Context, p Passer, sel syncer.Selection, send func(message[verify.Report])) (verify.Report, error) {
		return p.Verify(ctx, sel,
			func(f verify.Finding) { send(message[verify.Report]{Finding: &f}) },
			func(v verify.Progress) {
				send(message[verify.Report]{Status: &v.Status, Report: &v.Report})
			})
	}))
	mux.Handle("POST "+routeReconcile, pass(passer, log, func(ctx context.Context, p Passer, r syncer.ReconcileRequest, send func(message[syncer.ReconcileReport])) (syncer.ReconcileReport, error) {
		return p.Reconcile(ctx, r, func(so syncer.ReconcileReport) { send(message[syncer.ReconcileReport]{Report: &so}) })
	}))
	mux.Handle("POST "+routeForget, pass(passer, log, func(ctx context.Context, p Passer, r syncer.ForgetRequest, _ func(message[syncer.ForgetReport])) (syncer.ForgetReport, error) {
		return p.Forget(ctx, r)
	}))
	return mux
}

// pass answers a POST of what is asked by messages, one a line, as they come.
func pass[Asked, R any](passer func(context.Context) (Passer, error), log *slog.Logger, run func(ctx context.Context, p Passer, asked Asked, send func(message[R])) (R, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked Asked
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&asked); err != nil {
			http.Error(w, "not what is asked here: "+err.Error(), http.StatusBadRequest)
			return
		}
		log.Info("a command asks for a pass", "pass", r.URL.Path[1:], "asked", asked)
		w.Header().Set("Content-Type", "application/x-ndjson")
		encoder, flusher := json.NewEncoder(w), http.NewResponseController(w)
		var mu sync.Mutex
		send := func(m message[R]) {
			mu.Lock()
			defer mu.Unlock()
			err := encoder.Encode(m)
			if err == nil {
				err = flusher.Flush()
			}
			if err != nil {
				log.Debug("message was not taken", "error", err)
			}
		}
		var report R
		p, err := passer(r.Context())
		if err == nil {
			report, err = run(r.Context(), p, asked, send)
		}
		send(message[R]{Report: &report, Done: err == nil, Failed: status.FailureOf(err)})
	})
}
