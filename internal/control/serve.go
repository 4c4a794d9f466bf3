package control

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/larder-sync/larder/internal/exit"
)

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
		c.log.Info("a command asks for "+inWords(asked), "asked", asked)
		defer c.passes.begin(r.URL.Query().Get("pass"))()
		w.Header().Set("Content-Type", "application/x-ndjson")
		send := sender[message[News]](w, c.log)
		if err := run(r.Context(), c.passer, asked, func(n News) { send(message[News]{News: &n}) }); err != nil {
			send(message[News]{Error: err.Error(), Code: exit.Code(err)})
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
