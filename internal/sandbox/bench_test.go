package sandbox

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
)

// BenchmarkOrderPages is rows served per second on one core, JSON included.
func BenchmarkOrderPages(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, encoding := range []string{"identity", "gzip"} {
		b.Run(encoding, func(b *testing.B) {
			h := newHarness(b, Options{NoLimits: true, Orders: 100_000, Days: 365})
			uri := "/v1/sales/orders?limit=200&updated_since=2020-01-01T00:00:00Z"
			next := uri
			rows := 0
			b.ResetTimer()
			for range b.N {
				r := httptest.NewRequest("GET", next, nil)
				r.Header.Set("Authorization", "Bearer "+h.key)
				r.Header.Set("Accept-Encoding", encoding)
				w := &discard{h: http.Header{}}
				h.Handler().ServeHTTP(w, r)
				rows += 200
				b.SetBytes(int64(w.n))
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

type discard struct {
	h http.Header
	n int
}

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { d.n += len(p); return len(p), nil }

// BenchmarkWorld is the time and memory of a restaurant of a million orders.
func BenchmarkWorld(b *testing.B) {
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, err := New(Options{Orders: 1_000_000, Days: 3 * 365, Epoch: testEpoch, Now: func() time.Time { return testEpoch }})
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
		runtime.KeepAlive(s)
	}
}
