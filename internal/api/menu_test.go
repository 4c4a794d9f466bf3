package api

import (
	"net/http"
	"strings"
	"testing"
)

const aMenu = `{"location_id":"l1","currency":"RON","updated_at":null,"categories":[]}`

func TestAMenuIsAskedForUnlessItIsTheSame(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/locations/l1/menu" || r.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("asked %s with %v", r.URL, r.Header)
		}
		w.Header().Set("ETag", `"v2"`)
		switch asked := r.Header.Values("If-None-Match"); {
		case len(asked) == 1 && asked[0] == `"v2"`:
			w.WriteHeader(http.StatusNotModified)
		case len(asked) == 0 || asked[0] == `W/"v1"`:
			say(w, 200, aMenu)
		default:
			t.Errorf("If-None-Match %q", asked)
		}
	}, nil)
	for _, c := range []struct {
		etag      string
		unchanged bool
	}{{"", false}, {`W/"v1"`, false}, {`"v2"`, true}} {
		gate := &tally{}
		a, err := s.Through(gate).Menu(t.Context(), "l1", c.etag)
		if err != nil || a.Unchanged != c.unchanged || (string(a.Raw) == aMenu) == c.unchanged || a.ETag != `"v2"` || a.Attempts != 1 {
			t.Errorf("asked with %s: %+v, %v", c.etag, a, err)
		}
		if gate.left != 1 || gate.heavy != 0 {
			t.Errorf("asked with %s: left the gate %d times, heavy %d", c.etag, gate.left, gate.heavy)
		}
		a.Release()
		a.Release()
	}
}

// A 304 that nobody asked for is no answer: there is nothing that it could mean.
func TestA304WithoutAnETagHavingBeenSentIsARefusal(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, nil)
	_, err := s.Menu(t.Context(), "l1", "")
	if err == nil || !strings.Contains(err.Error(), "GET /locations/{id}/menu: 304 Not Modified: it says that nothing has changed, and was not asked whether") {
		t.Errorf("error %v", err)
	}
	if _, err := s.Snapshot(t.Context(), "/locations"); !hasStatus(err, 304) {
		t.Errorf("of a list: error %v", err)
	}
}

func TestWhatIsKeptOfAnETag(t *testing.T) {
	for tag, want := range map[string]string{
		`"abc"`: `"abc"`, `W/"abc"`: `W/"abc"`, `""`: `""`, "abc": "abc", `W/abc`: `W/abc`, `"a,b"`: `"a,b"`, `"*"`: `"*"`,
		"": "", "*": "", "a,b": "", `"a","b"`: "", `"a b"`: "", `"é"`: "", `W/`: `W/`, `"a`: "",
		`"` + strings.Repeat("x", maxETag-2) + `"`: `"` + strings.Repeat("x", maxETag-2) + `"`,
		`"` + strings.Repeat("x", maxETag-1) + `"`: "",
	} {
		h := http.Header{}
		h.Set("ETag", tag)
		if got := entityTag(h); got != want {
			t.Errorf("%.40s: kept %.40s, want %.40s", tag, got, want)
		}
	}
}

func TestAMenuThatIsNone(t *testing.T) {
	for body, want := range map[string]string{`[]`: "object", `{"a":`: "", `<html>`: "",
		`{"id":"l1"}`: `it has neither "location_id" nor "categories"`} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { say(w, 200, body) }, func(o *Options) { o.RetryMax = -1 })
		if a, err := s.Menu(t.Context(), "l1", ""); err == nil || !strings.Contains(err.Error(), want) || len(a.Raw) > 0 {
			t.Errorf("%s: %+v, %v", body, a, err)
		}
	}
}
