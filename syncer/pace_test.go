package syncer

import (
	"net/http"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/status"
)

// A service that answers more slowly than the limits allow decides how long a walk
// takes, and a pause in it says nothing about the rest.
func TestTheForecastKnowsHowFastTheServiceIs(t *testing.T) {
	const pages, perPage = 40, 5 * time.Second
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, manyCategories(pages*api.PageLimit)...)
		w.open(w.one())
		w.once(Selection{Streams: []string{"categories"}})
		asked := 0
		f.on(cats, func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("updated_since") != "" {
				return false
			}
			takes := perPage
			if asked++; asked == pages/4 {
				takes = 50 * time.Second
			}
			f.mu.Unlock()
			time.Sleep(takes)
			f.mu.Lock()
			return false
		})
		done := make(chan error, 1)
		go func() {
			_, err := w.full(Selection{Streams: []string{"categories"}})
			done <- err
		}()
		var at time.Time
		var p *status.Progress
		w.until("the middle", 10*time.Minute, func() bool {
			p, at = w.stream("categories").Progress, time.Now()
			return p != nil && p.Pages >= pages/2
		})
		must(t, <-done)
		if ratio := float64(time.Since(at)) / float64(p.ExpectedLeft); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("expected %s for %d requests, took %s", p.ExpectedLeft, p.RequestsLeft, time.Since(at))
		}
	})
}
