package cookbook

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// recording keeps what the service answered to the daemon, so that what a mirror can
// know of the past can be computed without one.
type recording struct {
	way     http.RoundTripper
	mu      sync.Mutex
	answers []answer
}

type answer struct {
	path, query string
	status      int
	date        string
	body        []byte
}

// RoundTrip is http.RoundTripper's.
func (r *recording) RoundTrip(q *http.Request) (*http.Response, error) {
	res, err := r.way.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, answer{q.URL.Path, q.URL.RawQuery, res.StatusCode, res.Header.Get("Date"), body})
	return res, nil
}
