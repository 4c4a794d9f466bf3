package reader

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// transportTo has its connections made by dial, whatever the address.
func transportTo(dial func(ctx context.Context, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:        func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, address) },
		DisableCompression: true, MaxIdleConnsPerHost: 16,
	}
}

// forward hands a request on, without the password that it came with, and reports whether the
// process went on meanwhile.
func forward(transport *http.Transport, w http.ResponseWriter, r *http.Request) (answered bool) {
	answered = true
	body := &received{ReadCloser: r.Body}
	r.Body = body
	proxy := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "reader", "reader"
			r.Out.URL.RawQuery = withoutPassword(r.In.URL.RawQuery)
			for _, name := range []string{"Authorization", "X-ClickHouse-User", "X-ClickHouse-Key", "Cookie"} {
				r.Out.Header.Del(name)
			}
		},
		FlushInterval: -1,
		Transport:     transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			if err := body.broken(); err != nil {
				refuse(w, exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The body cannot be read: %v", err))
				return
			}
			answered = false
			refuseFor(w, time.Second, "The reading process ended under this statement")
		},
	}
	proxy.ServeHTTP(w, r)
	return answered
}

// withoutPassword is a query string without who asks; the rest is as it came, since a semicolon
// belongs to the SQL.
func withoutPassword(query string) string {
	pairs := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		return err == nil && (name == "user" || name == "password")
	})
	return strings.Join(pairs, "&")
}

// received is the body of a request. It keeps why it could not be read.
type received struct {
	io.ReadCloser

	mu  sync.Mutex // it may still be read when the request has failed
	err error
}

func (b *received) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // what wraps an end is none
		b.mu.Lock()
		defer b.mu.Unlock()
		b.err = err
	}
	return n, err
}

func (b *received) broken() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// refuseFor refuses a statement that may be sent again after a while.
func refuseFor(w http.ResponseWriter, wait time.Duration, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
	refuse(w, exception.Refuse(exception.TooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "%s. Try again later", why))
}

func refuse(w http.ResponseWriter, e *exception.Exception) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("X-ClickHouse-Exception-Code", strconv.Itoa(e.Code))
	w.WriteHeader(e.Status())
	fmt.Fprintln(w, e.Message)
}

// Unconfined hands requests to the writer, where the kernel cannot confine a reader
// (warehouse.http_unconfined). Only statements that read are taken (readonly = 2). They read
// what Larder's user may read.
func Unconfined(dial func(ctx context.Context, address string) (net.Conn, error), database, zone string) http.Handler {
	transport := transportTo(dial)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := server.ReaderSettings(zone)
		if r.Header.Get("X-ClickHouse-Database") == "" {
			given["database"] = database
		}
		address := *r.URL
		address.RawQuery = readOnly(r.URL.RawQuery, given)
		r = r.WithContext(r.Context())
		r.URL = &address
		forward(transport, w, r)
	})
}

// readOnly is a query string as a reader's: with what is given where it names nothing else,
// and with readonly = 2, whatever it asks for.
func readOnly(query string, given map[string]string) string {
	values := url.Values{}
	for name, value := range given {
		values.Set(name, value)
	}
	var rest []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil {
			values.Del(name)
			if name == "readonly" {
				continue
			}
		}
		rest = append(rest, pair)
	}
	values.Set("readonly", "2")
	return strings.Join(append(rest, values.Encode()), "&")
}
