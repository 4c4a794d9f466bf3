package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/socket"
	"github.com/larder-sync/larder/syncer"
)

// The routes of the daemon's socket.
const (
	routeStatus    = "/status"    // GET: syncer.Status; with ?after=ID when that pass is over
	routeSync      = "/sync"      // POST syncer.Selection: a stream of message[syncNews], one a line; ?pass=ID names the pass
	routeVerify    = "/verify"    // POST syncer.Selection: message[verifyNews]
	routeReconcile = "/reconcile" // POST syncer.ReconcileRequest: message[reconcileNews]
	routeForget    = "/forget"    // POST syncer.ForgetRequest: message[syncer.ForgetReport]
)

// LostHeader names, with the status, the warehouse whose data folder the daemon has lost.
const LostHeader = "Larder-Warehouse-Lost"

// socketName is the daemon's socket in the data folder.
const socketName = "control.sock"

// passer makes passes; the syncer does.
type passer interface {
	RunOnce(ctx context.Context, sel syncer.Selection, onProgress func(syncer.Status)) (syncer.Report, error)
	Verify(ctx context.Context, sel syncer.Selection, found func(syncer.Finding), progress func(syncer.VerifyProgress)) (syncer.VerifyReport, error)
	Reconcile(ctx context.Context, r syncer.ReconcileRequest, progress func(syncer.ReconcileReport)) (syncer.ReconcileReport, error)
	Forget(ctx context.Context, r syncer.ForgetRequest) (syncer.ForgetReport, error)
}

// ErrTaken is returned by Listen when another daemon serves the commands beside it.
var ErrTaken = errors.New("another daemon on this data folder takes what commands ask for")

// Listen serves the commands of the same user beside a daemon on the embedded warehouse, on
// a socket in its data folder. The returned function ends that.
func Listen(ctx context.Context, folder string, status func() syncer.Status, p passer, log *slog.Logger) (stop func(context.Context) error, err error) {
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
		Handler: handler(status, p, log), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
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

func handler(status func() syncer.Status, p passer, log *slog.Logger) http.Handler {
	c := &control{status: status, passer: p, log: log}
	mux := http.NewServeMux()
	mux.Handle("GET "+routeStatus, http.HandlerFunc(c.serveStatus))
	mux.Handle("POST "+routeSync, serve(c, passInWords, serveSync))
	mux.Handle("POST "+routeVerify, serve(c, verificationInWords, serveVerify))
	mux.Handle("POST "+routeReconcile, serve(c, reconciliationInWords, serveReconcile))
	mux.Handle("POST "+routeForget, serve(c, forgettingInWords, serveForget))
	return mux
}

type control struct {
	status func() syncer.Status
	passer passer
	log    *slog.Logger
	passes passes
}

func (c *control) serveStatus(w http.ResponseWriter, r *http.Request) {
	c.passes.await(r.Context(), r.URL.Query().Get("after"))
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(c.status()); err != nil {
		c.log.Debug("answer was not taken", "error", err)
	}
}
