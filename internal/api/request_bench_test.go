package api

import (
	"bufio"
	"bytes"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// canned answers every request of its connections with the same page, and takes as little as can be for it.
func canned(b testing.TB, body string) (address string) {
	b.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(body)) // a buffer takes everything
	_ = z.Close()
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nDate: Fri, 27 Nov 2026 08:00:00 GMT\r\n" +
		"X-RateLimit-Limit: 600\r\nX-RateLimit-Remaining: 586\r\nContent-Length: " + strconv.Itoa(zipped.Len()) + "\r\n\r\n" + zipped.String())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for r := bufio.NewReader(c); ; {
					line, err := r.ReadSlice('\n')
					if err == nil && len(line) == 2 { // the empty line behind the headers
						_, err = c.Write(answer)
					}
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// quietly asks for a page on which nothing has changed, as nearly all requests of a fleet at rest do.
func quietly(b testing.TB) (ask func()) {
	b.Helper()
	transport := NewTransport(Timeouts{})
	transport.Proxy = nil
	b.Cleanup(transport.CloseIdleConnections)
	c, err := New(Options{BaseURL: "http://" + canned(b, emptyPage) + "/v1", Key: func() string { return testKey }, Transport: transport})
	if err != nil {
		b.Fatal(err)
	}
	q := ListQuery{UpdatedSince: time.Date(2026, 11, 27, 8, 0, 0, 123456000, time.UTC), IncludeDeleted: true}
	return func() {
		p, err := products.Page(b.Context(), c, q)
		if err != nil || len(p.Rows) != 0 {
			b.Fatal(p, err)
		}
		p.Release()
	}
}

func BenchmarkPageWithoutRows(b *testing.B) {
	ask := quietly(b)
	b.ReportAllocs()
	for b.Loop() {
		ask()
	}
}

// A fleet of a thousand makes 14,000 such requests a minute. Half of the allocations are of net/http.
func TestAPageWithoutRowsTakesLittle(t *testing.T) {
	if n := testing.AllocsPerRun(200, quietly(t)); n > 100 {
		t.Errorf("%v allocations", n)
	}
}
