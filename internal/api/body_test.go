package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBodies(t *testing.T) {
	whole := string(orderPage(50))
	zipped := zip(t, whole)
	broken := bytes.Clone(zipped)
	broken[len(broken)-6] ^= 1 // its checksum
	cases := []struct {
		name, encoding string
		body           []byte
		max            int64
		rows           int
		kind           BodyKind // of the error, "transport" for none of a body
	}{
		{"plain", "", []byte(whole), 0, 50, ""},
		{"just fits", "", []byte(whole), int64(len(whole)), 50, ""},
		{"too large", "", []byte(whole), int64(len(whole)) - 1, 0, BodyTooLarge},
		{"gzip", "gzip", zipped, 0, 50, ""},
		{"gzip just fits", "GZIP", zipped, int64(len(whole)), 50, ""},
		{"gzip too large inside", "gzip", zipped, int64(len(whole)) - 1, 0, BodyTooLarge},
		{"bomb", "gzip", zip(t, strings.Repeat(" ", 64<<20)), 1 << 20, 0, BodyTooLarge},
		{"gzip cut", "gzip", zipped[:len(zipped)-20], 0, 0, "transport"},
		{"gzip damaged", "gzip", broken, 0, 0, "transport"},
		{"not gzip", "gzip", []byte(whole), 0, 0, "transport"},
		{"empty gzip", "gzip", nil, 0, 0, BodyEmpty},
		{"brotli", "br", []byte(whole), 0, 0, BodyEncoding},
		{"empty", "", nil, 0, 0, BodyEmpty},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "gzip" {
					t.Errorf("Accept-Encoding %q", r.Header.Get("Accept-Encoding"))
				}
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				say(w, 200, string(c.body))
			}, func(o *Options) { o.RetryMax = -1 })
			orders := List{route{path: "/sales/orders", most: c.max}}
			page, err := orders.Page(t.Context(), s.Client, ListQuery{})
			kind := BodyKind("")
			if body, ok := errors.AsType[*BodyError](err); ok {
				kind = body.Kind
			} else if _, ok := errors.AsType[*TransportError](err); ok {
				kind = "transport"
			}
			if len(page.Rows) != c.rows || kind != c.kind {
				t.Errorf("%d rows, %q (%v); want %d, %q", len(page.Rows), kind, err, c.rows, c.kind)
			}
		})
	}
}

func TestHTMLIsNamedWhateverItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for contentType, body := range map[string]string{
			"text/html; charset=utf-8": emptyPage,
			"application/json":         "  <!DOCTYPE html><title>Mentenanță</title>",
		} {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				_, _ = w.Write([]byte(body))
			}, nil)
			_, err := products.Page(t.Context(), s.Client, ListQuery{})
			e, ok := errors.AsType[*BodyError](err)
			if !ok || e.Kind != BodyHTML || e.ContentType != contentType || !strings.Contains(body, strings.TrimSpace(e.Seen)) {
				t.Errorf("%s: %v", contentType, err)
			}
		}
	})
}

// An answer that makes no sense is tried again, like one that was cut short.
func TestAnAnswerThatMakesNoSenseIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const me = `{"business":{"id":"b1"},"scopes":[],"location_ids":[]}`
		ask := map[string]func(*Client) error{
			"list":     func(c *Client) error { _, err := products.Page(t.Context(), c, ListQuery{}); return err },
			"snapshot": func(c *Client) error { _, err := c.Snapshot(t.Context(), "/allergens"); return err },
			"me":       func(c *Client) error { _, err := c.Me(t.Context()); return err },
			"menu":     func(c *Client) error { _, err := c.Menu(t.Context(), "l1", ""); return err },
			"product":  func(c *Client) error { _, err := RowAt(t.Context(), c, "/products", "p1"); return err },
		}
		whole := map[string]string{"list": emptyPage, "snapshot": `{"data":[]}`, "me": me, "menu": aMenu, "product": `{"id":"p1"}`}
		for name, ask := range ask {
			for _, odd := range []string{`{}`, `null`, ``, `<html></html>`, `{"data":`, `{"business":{"id":"b1"},"scopes":["menu:read"]}`} {
				var asked atomic.Int32
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					body := whole[name]
					if asked.Add(1) == 1 {
						body = odd
					}
					_, _ = w.Write([]byte(body))
				}, nil)
				if err := ask(s.Client); err != nil || asked.Load() != 2 {
					t.Errorf("%s, after %q: %v, asked %d times", name, odd, err, asked.Load())
				}
			}
			s := serve(t, answers(200, `{}`), nil)
			if err := ask(s.Client); !IsTemporary(err) {
				t.Errorf("%s, {} again and again: %v", name, err)
			}
		}
	})
}

func TestErrorsShowAPieceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := `{"data":[` + strings.Repeat(`{"id":"ăâîșț"},`, 5000) + `!]}`
		s := serve(t, answers(200, body), nil)
		_, err := products.Page(t.Context(), s.Client, ListQuery{})
		e, ok := errors.AsType[*BodyError](err)
		if !ok || len(e.Seen) > maxSeen+3 || !strings.Contains(e.Seen, "!]}") || e.Offset != len(body)-3 || len(err.Error()) > 600 {
			t.Errorf("error %v", err)
		}
	})
}
