package control

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"

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

// LostHeader names, with the status, the warehouse whose data folder the daemon has lost.
const LostHeader = "Larder-Warehouse-Lost"

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

// Mount serves the control routes of a process that runs a command. With nil, passes
// are not taken: the process is making one itself.
func Mount(m mounter, command string, status func() syncer.Status, p passer, log *slog.Logger) {
	c := &control{holder: Holder{PID: os.Getpid(), Command: command}, status: status, passer: p, log: log}
	m.Handle("GET "+routeHolder, http.HandlerFunc(c.serveHolder))
	m.Handle("GET "+routeStatus, http.HandlerFunc(c.serveStatus))
	m.Handle("POST "+routeSync, serve(c, passInWords, serveSync))
	m.Handle("POST "+routeVerify, serve(c, verificationInWords, serveVerify))
	m.Handle("POST "+routeReconcile, serve(c, reconciliationInWords, serveReconcile))
	m.Handle("POST "+routeForget, serve(c, forgettingInWords, serveForget))
}

type control struct {
	holder Holder
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
