package webhooks

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// Timeout is how long a receiver may take (docs/openapi.yaml, webhooks).
const Timeout = 10 * time.Second

// Endpoint is where the events of a key go.
type Endpoint struct{ URL, Secret string }

// Message is an event as it is sent; it is the same each time.
type Message struct {
	ID   string
	Type string
	Body []byte
}

// Result is how an endpoint answered.
type Result struct {
	Status int   // 0: it did not
	Err    error // why not
}

// OK is true when it took the event: any 2xx.
func (r Result) OK() bool { return r.Err == nil && r.Status >= 200 && r.Status < 300 }

// newClient follows no redirect (docs/openapi.yaml, webhooks). That rule also asks for https
// and a public address; the sandbox is there to be tried on one machine, so it posts to any.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: t, Timeout: Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// attempt posts a message once, signed as of an instant in microseconds.
func attempt(ctx context.Context, client *http.Client, e Endpoint, m Message, now int64) Result {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(m.Body))
	if err != nil {
		return Result{Err: err}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Service-Webhooks/1.0")
	r.Header.Set("Service-Event-Id", m.ID)
	r.Header.Set("Service-Event-Type", m.Type)
	r.Header.Set("Service-Signature", Sign(e.Secret, time.UnixMicro(now).Unix(), m.Body))
	answer, err := client.Do(r)
	if err != nil {
		return Result{Err: err}
	}
	defer answer.Body.Close()
	// What it says beside the status is nobody's; read a little, so that the connection serves again.
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 4096))
	return Result{Status: answer.StatusCode}
}
