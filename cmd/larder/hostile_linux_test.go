package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
)

// acting is text that does something to a terminal, or makes text look like another:
// an escape sequence that clears the screen, a title, C1, a line of its own, a change
// of direction, codes without a width.
const acting = "\x1b[2J\x1b]0;owned\x07\u009b31m\rhid\n✓ all is well\u202egnp\u202c\u200b\ufeff"

// hostile makes the service say acting wherever it says text of its own: in names, and
// in what it answers about one route.
func (h *house) hostile(failing string) {
	h.t.Helper()
	name, err := json.Marshal(h.Key(0, sandbox.RoleMain).BusinessName)
	if err != nil {
		h.t.Fatal(err)
	}
	evil, err := json.Marshal("Evil" + acting)
	if err != nil {
		h.t.Fatal(err)
	}
	refusal, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": "internal" + acting, "message": "sorry" + acting, "details": map[string]any{"fields": map[string][]string{"field" + acting: {"wrong" + acting}}},
	}})
	if err != nil {
		h.t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failing != "" && strings.HasSuffix(r.URL.Path, failing) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write(refusal)
			return
		}
		r.Header.Del("Accept-Encoding")
		answer := httptest.NewRecorder()
		h.Handler().ServeHTTP(answer, r)
		for key, values := range answer.Header() {
			if key != "Content-Length" {
				w.Header()[key] = values
			}
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(bytes.ReplaceAll(answer.Body.Bytes(), name, evil))
	}))
	h.t.Cleanup(s.Close)
	h.url = s.URL + "/v1"
}

// tame expects that a text does nothing to a terminal.
func tame(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }); i >= 0 || strings.HasPrefix(line, "✓ all is well") {
			t.Errorf("%s acts on a terminal: %q", what, line)
		}
	}
}

func TestWhatTheServiceSaysIsShownAndDoesNotAct(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.hostile("/products")
	h.configure(local("embedded:./data"))
	h.migrated()
	stop := h.engineStays()
	const shown = `Evil\u001b[2J\u001b]0;owned\u0007\u009b31m\rhid\n✓ all is well\u202egnp\u202c\u200b\ufeff`
	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{0, shown, []string{"check", "--set", "web.listen="}},
		{1, `internal\u001b[2J`, []string{"sync", "--set", "web.listen="}},
		{1, "", []string{"verify", "--format", "json"}},
		{1, `internal\u001b[2J`, []string{"reconcile"}},
	} {
		r := h.want(c.code, c.words, c.args...)
		tame(t, "larder "+strings.Join(c.args, " "), r.out+r.errors)
	}
	stop()
	page := h.start()
	polling.Page(t, page+"/", http.StatusOK, `internal\u001b[2J`)
	r := h.want(1, shown, "status")
	tame(t, "larder status", r.out)
	if !strings.Contains(r.out, `sorry\u001b[2J`) {
		t.Errorf("the error does not show:\n%s", r.out)
	}
	for _, path := range []string{"/", "/?part=live"} {
		_, text := polling.Fetch(t, page+path)
		tame(t, "the page", strings.ReplaceAll(text, "\n", " ")) // where a line break is a space
		if !strings.Contains(text, strings.ReplaceAll(shown, `\n`, "\n")) {
			t.Errorf("the name does not show on %s", path)
		}
	}

	// Machines get the values themselves.
	_, served := polling.Fetch(t, page+"/status.json")
	for what, text := range map[string]string{"--json": h.want(1, "", "status", "--json").out, "status.json": served} {
		var s struct {
			Sources []struct {
				BusinessName string `json:"business_name"`
			}
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil || s.Sources[0].BusinessName != "Evil"+acting {
			t.Errorf("%s: %v, %+v", what, err, s)
		}
	}
}

func TestSQLToAPipeIsRaw(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	piped, err := h.command("sql", "--format", "RawBLOB", `SELECT '\x1b[2J\xff\0'`).Output()
	if err != nil || string(piped) != "\x1b[2J\xff\x00" {
		t.Errorf("a pipe gets %q, %v", piped, err)
	}
	terminal := h.onTerminal(80, "sql", `SELECT '\x1b]0;owned\x07' AS title, 'ț' AS letter`)
	if out := terminal.ends(0); !strings.Contains(out, `\u001b]0;owned\u0007`) || strings.Contains(out, "\x1b]0") || !strings.Contains(out, "ț") {
		t.Errorf("a terminal gets %q", out)
	}
}
