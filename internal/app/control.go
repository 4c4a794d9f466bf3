package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/engine/socket"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// Beside a daemon on an embedded warehouse, a command has the daemon make its pass: by a POST to the
// daemon's socket in the data folder, which is answered by a stream of messages, one a line.

// pass is a kind of pass: its route on the socket, and how a syncer makes it.
type pass[Q, R any] struct {
	route  string
	begins bool // it may be the first one of a warehouse
	reads  bool // it writes nothing
	run    func(ctx context.Context, y *syncer.Syncer, asked Q, send func(message[R])) (R, error)
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

var (
	passSync = pass[syncer.Selection, syncer.Report]{route: "/sync", begins: true, run: func(ctx context.Context, y *syncer.Syncer, sel syncer.Selection, send func(message[syncer.Report])) (syncer.Report, error) {
		return y.RunOnce(ctx, sel, func(s status.Status) { send(message[syncer.Report]{Status: &s}) })
	}}
	passVerify = pass[syncer.Selection, verify.Report]{route: "/verify", reads: true, run: func(ctx context.Context, y *syncer.Syncer, sel syncer.Selection, send func(message[verify.Report])) (verify.Report, error) {
		return y.Verify(ctx, sel,
			func(f verify.Finding) { send(message[verify.Report]{Finding: &f}) },
			func(p verify.Progress) { send(message[verify.Report]{Status: &p.Status, Report: &p.Report}) })
	}}
	passReconcile = pass[syncer.ReconcileRequest, syncer.ReconcileReport]{route: "/reconcile", run: func(ctx context.Context, y *syncer.Syncer, r syncer.ReconcileRequest, send func(message[syncer.ReconcileReport])) (syncer.ReconcileReport, error) {
		return y.Reconcile(ctx, r, func(so syncer.ReconcileReport) { send(message[syncer.ReconcileReport]{Report: &so}) })
	}}
	passForget = pass[syncer.ForgetRequest, syncer.ForgetReport]{route: "/forget", run: func(ctx context.Context, y *syncer.Syncer, r syncer.ForgetRequest, _ func(message[syncer.ForgetReport])) (syncer.ForgetReport, error) {
		return y.Forget(ctx, r)
	}}
)

// socketName is the daemon's socket in the data folder.
const socketName = "control.sock"

// ask asks the daemon on a data folder, and returns the body of its answer.
func ask(ctx context.Context, folder, method, route string, asked any) (io.ReadCloser, error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://daemon"+route, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return socket.Dial(ctx, filepath.Join(folder, socketName))
	}}}
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	said, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	err = errors.Join(err, res.Body.Close())
	return nil, errors.Join(fmt.Errorf("the daemon answers %s: %s", res.Status, bytes.TrimSpace(said)), err)
}

// askStatus asks the daemon on a data folder for its status.
func askStatus(ctx context.Context, folder string) (s status.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := ask(ctx, folder, http.MethodGet, "/status", nil)
	if err != nil {
		return s, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	return s, json.NewDecoder(body).Decode(&s)
}

// ask has the daemon on a data folder make the pass, and calls news with its messages. It returns the
// last report that it received, also when ctx ends.
func (k pass[Q, R]) ask(ctx context.Context, folder string, asked Q, news func(message[R])) (last R, err error) {
	body, err := ask(ctx, folder, http.MethodPost, k.route, asked)
	if err != nil {
		return last, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	for lines := json.NewDecoder(body); ; {
		var m message[R]
		if err := lines.Decode(&m); err != nil {
			if ctx.Err() != nil {
				return last, context.Cause(ctx)
			}
			return last, fmt.Errorf("the daemon ended before it was done: %w", err)
		}
		if m.Report != nil {
			last = *m.Report
		}
		m.Report = &last
		switch {
		case m.Failed != nil:
			return last, m.Failed
		case m.Done:
			return last, nil
		}
		news(m)
	}
}

// errTaken means that another daemon makes the passes of commands beside it.
var errTaken = errors.New("another daemon on this data folder takes what commands ask for")

// takeCommands serves the commands of the same user on the socket in the data folder, until
// endCommands is called. The error is errTaken while another daemon does so.
func (d *Daemon) takeCommands(ctx context.Context) error {
	folder, log := d.app.Config.Warehouse.DSN.Dir(), d.app.Log
	if _, err := askStatus(ctx, folder); err == nil {
		return errTaken
	}
	path := filepath.Join(folder, socketName)
	listener, err := socket.Listen(path)
	if err != nil {
		return fmt.Errorf("listen for commands on %s: %w", path, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(d.Status()); err != nil {
			log.Debug("answer was not taken", "error", err)
		}
	})
	passSync.serve(mux, d)
	passVerify.serve(mux, d)
	passReconcile.serve(mux, d)
	passForget.serve(mux, d)
	under, end := context.WithCancel(context.WithoutCancel(ctx))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return under },
	}
	go func() { _ = server.Serve(listener) }() // it ends with the server
	d.endCommands = func(ctx context.Context) error {
		end()
		return server.Shutdown(ctx) // the socket's name stays: the next daemon's may have it by now
	}
	return nil
}

// serve answers a POST of what is asked by messages, as they come. It waits until the daemon has
// reached the warehouse.
func (k pass[Q, R]) serve(mux *http.ServeMux, d *Daemon) {
	log := d.app.Log
	mux.HandleFunc("POST "+k.route, func(w http.ResponseWriter, r *http.Request) {
		var asked Q
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&asked); err != nil {
			http.Error(w, "not what is asked here: "+err.Error(), http.StatusBadRequest)
			return
		}
		log.Info("a command asks for a pass", "pass", k.route[1:], "asked", asked)
		w.Header().Set("Content-Type", "application/x-ndjson")
		encoder, flusher := json.NewEncoder(w), http.NewResponseController(w)
		var mu sync.Mutex
		send := func(m message[R]) {
			mu.Lock()
			defer mu.Unlock()
			if err := errors.Join(encoder.Encode(m), flusher.Flush()); err != nil {
				log.Debug("message was not taken", "error", err)
			}
		}
		var report R
		y, err := d.Syncer(r.Context())
		if err == nil {
			report, err = k.run(r.Context(), y, asked, send)
		}
		if err == nil && !k.reads { // what a full resync has replaced is not damaged any more
			err = d.app.Damages(d.route).Repaired(y.Status)
		}
		send(message[R]{Report: &report, Done: err == nil, Failed: status.FailureOf(err)})
	})
}

// Syncer returns the daemon's syncer, once the warehouse has been reached.
func (d *Daemon) Syncer(ctx context.Context) (*syncer.Syncer, error) {
	select {
	case <-d.ready:
		return d.syncer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
