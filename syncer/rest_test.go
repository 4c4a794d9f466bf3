package syncer

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// quiet is a service of many restaurants where nothing happens. It answers each key as the restaurant of that name.
type quiet struct{ asked atomic.Int64 }

func (q *quiet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.asked.Add(1)
	w.Header().Set("X-RateLimit-Limit", "600")
	answer := `{"data":[],"next_cursor":null,"has_more":false,"totals":{},"currency":"RON"}`
	if strings.HasSuffix(r.URL.Path, "/me") {
		answer = strings.Replace(fakeMe, "b1", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), 1)
	}
	_, _ = w.Write([]byte(answer)) // the client may have gone
}

// A fleet at rest makes nothing but requests that bring nothing, 14,000 a minute for a thousand sources. What they allocate, with
// the service of the test, its pipes and the totals, is bounded.
func TestAFleetAtRestAllocatesLittle(t *testing.T) {
	q := &quiet{}
	inScript(t, q, func(t *testing.T, w *world) {
		const sources, minutes = 20, 30
		w.schedule.ReconcileDeep = "off"
		var all []Source
		for i := range sources {
			all = append(all, sourceOf(fmt.Sprint("s", i), fmt.Sprint("svc_", i)))
		}
		w.run(all...)
		time.Sleep(30 * time.Minute)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		asked := q.asked.Load()
		time.Sleep(minutes * time.Minute)
		runtime.ReadMemStats(&after)
		requests := float64(q.asked.Load() - asked)
		if each := requests / sources / minutes; each < 8 || each > 10 {
			t.Errorf("%.1f requests a minute and source", each)
		}
		if each := float64(after.Mallocs-before.Mallocs) / requests; each > 160 {
			t.Errorf("%.1f allocations a request", each)
		}
	})
}
