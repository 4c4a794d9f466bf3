package cookbook

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"
	"time"
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
	if res.Header.Get("Content-Encoding") == "gzip" {
		text, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(text); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, answer{q.URL.Path, q.URL.RawQuery, res.StatusCode, res.Header.Get("Date"), body})
	return res, nil
}

// at is the service's clock as it answered.
func (a answer) at() time.Time {
	at, err := time.Parse(time.RFC1123, a.date)
	if err != nil {
		panic(err)
	}
	return at.In(bucharest)
}
