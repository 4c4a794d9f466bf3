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
	"github.com/larder-sync/larder/sinks/embedded/socket"
	"github.com/larder-sync/larder/syncer"
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

// askFor lets the daemon run a task, and takes its news until
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
