package sandbox

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/apicheck"
)

// epoch of the tests' worlds: a Friday noon in Bucharest.
var testEpoch = time.Date(2026, 3, 20, 10, 0, 0, 0, time.UTC)

// The tests of rapid begin with one seed, unless another one is given: -rapid.seed, RAPID_SEED.
func init() {
	seed := flag.Lookup("rapid.seed").Value
	if seed.String() != "0" {
		return
	}
	if err := seed.Set("1"); err != nil {
		panic(err)
	}
}

// harness asks a sandbox whose clock the test sets.
type harness struct {
	*Sandbox
	t     testing.TB
	clock time.Time
	key   string
}

func newHarness(t testing.TB, o Options) *harness {
	t.Helper()
	h := &harness{t: t, clock: testEpoch}
	if o.Epoch.IsZero() {
		o.Epoch = testEpoch
	}
	h.clock = o.Epoch
	o.Now = func() time.Time { return h.clock }
	o.Inspect = apicheck.Inspect(t)
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Sandbox = s
	if o.Businesses >= 0 {
		h.key = s.Key(0, RoleMain).Value
	}
	return h
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (h *harness) do(method, key, uri string) answer {
	h.t.Helper()
	r := httptest.NewRequest(method, "/v1"+uri, nil)
	r.RemoteAddr = "127.0.0.1:4321"
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{w.Code, w.Header(), body}
}

func (h *harness) get(uri string) answer { h.t.Helper(); return h.do("GET", h.key, uri) }

// ok is the body of a 200 answer, decoded strictly into T.
func ok[T any](h *harness, uri string) T {
	h.t.Helper()
	a := h.get(uri)
	if a.status != 200 {
		h.t.Fatalf("GET %s: status %d: %s", uri, a.status, a.body)
	}
	return strict[T](h.t, a.body)
}

func strict[T any](t testing.TB, body []byte) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %T: %v in %.300s", v, err, body)
	}
	return v
}

// page is a page with its rows as they came.
type page struct {
	Data       []json.RawMessage `json:"data"`
	NextCursor *string           `json:"next_cursor"`
	HasMore    bool              `json:"has_more"`
	From, To   string
}

// walk follows a list to its end.
func (h *harness) walk(uri string) []json.RawMessage {
	h.t.Helper()
	var rows []json.RawMessage
	next := uri
	for {
		p := ok[page](h, next)
		rows = append(rows, p.Data...)
		if !p.HasMore {
			if p.NextCursor != nil {
				h.t.Fatalf("last page of %s has a next_cursor", uri)
			}
			return rows
		}
		next = withCursor(uri, *p.NextCursor)
		h.clock = h.clock.Add(time.Second)
	}
}

func withCursor(uri, cursor string) string {
	u, err := url.Parse(uri)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	q.Set("cursor", cursor)
	return u.EscapedPath() + "?" + q.Encode()
}

// errorOf is the error envelope of an answer.
type errorOf struct {
	Error struct {
		Code           string
		Message        string
		DisplayMessage string `json:"display_message"`
		Details        struct {
			Fields         map[string][]string
			RequiredScope  string   `json:"required_scope"`
			RequiredScopes []string `json:"required_scopes"`
			GrantedScopes  []string `json:"granted_scopes"`
		}
	}
}

func (h *harness) refused(a answer, status int, code string) errorOf {
	h.t.Helper()
	e := strict[errorOf](h.t, a.body)
	if a.status != status || e.Error.Code != code {
		h.t.Fatalf("answer %d %s, want %d %s: %s", a.status, e.Error.Code, status, code, a.body)
	}
	if e.Error.Message == "" || e.Error.DisplayMessage == "" {
		h.t.Fatalf("error without texts: %s", a.body)
	}
	return e
}
