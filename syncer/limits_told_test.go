package syncer

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/status"
)

// A service that answers 429 for long, the first time already, is no silence: the status has
// the time of the next try, and the log one warning.
func TestALongPauseIsShown(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var log logged
		w.into(&log)
		refuse := func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Retry-After", "2400")
			fakeError(rw, 429, "rate_limited")
			return true
		}
		f.on("/me", refuse)
		w.run(w.one())
		time.Sleep(5 * time.Minute)
		src := w.source()
		next := src.Budget.PausedUntil
		at := next.UTC().Format("15:04:05 UTC")
		if left := time.Until(next); left < 34*time.Minute || left > 36*time.Minute {
			t.Errorf("paused for %s: %s", left, w.describe())
		}
		if c := src.Health(); c.Kind != status.HealthStarting || !strings.Contains(c.Text, "429") || !strings.Contains(c.Text, at) {
			t.Errorf("%+v does not have %s", c, at)
		}
		if notes := src.Budget.Notes(); len(notes) != 1 || !strings.Contains(notes[0], at) {
			t.Errorf("notes %q do not have %s", notes, at)
		}
		time.Sleep(2 * time.Hour)
		if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "asks for a long pause") {
			t.Errorf("%d warnings in two hours:\n%s", n, &log)
		}
		f.on("/me", nil)
		w.until("served", time.Hour, w.filled)
		f.on(cats, refuse)
		w.until("behind", 5*time.Minute, func() bool { return w.stream("categories").Behind })
		src = w.source()
		st := w.stream("categories")
		if note := strings.Join(src.StreamNotes(time.Now(), &st), "; "); !strings.Contains(note, "429") || !strings.Contains(note, src.Budget.PausedUntil.UTC().Format("15:04:05")) {
			t.Errorf("note %q", note)
		}
		if n := strings.Count(log.String(), "asks for a long pause"); n != 2 {
			t.Errorf("%d warnings of two pauses:\n%s", n, &log)
		}
	})
}

// So is a first answer of /me that is any other refusal.
func TestAFirstRefusalIsShown(t *testing.T) {
	for statusCode, wait := range map[int]time.Duration{503: 30 * time.Minute, 401: 5 * time.Minute, 403: 30 * time.Second} {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			var log logged
			w.into(&log)
			f.on("/me", func(rw http.ResponseWriter, _ *http.Request) bool {
				if statusCode == 503 {
					rw.Header().Set("Retry-After", "1800")
				}
				fakeError(rw, statusCode, map[int]string{503: "service_unavailable", 401: "unauthorized", 403: "api_key_disabled"}[statusCode])
				return true
			})
			w.run(w.one())
			time.Sleep(10 * time.Second)
			next := w.source().NextProbe
			if left := time.Until(next); left < wait/2 || left > wait*5/4 {
				t.Errorf("%d: the next try is in %s", statusCode, left)
			}
			time.Sleep(2 * time.Hour)
			if lines := loud(log.take()); len(lines) != 1 || !strings.Contains(lines[0], next.UTC().Format("next_try=2006-01-02T15:04:05")) {
				t.Errorf("%d: no one warning with %s:\n%s", statusCode, next, strings.Join(lines, "\n"))
			}
		})
	}
}

// X-RateLimit-Remaining that our own requests do not explain slows everything down: status and
// log say why.
func TestASharedKeyIsShown(t *testing.T) {
	for remaining, want := range map[string]struct {
		shared   string
		warnings int
	}{"0": {status.SharedKey, 1}, "100": {}} {
		f := newFake()
		handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("X-RateLimit-Remaining", remaining)
			f.ServeHTTP(rw, r)
		})
		inScript(t, handler, func(t *testing.T, w *world) {
			var log logged
			w.into(&log)
			w.run(w.one())
			time.Sleep(30 * time.Minute)
			b := w.source().Budget
			if notes := strings.Join(b.Notes(), "; "); b.Shared != want.shared || strings.Contains(notes, "someone else seems to use the key") != (want.warnings > 0) {
				t.Errorf("remaining %s: %q, %q", remaining, b.Shared, notes)
			}
			if n := strings.Count(log.String(), "someone else seems to use"); n != want.warnings {
				t.Errorf("remaining %s: %d warnings:\n%s", remaining, n, &log)
			}
		})
	}
}
