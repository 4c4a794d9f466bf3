package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// hostileAnswer is what an attacker answers, and what its error contains.
type hostileAnswer struct {
	name    string
	handler http.HandlerFunc
	says    []string
}

// hostileBodies are bodies that are sent whole, and are no page.
func hostileBodies(t *testing.T) []hostileAnswer {
	t.Helper()
	const page = `{"data":[%s],"next_cursor":null,"has_more":false}`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []hostileAnswer{
		{"deep nesting", answers(200, fmt.Sprintf(page, deep(5_000_000))), []string{"exceeded max depth"}},
		{"deep nesting in an unknown field", answers(200, fmt.Sprintf(`{"future":%s,"data":[],"has_more":false}`, deep(20_000))), []string{"exceeded max depth"}},
		{"a NUL byte", answers(200, fmt.Sprintf(page, "{\"id\":\"a\x00b\"}")), []string{"expecting non-control character", `\x00`}},
		{"data is null", answers(200, `{"data":null,"has_more":false}`), []string{`"data" is not an array`}},
		{"data is an object", answers(200, `{"data":{},"has_more":false}`), []string{`"data" is not an array`}},
		{"an array", answers(200, `[]`), []string{"it is not an object"}},
		{"nothing", answers(200, `null`), []string{"it is not an object"}},
		{"an empty object", answers(200, `{}`), []string{`no "data"`}},
		{"data twice", answers(200, `{"data":[],"data":[],"has_more":false}`), []string{`"data" comes twice`}},
		{"has_more is text", answers(200, `{"data":[],"has_more":"true"}`), []string{`"/has_more" does not fit bool`}},
		{"a cursor that is a number", answers(200, `{"data":[],"has_more":true,"next_cursor":5}`), []string{`"/next_cursor" does not fit string`}},
		{"a cursor of a megabyte", answers(200, `{"data":[],"has_more":true,"next_cursor":"`+strings.Repeat("c", 1<<20)+`"}`), []string{`"next_cursor" has 1048576 bytes`, "4096"}},
		{"no cursor", answers(200, `{"data":[],"has_more":true,"next_cursor":null}`), []string{"has_more without a next_cursor"}},
		{"one cursor for ever", answers(200, `{"data":[],"has_more":true,"next_cursor":"same"}`), []string{"a cursor that it had sent before"}},
		{"a flood of rows", answers(200, fmt.Sprintf(page, strings.Repeat("{},", 3_000_000)+"{}")), []string{"more than 20000 rows"}},
		{"60 MB", answers(200, fmt.Sprintf(page, `{"id":"`+strings.Repeat("x", 60<<20)+`"}`)), []string{"larger than 16 MiB"}},
		{"a gzip bomb", withHeader("Content-Encoding", "gzip", string(zip(t, strings.Repeat(" ", 64<<20)))), []string{"larger than 16 MiB"}},
		{"brotli", withHeader("Content-Encoding", "br", "x"), []string{`encoding is "br"`}},
		{"HTML", withHeader("Content-Type", "text/html", "<html>"), []string{"it is HTML", "is base_url right"}},
		{"a message of megabytes", answers(500, `{"error":{"code":"server_error","message":"`+strings.Repeat("m", 4<<20)+`"}}`), []string{"500"}},
		{"a long message", answers(422, `{"error":{"code":"validation_failed","message":"`+strings.Repeat("m", 50<<10)+`"}}`), []string{"422 validation_failed: mmm", "(51200 bytes)"}},
		{"the key in an error", answers(418, `{"error":{"code":"teapot","message":"you sent `+testKey+`"}}`), []string{"teapot", "[key]"}},
	}
}

// hostileConnections are answers that do not come, or do not end, as they should.
func hostileConnections() []hostileAnswer {
	large := withHeader("X-Large", strings.Repeat("x", 1<<20), emptyPage)
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	return []hostileAnswer{
		{"a longer Content-Length", withHeader("Content-Length", "100", `{"data":[]`), []string{"unexpected EOF", "2 attempts"}},
		{"a body that never ends", endless, []string{"larger than 16 MiB"}},
		{"a byte at a time", trickle(300 * time.Millisecond), []string{"the answer did not end", "after 4s", "2 attempts"}},
		{"a body that stands still", trickle(time.Hour), []string{"the body stood still", "after 2s", "2 attempts"}},
		{"headers that never come", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, []string{"no complete headers", "after 2s"}},
		{"headers that never end", endlessHeaders, []string{"no answer", "headers"}},
		{"a header of a megabyte", large, []string{"no answer", "headers"}},
		{"a redirect to another host", redirect("https://attacker.example/v1/products"), []string{`a redirect to "https://attacker.example" was not followed`, "base URL"}},
		{"redirects without end", redirect("http://pos.example/v1/products"), []string{"302", "was not followed"}},
	}
}

// TestHostileBodies walks a list whose service answers as an attacker would. The walk fails with
// a short error without the key, of a type that callers distinguish, and holds no memory.
// TestHostileService of internal/app has one answer of each sort in the status of a daemon.
func TestHostileBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred megabytes are read byte by byte, and no goroutines of ours meet")
	}
	for _, a := range append(hostileBodies(t), hostileConnections()...) {
		t.Run(a.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := NewMemory(DefaultMemory)
				s := serve(t, a.handler, func(o *Options) {
					o.RetryMax, o.Memory = 1, memory
					o.Timeouts = Timeouts{Header: 2 * time.Second, Idle: 2 * time.Second, Whole: 4 * time.Second}
				})
				var last error
				for _, err := range products.Pages(t.Context(), s.Client, ListQuery{}) {
					last = err
				}
				if last == nil {
					t.Fatal("the walk ended well")
				}
				if !ofKnownSort(last) {
					t.Errorf("callers cannot distinguish a %T: %.2000s", last, last)
				}
				if used := memory.Used(); used != 0 {
					t.Errorf("%d bytes are taken at the end", used)
				}
				says := last.Error()
				if !LeadsNowhere(last) { // the caller adds the walk
					a.says = append(a.says, "GET /products: ")
				}
				for _, want := range a.says {
					if !strings.Contains(says, want) {
						t.Errorf("%q is not in: %.2000s", want, says)
					}
				}
				if len(says) > 1200 || strings.Contains(says+s.log.String(), testKey) {
					t.Errorf("%d bytes: %.2000s", len(says), says)
				}
			})
		})
	}
}

// ofKnownSort reports whether callers distinguish an error: of a body, of a connection, of a page
// that leads nowhere, or a status other than 200.
func ofKnownSort(err error) bool {
	_, body := errors.AsType[*BodyError](err)
	_, connection := errors.AsType[*TransportError](err)
	_, refusal := errors.AsType[*Error](err)
	return body || connection || refusal || LeadsNowhere(err)
}

// withHeader answers 200 with a header and a body.
func withHeader(name, value, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(name, value)
		_, _ = w.Write([]byte(body)) // the client may have gone
	}
}

// endless sends rows for as long as they are taken.
func endless(w http.ResponseWriter, _ *http.Request) {
	_, err := w.Write([]byte(`{"data":[{}`))
	for piece := []byte(strings.Repeat(",{}", 1<<14)); err == nil; {
		_, err = w.Write(piece)
	}
}

// trickle sends a byte at a time.
func trickle(every time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, b := range []byte(`{"data":[` + strings.Repeat(" ", 1000)) {
			if _, err := w.Write([]byte{b}); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-time.After(every):
			case <-r.Context().Done():
				return
			}
		}
	}
}

// endlessHeaders sends one header after the other.
func endlessHeaders(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, err = conn.Write([]byte("HTTP/1.1 200 OK\r\n"))
	for i := 0; err == nil; i++ {
		_, err = conn.Write([]byte("X-" + strconv.Itoa(i) + ": x\r\n"))
	}
}
