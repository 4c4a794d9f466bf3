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
	"sync"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// The routes that a process mounts on its engine's socket for the commands of the
// same user beside it.
const (
	routeStatus = "/larder/status" // GET: syncer.Status
	routeSync   = "/larder/sync"   // POST syncer.Selection: a stream of message, one a line
)

// message is one line of the answer of routeSync: a status now and then, at the
// end the report, or an error.
type message struct {
	Status *syncer.Status `json:"status,omitempty"`
	Report *reportWire    `json:"report,omitempty"`
	Error  string         `json:"error,omitempty"`
	Code   int            `json:"code,omitempty"`
}

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
}

// mount serves the control routes. With nil, passes are not taken: the process
// is making one itself.
func mount(m mounter, status func() syncer.Status, p passer, log *slog.Logger) {
	c := &control{status: status, passer: p, log: log}
	m.Handle("GET "+routeStatus, http.HandlerFunc(c.serveStatus))
	m.Handle("POST "+routeSync, http.HandlerFunc(c.serveSync))
	m.Handle("POST "+routeVerify, http.HandlerFunc(c.serveVerify))
	m.Handle("POST "+routeReconcile, http.HandlerFunc(c.serveReconcile))
}

type control struct {
	status func() syncer.Status
	passer passer
	log    *slog.Logger
}

func (c *control) serveStatus(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(c.status()); err != nil {
		c.log.Debug("answer was not taken", "error", err)
	}
}

func (c *control) serveSync(w http.ResponseWriter, r *http.Request) {
	var sel syncer.Selection
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&sel); err != nil {
		http.Error(w, "not a selection: "+err.Error(), http.StatusBadRequest)
		return
	}
	if c.passer == nil {
		http.Error(w, "busy with a pass of its own", http.StatusConflict)
		return
	}
	c.log.Info("a pass was asked for", "sources", sel.Sources, "streams", sel.Streams)
	w.Header().Set("Content-Type", "application/x-ndjson")
	send := sender[message](w, c.log)
	report, err := c.passer.RunOnce(r.Context(), sel, func(s syncer.Status) { send(message{Status: &s}) })
	if err != nil {
		send(message{Error: err.Error(), Code: ExitCode(err)})
		return
	}
	send(message{Report: toWire(report)})
}

// sender writes messages, one a line, at once.
func sender[T any](w http.ResponseWriter, log *slog.Logger) func(T) {
	encoder, flusher := json.NewEncoder(w), http.NewResponseController(w)
	var mu sync.Mutex
	return func(m T) {
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
}

// errNotServed tells that the holder of the engine has no such route: it is not
// a daemon, or is busy.
var errNotServed = errors.New("the process that holds the warehouse does not take this")

// askStatus asks the process that holds the engine for its status.
func (w *way) askStatus(ctx context.Context) (syncer.Status, error) {
	var s syncer.Status
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := w.ask(ctx, http.MethodGet, routeStatus, nil)
	if err != nil {
		return s, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	return s, json.NewDecoder(body).Decode(&s)
}

// askSync lets the process that holds the engine make the pass.
func (w *way) askSync(ctx context.Context, sel syncer.Selection, onProgress func(syncer.Status)) (syncer.Report, error) {
	asked, err := json.Marshal(sel)
	if err != nil {
		return syncer.Report{}, err
	}
	body, err := w.ask(ctx, http.MethodPost, routeSync, asked)
	if err != nil {
		return syncer.Report{}, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	lines := json.NewDecoder(body)
	for {
		var m message
		if err := lines.Decode(&m); err != nil {
			if ctx.Err() != nil {
				return syncer.Report{}, context.Cause(ctx)
			}
			return syncer.Report{}, fmt.Errorf("the daemon ended before the pass did: %w", err)
		}
		switch {
		case m.Status != nil && onProgress != nil:
			onProgress(*m.Status)
		case m.Report != nil:
			return m.Report.report(), nil
		case m.Error != "":
			return syncer.Report{}, &remoteError{m.Error, m.Code}
		}
	}
}

func (w *way) ask(ctx context.Context, method, route string, body []byte) (io.ReadCloser, error) {
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

// servedByDaemon tells whether a daemon holds the embedded warehouse.
func (a *App) servedByDaemon(ctx context.Context) bool {
	_, err := a.heldWay().askStatus(ctx)
	return err == nil
}
