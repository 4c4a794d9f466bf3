package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/sinks/engine/socket"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// Client asks the daemon on an embedded warehouse.
type Client struct {
	http *http.Client // speaks along the socket, whatever host it is asked for
}

// Beside is the client of the daemon on a data folder.
func Beside(folder string) Client {
	path := filepath.Join(folder, socketName)
	return Client{&http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx, path) },
		DisableKeepAlives: true,
	}}}
}

// Status asks the daemon for its status.
func (c Client) Status(ctx context.Context) (status.Status, error) {
	var s status.Status
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := c.ask(ctx, http.MethodGet, routeStatus, nil)
	if err != nil {
		return s, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	return s, json.NewDecoder(body).Decode(&s)
}

// RunOnce lets the daemon make the pass.
func (c Client) RunOnce(ctx context.Context, sel syncer.Selection, onProgress func(status.Status)) (syncer.Report, error) {
	report, err := askFor(ctx, c, routeSync, sel, func(m message[syncer.Report]) {
		if m.Status != nil && onProgress != nil {
			onProgress(*m.Status)
		}
	})
	if errors.Is(err, context.Canceled) {
		err = &exit.InterruptedError{Next: goesOn(sel)}
	}
	return report, err
}

// goesOn names what the daemon still does of a pass whose command was interrupted: it completes the
// full resyncs and backfills that have begun.
func goesOn(sel syncer.Selection) string {
	const see = "larder status shows how far it is"
	switch {
	case !sel.Full:
		return "the daemon goes on by itself; " + see
	case sel.ConfirmSweep:
		return "the daemon goes on with the full resyncs that have begun, without your confirmation of their sweep; " + see + ", and what it does not show has to be asked for again"
	default:
		return "the daemon goes on with the full resyncs that have begun; " + see + ", and what it does not show has to be asked for again"
	}
}

// Verify lets the daemon verify. When ctx ends, the report is the last one that was received.
func (c Client) Verify(ctx context.Context, sel syncer.Selection, found func(verify.Finding), progress func(verify.Progress)) (verify.Report, error) {
	return askFor(ctx, c, routeVerify, sel, func(m message[verify.Report]) {
		switch {
		case m.Finding != nil && found != nil:
			found(*m.Finding)
		case m.Status != nil && progress != nil:
			progress(verify.Progress{Status: *m.Status, Report: *m.Report})
		}
	})
}

// Reconcile lets the daemon reconcile. When ctx ends, the report is the last one that was
// received.
func (c Client) Reconcile(ctx context.Context, r syncer.ReconcileRequest, progress func(syncer.ReconcileReport)) (syncer.ReconcileReport, error) {
	return askFor(ctx, c, routeReconcile, r, func(m message[syncer.ReconcileReport]) {
		if progress != nil {
			progress(*m.Report)
		}
	})
}

// Forget lets the daemon forget.
func (c Client) Forget(ctx context.Context, r syncer.ForgetRequest) (syncer.ForgetReport, error) {
	return askFor(ctx, c, routeForget, r, func(message[syncer.ForgetReport]) {})
}

func (c Client) ask(ctx context.Context, method, route string, body []byte) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://daemon"+route, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	err = errors.Join(err, res.Body.Close())
	return nil, errors.Join(fmt.Errorf("the daemon answers %s: %s", res.Status, bytes.TrimSpace(text)), err)
}

// askFor lets the daemon make a pass, and calls news with what it says meanwhile. It returns
// the last report.
func askFor[R any](ctx context.Context, c Client, route string, asked any, news func(message[R])) (last R, err error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return last, err
	}
	body, err := c.ask(ctx, http.MethodPost, route, text)
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
