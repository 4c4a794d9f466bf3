package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/larder-sync/larder/syncer"
)

// task is a pass that a command wants made.
type task struct {
	sel      syncer.Selection
	existing bool // it needs an existing warehouse

	there func(*route) error                              // by the process that holds the embedded warehouse
	here  func(*lifecycle, *route, []syncer.Source) error // by this one
}

// run runs a task: beside a daemon on the same embedded warehouse, the daemon does
// the work.
func (a *App) run(ctx context.Context, e task) (err error) {
	if err := a.checkSelection(e.sel); err != nil {
		return err
	}
	sources, err := a.sources()
	if err != nil {
		return err
	}
	if e.existing {
		if err := a.existing(ctx); err != nil {
			return err
		}
	}
	l := &lifecycle{log: a.log}
	defer func() { err = errors.Join(err, l.close()) }()
	w, err := a.ownOrDaemon(ctx, l)
	switch {
	case err != nil:
		return err
	case w.held:
		return a.ifBusy(ctx, w, e.there(w))
	default:
		return e.here(l, w, sources)
	}
}

// message is one line of what the daemon answers while it runs a task: news of it, or
// how it failed.
type message[News any] struct {
	News  *News  `json:"news,omitempty"`
	Error string `json:"error,omitempty"`
	Code  int    `json:"code,omitempty"`
}

// serve answers a POST of what is asked by news, one a line, as they come.
func serve[Asked, News any](c *control, inWords func(Asked) string, run func(ctx context.Context, p passer, asked Asked, tell func(News)) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked Asked
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&asked); err != nil {
			http.Error(w, "not what is asked here: "+err.Error(), http.StatusBadRequest)
			return
		}
		if c.passer == nil {
			http.Error(w, "busy with a pass of its own", http.StatusConflict)
			return
		}
		c.log.Info("a command asks for "+inWords(asked), "asked", asked)
		defer c.passes.begin(r.URL.Query().Get("pass"))()
		w.Header().Set("Content-Type", "application/x-ndjson")
		send := sender[message[News]](w, c.log)
		if err := run(r.Context(), c.passer, asked, func(n News) { send(message[News]{News: &n}) }); err != nil {
			send(message[News]{Error: err.Error(), Code: ExitCode(err)})
		}
	})
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

// askFor lets the process that holds the engine run a task, and takes its news until
// take says that they were the last.
func askFor[News any](ctx context.Context, w *route, route string, asked any, take func(News) (last bool)) error {
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	body, err := w.ask(ctx, http.MethodPost, route, text)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	lines := json.NewDecoder(body)
	for {
		var m message[News]
		if err := lines.Decode(&m); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("the daemon ended before it was done: %w", err)
		}
		switch {
		case m.Error != "":
			return &remoteError{m.Error, m.Code}
		case m.News != nil && take(*m.News):
			return nil
		}
	}
}
