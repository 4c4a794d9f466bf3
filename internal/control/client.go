package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/syncer"
)

// Client asks the process that holds the data folder, on its engine's socket.
type Client struct {
	HTTP *http.Client // speaks along the socket, whatever host it is asked for
}

// ErrNotServed means that the holder of the engine has no such route: it is not
// a daemon, or is busy.
var ErrNotServed = errors.New("the process that holds the warehouse does not take this")

// Status asks the process that holds the engine for its status.
func (c Client) Status(ctx context.Context) (syncer.Status, error) {
	return c.StatusAfter(ctx, "")
}

// StatusAfter asks it when a pass of that id, if it has one under way, is over.
func (c Client) StatusAfter(ctx context.Context, pass string) (syncer.Status, error) {
	var s syncer.Status
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := c.ask(ctx, http.MethodGet, routeStatus+"?after="+pass, nil)
	if err != nil {
		return s, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	return s, json.NewDecoder(body).Decode(&s)
}

func (c Client) ask(ctx context.Context, method, route string, body []byte) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://engine"+route, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	err = errors.Join(err, res.Body.Close())
	if res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusConflict {
		return nil, errors.Join(ErrNotServed, err)
	}
	return nil, errors.Join(fmt.Errorf("the daemon answers %s: %s", res.Status, bytes.TrimSpace(text)), err)
}

// askFor lets the process that holds the engine run a task, and takes its news until
// take returns that they were the last.
func askFor[News any](ctx context.Context, c Client, route string, asked any, take func(News) (last bool)) error {
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	body, err := c.ask(ctx, http.MethodPost, route, text)
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
			return &exit.RemoteError{Text: m.Error, Code: m.Code}
		case m.News != nil && take(*m.News):
			return nil
		}
	}
}
