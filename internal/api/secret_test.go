package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// echo answers with the key it was sent, in every place an answer has.
func echo(status int, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		w.Header().Set("Content-Type", contentType+sent)
		w.Header().Set("Location", "https://other.example/"+sent)
		w.WriteHeader(status)
		body := fmt.Sprintf(`{"error":{"code":%q,"message":%q,"display_message":%q,"details":{"fields":{%q:[%q]},"required_scope":%q}}}`, sent, sent, sent, sent, sent, sent)
		_, _ = w.Write([]byte(body)) // the client may have gone
	}
}

// failing are services that fail in every way, telling the key where they can.
var failing = map[string]http.HandlerFunc{
	"400": echo(400, "application/json"), "401": echo(401, "application/json"), "403": echo(403, "application/json"),
	"404": echo(404, "text/html"), "422": echo(422, "application/json"), "429": echo(429, "application/json"),
	"500": echo(500, "application/json"), "503": echo(503, "text/plain"), "302": echo(302, "text/html"), "200": echo(200, "application/json"),
	"reset": reset, "cut": cut,
	"redirect within the origin": func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		http.Redirect(w, r, "/"+key+"/%"+fmt.Sprintf("%x", key[0])+key[1:]+"?key="+key, http.StatusFound)
	},
	"redirect to a host of that name": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+".example/", http.StatusFound)
	},
	"html": func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("<html>" + strings.Repeat(" ", 180) + r.Header.Get("Authorization")))
	},
	"in pieces": func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "text/html; k="+key[:6]+"\xff"+key[6:]+strings.Repeat("x", 3*maxSeen))
	},
	"deep": func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"data":[` + strings.Repeat(`1,`, 500) + `"` + r.Header.Get("Authorization") + `" !`))
	},
	"key as a value": func(w http.ResponseWriter, r *http.Request) {
		say(w, 200, `{"data":[],"has_more":"`+r.Header.Get("Authorization")+`"}`)
	},
	"bad header": func(w http.ResponseWriter, r *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = buf.WriteString("HTTP/1.1 " + r.Header.Get("Authorization") + "\r\n\r\n")
		_ = buf.Flush()
		_ = conn.Close()
	},
}

func TestTheKeyIsNeverTold(t *testing.T) {
	for name, handler := range failing {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.RequestURI, testKey) {
						t.Errorf("the key in the address: %s", r.RequestURI)
					}
					handler(w, r)
				}, func(o *Options) { o.RetryMax = 1 })
				_, listErr := products.Page(t.Context(), s.Client, ListQuery{})
				_, oneErr := s.Me(t.Context())
				if listErr == nil {
					t.Error("no error")
				}
				told := fmt.Sprintf("%+v %#v %+v %#v %s %+v", listErr, listErr, oneErr, oneErr, s.log, s.exchanges)
				for err := range chain(listErr) {
					told += fmt.Sprintf(" %v %+v %#v", err, err, err)
				}
				if i := strings.Index(told, testKey[:12]); i >= 0 {
					t.Errorf("the key was told: …%s", told[max(0, i-80):min(len(told), i+60)])
				}
				if s.log.Len() == 0 {
					t.Error("nothing was logged")
				}
			})
		})
	}
}

// Wherever an error shows a piece of a body, no part of a key is in it, also where the piece begins or
// ends within one.
func TestAPieceOfABodyHoldsNoPartOfTheKey(t *testing.T) {
	body := []byte(strings.Repeat(strings.Repeat("-", 3*maxSeen/2)+testKey+testKey, 4))
	for offset := range len(body) + 2 {
		seen := excerpt(body, offset, testKey)
		if len(seen) > maxSeen || strings.Trim(seen, "-*") != "" {
			t.Fatalf("at %d: %q", offset, seen)
		}
	}
	if seen := excerpt([]byte("a\x00\xff"+testKey), 0, ""); seen != "a\x00?"+testKey {
		t.Errorf("without a key to hide: %q", seen)
	}
}

func chain(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		for ; err != nil; err = errors.Unwrap(err) {
			if !yield(err) {
				return
			}
		}
	}
}

func TestKeysThatCannotBeSent(t *testing.T) {
	for _, key := range []string{"", testKey + "\n", "svc live", "svc\x00", "cheie_ă"} {
		s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") }, func(o *Options) { o.Key = func() string { return key } })
		gate := &tally{}
		_, err := s.Through(gate).Me(t.Context())
		says := "the key has characters that no header can carry"
		if key == "" {
			says = "the key is empty"
		}
		if err == nil || !strings.Contains(err.Error(), says) || key != "" && strings.Contains(err.Error(), key) || gate.left != 1 || len(s.exchanges) != 1 {
			t.Errorf("%q: error %v, gate left %d times", key, err, gate.left)
		}
	}
}

func TestARotatedKeyIsUsedByTheNextAttempt(t *testing.T) {
	keys := []string{"old", "new"}
	var sent []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		keys = keys[1:]
		if len(sent) == 1 {
			say(w, 500, "")
			return
		}
		say(w, 200, `{"business":{"id":"b1"},"scopes":[],"location_ids":[]}`)
	}, func(o *Options) { o.Key = func() string { return keys[0] } })
	keys = append(keys, "newer")
	if _, err := s.Me(t.Context()); err != nil || strings.Join(sent, " ") != "old new" {
		t.Errorf("sent %v, error %v", sent, err)
	}
}

func TestRedirectsKeepTheKeyAtHome(t *testing.T) {
	others, asked := 0, 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others++ }))
	defer other.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.URL.Path == "/v1/allergens" {
			http.Redirect(w, r, "/v2/allergens", http.StatusPermanentRedirect)
		} else {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
		}
	}))
	defer home.Close()
	c, err := New(Options{BaseURL: home.URL + "/v1", Key: func() string { return testKey }})
	if err != nil {
		t.Fatal(err)
	}
	for path, to := range map[string]string{
		"/allergens": `"/v2/allergens" was not followed; is the path of base_url right?`,
		"/locations": `"` + other.URL + `" was not followed; if that is the service, put it into the base URL`,
	} {
		asked = 0
		if _, err := c.Snapshot(t.Context(), path); err == nil || !strings.Contains(err.Error(), "a redirect to "+to) || asked != 1 || others != 0 {
			t.Errorf("%s: error %v, %d requests at home, %d elsewhere", path, err, asked, others)
		}
	}
}

func TestAnUntrustedServerIsNotAskedTwice(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked") }))
	server.Config.ErrorLog = nil
	defer server.Close()
	attempts := 0
	c, err := New(Options{BaseURL: server.URL, Key: func() string { return testKey }, Observe: func(string, int) { attempts++ }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Me(t.Context()); err == nil || attempts != 1 {
		t.Errorf("error %v after %d attempts", err, attempts)
	}
}
