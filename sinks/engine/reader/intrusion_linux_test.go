package reader_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// intrusions are requests that are wrong in ways that two HTTP servers behind each other
// have understood differently. HIDDEN stands for one that would come in without a password.
func intrusions() map[string]string {
	const right = "Authorization: Basic Ymk6czNjcmV0\r\n" // bi:s3cret
	return map[string]string{
		"two lengths":                 "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Content-Length: 8\r\nContent-Length: 200\r\n\r\nSELECT 1HIDDEN",
		"two lengths in one":          "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Content-Length: 8, 200\r\n\r\nSELECT 1HIDDEN",
		"a length with a sign":        "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Content-Length: +8\r\n\r\nSELECT 1HIDDEN",
		"no length, a body":           "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\nHIDDEN",
		"a length and chunks":         "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Content-Length: 200\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nSELECT 1\r\n0\r\n\r\nHIDDEN",
		"chunks and a short length":   "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n8\r\nSELECT 1\r\n0\r\n\r\nHIDDEN",
		"chunks, spelt oddly":         "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Transfer-Encoding: xchunked\r\nContent-Length: 8\r\n\r\nSELECT 1HIDDEN",
		"chunks twice":                "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n8\r\nSELECT 1\r\n0\r\n\r\nHIDDEN",
		"a blank before a colon":      "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Content-Length : 8\r\n\r\nSELECT 1HIDDEN",
		"a folded header":             "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "X: y\r\n Content-Length: 200\r\nContent-Length: 8\r\n\r\nSELECT 1HIDDEN",
		"bare line feeds":             "POST / HTTP/1.1\nHost: localhost\nContent-Length: 0\n\nHIDDEN",
		"a chunk with an extension":   "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Transfer-Encoding: chunked\r\n\r\n8;a=\"\r\n\r\nSELECT 1\r\n0\r\n\r\nHIDDEN",
		"a chunk of a huge size":      "POST / HTTP/1.1\r\nHost: localhost\r\n" + right + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nSELECT 1\r\n0\r\n\r\nHIDDEN",
		"a trailer with who asks":     "POST / HTTP/1.1\r\nHost: localhost\r\nTrailer: Authorization\r\nTransfer-Encoding: chunked\r\n\r\n24\r\nSELECT concat('smug', 'gled') -- aaaa\r\n0\r\n" + right + "\r\n",
		"who asks, hop by hop":        "GET /?query=SMUGGLE HTTP/1.1\r\nHost: localhost\r\nConnection: Authorization, X-ClickHouse-User, Host\r\nX-ClickHouse-User: bi\r\n\r\n",
		"two that ask":                "GET /?query=SMUGGLE HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic Ymk6d3Jvbmc=\r\n" + right + "\r\n",
		"an address of another host":  "GET http://evil.example/?query=SMUGGLE HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"who asks, in the address":    "GET http://bi:s3cret@localhost/?query=SMUGGLE HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"CONNECT":                     "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\nHIDDEN",
		"CONNECT by one who may":      "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\nHIDDEN",
		"an upgrade by one who may":   "GET /ping HTTP/1.1\r\nHost: localhost\r\n" + right + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nHIDDEN",
		"an upgrade to HTTP/2":        "GET /ping HTTP/1.1\r\nHost: localhost\r\n" + right + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nHIDDEN",
		"HTTP/2 from the start":       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nHIDDEN",
		"HTTP/0.9":                    "GET /?query=SMUGGLE\r\n\r\n",
		"two hosts":                   "GET /?query=SMUGGLE HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
		"no host":                     "GET /?query=SMUGGLE HTTP/1.1\r\n\r\n",
		"a header within a statement": "GET /?query=SELECT+1&query_id=a%0d%0aX-Smuggled:+1&database=larder%0d%0aX-Smuggled:+1 HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\n",
		"a request within an address": "GET /?query=SELECT+1%20HTTP/1.1%0d%0aHost:%20x%0d%0a%0d%0aHIDDEN HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\n",
		"a zone with a header":        "GET /?query=SELECT+1&session_timezone=UTC%0d%0aX-Smuggled:+1 HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\n",
		"another path":                "GET /larder/status HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\n",
		"a path upwards":              "GET /../../larder/status HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\n",
		"a path of another host":      "GET //evil.example/ HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\n",
		"an asterisk":                 "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n" + right + "\r\n",
		"garbage":                     "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00\xff", 200) + "\r\n\r\n",
		"a huge head":                 "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 200<<10) + "\r\n\r\n",
		"many headers":                "GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: a\r\n", 40<<10) + "\r\n",
		"a body that is promised":     "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\nHIDDEN",
	}
}

// Whoever comes without the password, or hides a request in another, is not answered, and
// the next one gets the answer to its own question.
func TestIntrudersAreNotAnswered(t *testing.T) {
	notInShort(t)
	s := newSiege(t, "bi", "s3cret")
	const smuggle = "SELECT+concat('smug','gled')"
	hidden := "GET /?query=" + smuggle + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
	honest := "GET /?query=" + smuggle + "&user=bi&password=s3cret HTTP/1.1\r\nHost: localhost\r\n\r\n"
	if answer := s.intrude(honest + honest); strings.Count(answer, "smuggled\n") != 2 {
		t.Fatalf("two honest ones, the second hidden behind the first: %q", answer)
	}
	for name, text := range intrusions() {
		answer := s.intrude(strings.NewReplacer("HIDDEN", hidden, "SMUGGLE", smuggle).Replace(text))
		if strings.Contains(answer, "smuggled\n") || strings.Contains(answer, "\r\nX-Smuggled") || strings.Contains(answer, "101 Switching") {
			t.Errorf("%s: %q", name, answer)
		}
		for n := range 3 {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address, strings.NewReader(fmt.Sprint("SELECT ", n)))
			if err != nil {
				t.Fatal(err)
			}
			request.SetBasicAuth("bi", "s3cret")
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || string(body) != fmt.Sprintln(n) {
				t.Errorf("after %s: %d %q %v", name, response.StatusCode, body, err)
			}
		}
	}
	s.survived()
}

// intrude sends bytes and returns what comes until the other side closes: after the honest
// requests behind them, if not before.
func (s *siege) intrude(text string) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	s.must(conn.SetDeadline(time.Now().Add(time.Minute)))
	last := strings.Repeat("GET /ping?user=bi&password=s3cret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 10)
	_, _ = io.WriteString(conn, text+last) // it may be closed before it has read all
	var answer bytes.Buffer
	if _, err := io.Copy(&answer, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Errorf("%q is not ended", text)
	}
	return answer.String()
}
