package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// The routes that a process mounts on its engine's socket for the commands of the
// same user beside it.
const (
	routeHolder    = "/larder/holder"    // GET: holder
	routeStatus    = "/larder/status"    // GET: syncer.Status; with ?after=ID when that pass is over
	routeSync      = "/larder/sync"      // POST syncer.Selection: a stream of message[syncNews], one a line; ?pass=ID names the pass
	routeVerify    = "/larder/verify"    // POST syncer.Selection: message[verifyNews]
	routeReconcile = "/larder/reconcile" // POST syncer.ReconcileRequest: message[reconcileNews]
	routeForget    = "/larder/forget"    // POST syncer.ForgetRequest: message[syncer.ForgetReport]
)

// mounter is what the routes are mounted on: the engine.
type mounter interface {
	Handle(pattern string, h http.Handler)
}

// passer makes passes; the syncer does.
type passer interface {
	Status() syncer.Status
	RunOnce(ctx context.Context, sel syncer.Selection, onProgress func(syncer.Status)) (syncer.Report, error)
	Verify(ctx context.Context, sel syncer.Selection, found func(syncer.Finding), progress func(syncer.VerifyProgress)) (syncer.VerifyReport, error)
	Reconcile(ctx context.Context, r syncer.ReconcileRequest, progress func(syncer.ReconcileReport)) (syncer.ReconcileReport, error)
	Forget(ctx context.Context, r syncer.ForgetRequest) (syncer.ForgetReport, error)
}

// mount serves the control routes of a process that runs a command. With nil, passes
// are not taken: the process is making one itself.
func mount(m mounter, command string, status func() syncer.Status, p passer, log *slog.Logger) {
	c := &control{holder: holder{PID: os.Getpid(), Command: command}, status: status, passer: p, log: log}
	m.Handle("GET "+routeHolder, http.HandlerFunc(c.serveHolder))
	m.Handle("GET "+routeStatus, http.HandlerFunc(c.serveStatus))
	m.Handle("POST "+routeSync, serve(c, passInWords, serveSync))
	m.Handle("POST "+routeVerify, serve(c, verificationInWords, serveVerify))
	m.Handle("POST "+routeReconcile, serve(c, reconciliationInWords, serveReconcile))
	m.Handle("POST "+routeForget, serve(c, forgettingInWords, serveForget))
}

type control struct {
	holder holder
	status func() syncer.Status
	passer passer
	log    *slog.Logger
	passes passes
}

func (c *control) serveHolder(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(c.holder); err != nil {
		c.log.Debug("answer was not taken", "error", err)
	}
}

func (c *control) serveStatus(w http.ResponseWriter, r *http.Request) {
	c.passes.await(r.Context(), r.URL.Query().Get("after"))
	w.Header().Set("Content-Type", "application/json")
	s := c.status()
	s.Command = c.holder.Command
	if err := json.NewEncoder(w).Encode(s); err != nil {
		c.log.Debug("answer was not taken", "error", err)
	}
}

// errNotServed tells that the holder of the engine has no such route: it is not
// a daemon, or is busy.
var errNotServed = errors.New("the process that holds the warehouse does not take this")

// askStatus asks the process that holds the engine for its status.
func (w *route) askStatus(ctx context.Context) (syncer.Status, error) {
	return w.askStatusAfter(ctx, "")
}

// askStatusAfter asks it when a pass of that id, if it has one under way, is over.
func (w *route) askStatusAfter(ctx context.Context, pass string) (syncer.Status, error) {
	var s syncer.Status
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := w.ask(ctx, http.MethodGet, routeStatus+"?after="+pass, nil)
	if err != nil {
		return s, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	return s, json.NewDecoder(body).Decode(&s)
}

func (w *route) ask(ctx context.Context, method, route string, body []byte) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://engine"+route, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := w.client().Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	err = errors.Join(err, res.Body.Close())
	if res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusConflict {
		return nil, errors.Join(errNotServed, err)
	}
	return nil, errors.Join(fmt.Errorf("the daemon answers %s: %s", res.Status, bytes.TrimSpace(text)), err)
}

// servedByDaemon is true when a daemon holds the embedded warehouse, or a command that
// makes a pass.
func (a *reach) servedByDaemon(ctx context.Context) bool {
	_, err := a.throughHolder().askStatus(ctx)
	return err == nil
}
