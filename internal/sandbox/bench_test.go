package sandbox

import (
	"bytes"
	"io"
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
				r := httptest.NewRequest(http.MethodGet, next, nil)
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

// BenchmarkWalkOverTCP follows the cursors of a whole backfill over loopback;
// server and client share one core.
func BenchmarkWalkOverTCP(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	h := newHarness(b, Options{NoLimits: true, Orders: 50_000, Days: 365})
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	rows := 0
	b.ResetTimer()
	for range b.N {
		uri := server.URL + "/v1/sales/orders?limit=200&updated_since=2020-01-01T00:00:00Z"
		for next := uri; next != ""; {
			r, err := http.NewRequest(http.MethodGet, next, http.NoBody)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+h.key)
			r.Header.Set("Accept-Encoding", "identity")
			res, err := server.Client().Do(r)
			if err != nil {
				b.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || res.Body.Close() != nil {
				b.Fatal(err)
			}
			rows += bytes.Count(body, []byte(`"deleted":`))
			next = ""
			if _, tail, ok := bytes.Cut(body, []byte(`],"next_cursor":"`)); ok {
				cursor, _, _ := bytes.Cut(tail, []byte(`"`))
				next = uri + "&cursor=" + string(cursor)
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	if rows < b.N*48_000 {
		b.Fatalf("%d rows in %d walks", rows, b.N)
	}
}

// BenchmarkTotals is the service's own totals of 92 days of a restaurant of a
// million orders; the products of a day are computed once.
func BenchmarkTotals(b *testing.B) {
	h := newHarness(b, Options{NoLimits: true, Orders: 1_000_000, Days: 3 * 365})
	for _, uri := range []string{"/sales/daily", "/sales/products"} {
		b.Run(uri[1:], func(b *testing.B) {
			for range b.N {
				if a := h.get(uri + "?from=2025-12-20&to=2026-03-20"); a.status != 200 {
					b.Fatalf("%d", a.status)
				}
			}
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
