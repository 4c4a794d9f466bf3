package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer"
)

// What /me says decides about limits and what is asked for: nonsense there is lived
// with, or named, and troubles no other source.
func TestHostileKeys(t *testing.T) {
	notInShort(t)
	t.Parallel()
	limits := func(n any) map[string]any {
		return map[string]any{"rate_limits": map[string]any{"per_minute": n, "business_per_minute": n, "heavy_per_minute": n, "orders_per_minute": n}}
	}
	many := make([]string, 20_000)
	for i := range many {
		many[i] = fmt.Sprintf("future%d:read", i)
	}
	full := append([]string{"locations:read", "menu:read", "sales:read", "stock:read", "orders:write"}, many...)
	cases := []struct {
		name   string
		change map[string]any
		says   string // empty: it is lived with
	}{
		{"limits of 0", limits(0), ""},
		{"negative limits", limits(-5), ""},
		{"limits without end", limits(int64(1) << 62), ""},
		{"limits of 1e99", limits(json.Number("1e99")), "rate_limits"},
		{"limits that are text", limits("many"), "rate_limits"},
		{"20,000 scopes", map[string]any{"scopes": full}, ""},
		{"scopes that are an object", map[string]any{"scopes": map[string]any{}}, "scopes"},
		{"no business", map[string]any{"business": nil}, "business.id"},
		{"a business id of a megabyte", map[string]any{"business": map[string]any{"id": strings.Repeat("b", 1<<20), "name": "x"}}, "business.id"},
		{"a name of a megabyte", map[string]any{"app": map[string]any{"id": "a", "name": strings.Repeat("n", 1<<20), "mode": "live"}}, ""},
	}
	w := newWorld(t, sandbox.Options{Seed: 24, Businesses: len(cases), Orders: 20, Days: 3, ProductsPer: 10, NoLimits: true})
	w.migrated(t)
	services := make([]*hostile, len(cases))
	for i, c := range cases {
		services[i] = newHostile(t, w.Sandbox, nil)
		services[i].attackWith(on("/me", services[i].keyWith(t, c.change)))
		w.app.Config.Sources[i].BaseURL = services[i].URL + "/v1"
	}
	w.app.api.RetryMax = -1
	d, stop := w.daemon(t, w.app)
	defer stop()
	<-d.ready
	report, err := d.RunOnce(t.Context(), syncer.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		says := ""
		if err := (syncer.Report{Sources: report.Sources[i : i+1]}).Err(); err != nil {
			says = err.Error()
		}
		if len(says) > 1200 || strings.ContainsAny(says, "\x1b\u202e") || c.says == "" && says != "" || !strings.Contains(says, c.says) {
			t.Errorf("%s: %d bytes: %.1500q, want %q", c.name, len(says), says, c.says)
		}
		services[i].behave()
	}
	report, err = d.RunOnce(t.Context(), syncer.Selection{}, nil)
	if err := errors.Join(err, report.Err()); err != nil {
		t.Errorf("when the services behave again: %v", err)
	}
	w.equalsTruth(t)
}

// keyWith answers /me with fields changed.
func (h *hostile) keyWith(t *testing.T, change map[string]any) http.HandlerFunc {
	return h.tampering(func(body string) string {
		var me map[string]any
		if err := json.Unmarshal([]byte(body), &me); err != nil {
			t.Error(err)
		}
		maps.Copy(me, change)
		changed, err := json.Marshal(me)
		if err != nil {
			t.Error(err)
		}
		return string(changed)
	})
}

// Headers that are nonsense hide no row.
func (s *siege) headers(t *testing.T) {
	for _, headers := range [][]string{
		{"Date", "Fri, 31 Dec 9999 23:59:59 GMT"},
		{"Date", "Mon, 01 Jan 0001 00:00:00 GMT"},
		{"Date", time.Now().Add(20 * time.Hour).UTC().Format(http.TimeFormat)},
		{"Date", "tomorrow"},
		{"X-RateLimit-Limit", "-1", "X-RateLimit-Remaining", "-1"},
		{"X-RateLimit-Limit", "9223372036854775807", "X-RateLimit-Remaining", "-9223372036854775808"},
		{"X-RateLimit-Limit", "1e99", "X-RateLimit-Remaining", "NaN"},
		{"Retry-After", "1000000"}, // of a 200
	} {
		t.Run(strings.Join(headers, " "), func(t *testing.T) {
			s.attackWith(func(w http.ResponseWriter, r *http.Request) bool {
				s.tampering(func(body string) string { return body }, headers...)(w, r)
				return true
			})
			products := s.Restaurant(0).IDs(sandbox.StreamProducts)
			for range 2 { // the second walk begins where the first one ended
				if err := s.Restaurant(0).Touch(sandbox.StreamProducts, products[3:9]...); err != nil {
					t.Fatal(err)
				}
				for _, stream := range []string{"products", "menus"} {
					if says := s.failure(t, stream); says != "" {
						t.Errorf("%s: %s", stream, says)
					}
				}
				s.equalsTruth(t)
			}
			s.behave()
			if err := s.Restaurant(0).Touch(sandbox.StreamProducts, products[6:12]...); err != nil {
				t.Fatal(err)
			}
			s.whole(t)
		})
	}
}

// A source that was born while its service's clock was wrong is not blind until then.
func TestASourceBornByAWrongClock(t *testing.T) {
	notInShort(t)
	t.Parallel()
	dates := []string{
		"Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 31 Dec 2150 23:59:59 GMT",
		time.Now().Add(20 * time.Hour).UTC().Format(http.TimeFormat), "Thu, 01 Jan 1970 00:00:00 GMT",
	}
	w := newWorld(t, sandbox.Options{Seed: 23, Businesses: len(dates), Orders: 200, Days: 5, NoLimits: true})
	w.migrated(t)
	services := make([]*hostile, len(dates))
	for i, date := range dates {
		services[i] = newHostile(t, w.Sandbox, nil)
		services[i].attackWith(func(w http.ResponseWriter, r *http.Request) bool {
			services[i].tampering(func(body string) string { return body }, "Date", date)(w, r)
			return true
		})
		w.app.Config.Sources[i].BaseURL = services[i].URL + "/v1"
	}
	w.sync(t)
	for i := range dates {
		services[i].behave()
		orders := w.Restaurant(i).IDs(sandbox.StreamSalesOrders)
		if err := w.Restaurant(i).Touch(sandbox.StreamSalesOrders, orders[:50]...); err != nil {
			t.Fatal(err)
		}
	}
	w.sync(t)
	w.equalsTruth(t)
}

// A 429 that asks for a million seconds is believed for an hour, by the source that
// it was said to.
func (s *siege) longRetryAfter(t *testing.T) {
	for _, after := range []string{"1000000", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		s.attackWith(on("/products", answering(429, `{"error":{"code":"rate_limited","message":"no"}}`, "Retry-After", after)))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := s.daemon.RunOnce(ctx, syncer.Selection{Sources: []string{"r0"}, Streams: []string{"products"}}, nil)
		cancel()
		paused := time.Until(s.daemon.Status().Sources[0].Budget.PausedUntil)
		if err == nil || paused < 50*time.Minute || paused > 70*time.Minute {
			t.Errorf("Retry-After %s: paused for %s, %v", after, paused, err)
		}
	}
	if err := (syncer.Report{Sources: []syncer.SourceReport{s.pass(t, "r1")}}).Err(); err != nil {
		t.Errorf("the other source: %v", err)
	}
}
