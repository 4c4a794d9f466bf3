package reader

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A body that cannot be read is its sender's mistake; an answer that does not come, the
// process's.
func TestWhoseFaultItIs(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	defer backend.Close()
	transport := transportTo(func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", backend.Listener.Addr().String())
	})
	answered := make(chan bool, 1)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answered <- forward(transport, w, r) }))
	defer front.Close()
	for body, want := range map[string]int{"zz\r\nSELECT 1\r\n0\r\n\r\n": http.StatusBadRequest, "8\r\nSELECT 1\r\n0\r\n\r\n": http.StatusServiceUnavailable} {
		conn, err := net.Dial("tcp", front.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"+body); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if got := <-answered; res.StatusCode != want || err != nil || got != (want == http.StatusBadRequest) || !strings.HasPrefix(string(text), "Code: ") {
			t.Errorf("%q: %d %q, answered %t, %v", body, res.StatusCode, text, got, err)
		}
	}
}

// The process gets no password, in whichever way it came; the rest of the address is as it was.
func TestNoPasswordIsHandedOn(t *testing.T) {
	got := make(chan *http.Request, 1)
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
	defer backend.Close()
	transport := transportTo(func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", backend.Listener.Addr().String())
	})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forward(transport, w, r) }))
	defer front.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL+"/?user=a&query=SELECT+1;&pass%77ord=geheim&max_threads=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("a", "geheim")
	request.Header.Set("X-ClickHouse-Key", "geheim")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	r := <-got
	if r.URL.RawQuery != "query=SELECT+1;&max_threads=1" || len(r.Header["Authorization"])+len(r.Header["X-Clickhouse-Key"]) > 0 {
		t.Errorf("handed on: %s %v", r.URL.RawQuery, r.Header)
	}
}
