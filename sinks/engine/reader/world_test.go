package reader_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/syncer"
)

// front is the reading interface of a small mirrored restaurant, as a daemon serves it.
type front struct {
	address string
}

// served mirrors a restaurant and serves it.
func served(t *testing.T) *front {
	t.Helper()
	w := newWorld(t)
	box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 20, Orders: 60, NoLimits: true})
	if err != nil {
		t.Fatal(err)
	}
	key := box.Key(0, sandbox.RoleMain).Value
	y, err := syncer.New(syncer.Options{
		Exclusive: true, Sink: w.sink, API: api.Options{Transport: box.Transport()},
		Sources: []syncer.Source{{Name: "bistro", BaseURL: "http://api.test/v1", Key: func() string { return key }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if report, err := y.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil || report.Err() != nil {
		t.Fatalf("mirror the sandbox: %v, %v", err, report.Err())
	}
	w.soon("SELECT count() FROM sales_orders", w.write("SELECT count() FROM sales_orders"))
	w.soon("SELECT count() FROM sync_streams", w.write("SELECT count() FROM sync_streams"))
	readers, err := server.ListenReaders(t.Context(), "127.0.0.1:0", "", "", w.reader, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- readers.Serve() }()
	t.Cleanup(func() {
		w.must(readers.Close(context.WithoutCancel(t.Context())))
		w.must(<-served)
	})
	return &front{address: readers.Addr().String()}
}

// asked is a request as a tool sends it.
type asked struct {
	method  string // POST when empty
	path    string // / when empty
	query   url.Values
	headers map[string]string
	body    []byte
	chunked bool // the body, whose length is not told
}

// ask sends a request and returns its answer, whose body has been read.
func (f *front) ask(t *testing.T, a asked) (*http.Response, []byte) {
	t.Helper()
	address := url.URL{Scheme: "http", Host: f.address, Path: a.path, RawQuery: a.query.Encode()}
	if a.path == "" {
		address.Path = "/"
	}
	if a.method == "" {
		a.method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(t.Context(), a.method, address.String(), bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	if a.chunked {
		request.ContentLength = -1
	}
	for name, value := range a.headers {
		if name == "Host" {
			request.Host = value
			continue
		}
		request.Header.Set(name, value)
	}
	// Go's own client would unpack the answer, and remove the header.
	way := &http.Transport{DisableCompression: true}
	defer way.CloseIdleConnections()
	answer, err := way.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

// text is the answer to a statement with these parameters in the URL.
func (f *front) text(t *testing.T, parameters, sql string) string {
	t.Helper()
	query, err := url.ParseQuery(parameters)
	if err != nil {
		t.Fatal(err)
	}
	answer, body := f.ask(t, asked{query: query, body: []byte(sql)})
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s\n%s %s", sql, answer.Status, body)
	}
	return string(body)
}

// unpacked is a body without its Content-Encoding.
func unpacked(t *testing.T, answer *http.Response, body []byte) string {
	t.Helper()
	if answer.Header.Get("Content-Encoding") != "zstd" {
		return string(body)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	plain, err := decoder.DecodeAll(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}
