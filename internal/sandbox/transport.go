package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
)

// Transport answers requests in the caller's goroutine, without a network, so
// that it works inside a testing/synctest bubble. Cut connections and hangs look
// as they do on a real one. Every request counts as from 127.0.0.1.
func (s *Sandbox) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Sandbox }

// RoundTrip is http.RoundTripper's.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	in.RemoteAddr = "127.0.0.1:40000"
	in.RequestURI = r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &memoryWriter{header: http.Header{}}
	cut := serveRecovering(t.s.Handler(), w, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if cut && w.status == 0 {
		return nil, &cutError{}
	}
	return w.response(r, cut), nil
}

// serveRecovering is true when the handler cut the connection.
func serveRecovering(h http.Handler, w http.ResponseWriter, r *http.Request) (cut bool) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			cut = true
		}
	}()
	h.ServeHTTP(w, r)
	return false
}

// cutError is a connection reset by the peer.
type cutError struct{}

// Error names what a real connection would.
func (*cutError) Error() string { return "read: connection reset by peer" }

// Unwrap makes errors.Is(err, syscall.ECONNRESET) hold.
func (*cutError) Unwrap() error { return syscall.ECONNRESET }

type memoryWriter struct {
	header http.Header
	sent   http.Header
	status int
	body   []byte
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

func (w *memoryWriter) response(r *http.Request, cut bool) *http.Response {
	w.WriteHeader(http.StatusOK)
	body := io.Reader(bytes.NewReader(w.body))
	if cut {
		body = io.MultiReader(body, cutReader{})
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: io.NopCloser(body), ContentLength: contentLength(w, cut), Request: r,
	}
}

func contentLength(w *memoryWriter, cut bool) int64 {
	if cut {
		return -1
	}
	return int64(len(w.body))
}

// cutReader ends a body too early.
type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
