package sandbox

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func (h *harness) admin(method, uri, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080/admin"+uri, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:5000"
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, r)
	return w
}

func TestAdminIsForThisMachine(t *testing.T) {
	h := newHarness(t, Options{Orders: -1})
	for name, spoil := range map[string]func() (remote, host, origin string){
		"other machine": func() (string, string, string) { return "192.0.2.1:5000", "127.0.0.1", "" },
		"a web page":    func() (string, string, string) { return "127.0.0.1:5000", "127.0.0.1", "https://evil.invalid" },
		"rebound name":  func() (string, string, string) { return "127.0.0.1:5000", "evil.invalid", "" },
	} {
		r := httptest.NewRequest(http.MethodGet, "/admin/keys", nil)
		var origin string
		r.RemoteAddr, r.Host, origin = spoil()
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if w.Code != 403 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := h.admin("GET", "/keys", ""); w.Code != 200 || !strings.Contains(w.Body.String(), h.key) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAdminChangesAndTruth(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 40})
	since := h.clock.Add(time.Second)
	h.clock = since
	for body, want := range map[string]int{
		`{"action":"place","count":3}`:                        200,
		`{"action":"random","count":20,"seed":1}`:             200,
		`{"action":"edit","count":2}`:                         200,
		`{"action":"delete","count":1,"stream":"products"}`:   200,
		`{"action":"touch","count":4,"stream":"ingredients"}`: 200,
		`{"action":"purge","count":1,"stream":"categories"}`:  200,
		`{"action":"cancel","ids":["none"]}`:                  400,
		`{"action":"explode","ids":["none"]}`:                 400,
		`{"business":9}`:                                      400,
		`{"nonsense":1}`:                                      400,
	} {
		if w := h.admin("POST", "/change", body); w.Code != want {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for stream, list := range lists {
		m := mirrored{}
		m.upsert(t, h.walk(list+"?limit=200&updated_since=0001-01-01T00:00:00Z"))
		rows := 0
		lines := bufio.NewScanner(h.admin("GET", "/truth?stream="+stream, "").Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			row := strict[TruthRow](t, lines.Bytes())
			if _, ok := m[row.ID]; !ok && row.Reason != ReasonGone {
				t.Errorf("%s: the walk has no %s", stream, lines.Bytes())
			}
			rows++
		}
		if rows < len(m) || rows == 0 {
			t.Errorf("%s: %d rows of truth, %d in the walk", stream, rows, len(m))
		}
	}
}

func TestAdminFaultsAndKeys(t *testing.T) {
	h := newHarness(t, Options{Orders: -1})
	if w := h.admin("POST", "/faults", `{"kind":"server_error","count":1}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if w := h.admin("POST", "/faults", `{"kind":"weather","count":1}`); w.Code != 400 {
		t.Errorf("unknown kind: %d", w.Code)
	}
	if w := h.admin("POST", "/faults", `{"kind":"reset"}`); w.Code != 400 {
		t.Errorf("no probability: %d", w.Code)
	}
	h.refused(h.get("/me"), 500, "server_error")
	key, err := json.Marshal(h.key)
	if err != nil {
		t.Fatal(err)
	}
	if w := h.admin("POST", "/keys", `{"value":`+string(key)+`,"scopes":["menu:read"]}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	h.refused(h.get("/ingredients"), 403, "insufficient_scope")
	if w := h.admin("POST", "/keys", `{"value":`+string(key)+`,"state":"disabled"}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	h.refused(h.get("/me"), 403, "api_key_disabled")
	var got struct{ Stats Stats }
	if err := json.Unmarshal(h.admin("GET", "/stats", "").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Stats.Requests != 3 || got.Stats.ByStatus[500] != 1 || got.Stats.ByStatus[403] != 2 {
		t.Errorf("%+v", got.Stats)
	}
}

// Counters: requests per key and minute, 429s, pages fetched again, the log.
func TestStats(t *testing.T) {
	h := newHarness(t, Options{Orders: -1, Record: true})
	p := ok[page](h, "/products?limit=5")
	for range 2 {
		ok[page](h, "/products?limit=5&cursor="+*p.NextCursor)
	}
	for range 118 {
		h.get("/me")
	}
	s := h.Stats()
	minute := h.clock.Unix() / 60
	app := h.Key(0, RoleMain).AppID
	if s.Requests != 121 || s.RateLimited != 1 || s.DuplicatePages != 1 || s.Minutes[app][minute] != 121 || s.Rows != 15+117 {
		t.Errorf("%+v", s)
	}
	if log := h.Requests(); len(log) != 121 || log[0].URI != "/v1/products?limit=5" || log[120].Status != 429 {
		t.Errorf("%d requests logged", len(log))
	}
	status, body, err := h.Fetch(h.key, "/me")
	if err != nil || status != 200 || len(body) == 0 || h.Stats().Requests != 121 {
		t.Errorf("fetch: %d %v, %d requests", status, err, h.Stats().Requests)
	}
}
