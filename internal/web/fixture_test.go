package web

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/syncer/status"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// picture is a status that tests change while a page is looking at it.
type picture struct {
	mu       sync.Mutex
	status   status.Status
	problems []string
}

func (p *picture) change(f func(*status.Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.status)
}

func (p *picture) now() status.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Sources = append([]status.SourceStatus(nil), s.Sources...)
	s.Problems, s.WarehouseUnavailable = append([]string(nil), p.problems...), len(p.problems) > 0
	return s
}

func (p *picture) options() Options {
	return Options{
		Listen:   "127.0.0.1:0",
		Status:   p.now,
		Gatherer: prometheus.NewRegistry(),
		About: func() About {
			return About{Version: "v0.1.0", Warehouse: "embedded:./larder-data", QueryURL: "http://127.0.0.1:8123"}
		},
		Logger: slog.New(slog.DiscardHandler),
	}
}

func serve(t *testing.T, o Options) string {
	t.Helper()
	s := httptest.NewServer(Handler(o))
	t.Cleanup(s.Close)
	return s.URL
}

func running(name string, rows uint64) status.StreamStatus {
	return status.StreamStatus{
		Name: name, State: status.StateRunning, Rows: new(rows), Written: rows / 2, Lag: status.Seconds(12 * time.Second),
		LastSuccess: noon.Add(-12 * time.Second), Watermark: noon.Add(-4 * time.Minute),
	}
}

func healthy(name, business string) status.SourceStatus {
	return status.SourceStatus{
		Name: name, BusinessID: "biz-" + name, BusinessName: business, KeyMode: "live",
		State: status.StateRunning, Since: noon.Add(-time.Hour), Requests: 5120,
		Proof:  &status.ProofStatus{ProvenUntil: "2026-03-13"},
		Budget: status.BudgetStatus{KeyUsed: 14, KeyLimit: 120, HeavyUsed: 2, HeavyLimit: 30, BusinessUsed: 14, BusinessLimit: 600},
		Streams: []status.StreamStatus{
			running("api_keys", 1), running("locations", 2), running("allergens", 14), running("categories", 22),
			running("products", 187), running("ingredients", 240), running("sales_orders", 48211),
			running("sales_daily", 92), running("sales_products", 8120),
		},
	}
}

func backfilling() status.SourceStatus {
	s := healthy("trattoria", "Trattoria Cișmigiu")
	s.Budget.KeyUsed, s.Budget.BusinessUsed = 118, 118
	s.Proof = nil
	o := &s.Streams[6]
	o.State, o.LastSuccess, o.Lag = status.StateBackfill, time.Time{}, -1
	o.Progress = &status.Progress{
		Walk: "backfill", StartedAt: noon.Add(-9 * time.Minute), Pages: 1074, Rows: 214_800,
		TotalRows: 500_800, RequestsLeft: 1430, ExpectedLeft: status.Seconds(12*time.Minute + 7*time.Second), Reached: noon.AddDate(-1, 0, 0),
	}
	return s
}

// deep is a restaurant in the middle of a deep run, one of whose streams has asked all.
func deep() status.SourceStatus {
	s := healthy("bodega", "Bodega Veche")
	s.Budget.HeavyUsed = 23
	s.Streams[7].Progress = &status.Progress{Walk: status.WalkDeep, StartedAt: noon.Add(-8 * time.Second), Pages: 4, RequestsLeft: 8, ExpectedLeft: status.Seconds(16 * time.Second)}
	s.Streams[8].Progress = &status.Progress{Walk: status.WalkDeep, StartedAt: noon.Add(-8 * time.Second), Pages: 1, RequestsLeft: 1, ExpectedLeft: status.Seconds(140 * time.Second), Suspects: 2}
	return s
}

func refused() status.SourceStatus {
	return status.SourceStatus{
		Name: "corner", State: status.StateUnauthorized, Since: noon.Add(-20 * time.Minute), NextProbe: noon.Add(3 * time.Minute),
		Detail:  "The service answers 401: the key is wrong or was deleted. Put a new one into /run/secrets/corner.",
		Streams: []status.StreamStatus{starting("api_keys"), starting("locations"), starting("products"), starting("sales_orders"), starting("sales_daily")},
	}
}

func starting(name string) status.StreamStatus {
	return status.StreamStatus{Name: name, State: status.StateStarting, Lag: -1, Progress: &status.Progress{}}
}

// drifting is a restaurant of which days differ and rows are in quarantine, and which
// is as fresh as can be.
func drifting() status.SourceStatus {
	s := healthy("dorobanti", "Cafe Dorobanți")
	s.Proof = &status.ProofStatus{ProvenUntil: "2025-12-13", DriftDays: 90}
	s.Streams[4].Quarantined = 12
	return s
}

func partly() status.SourceStatus {
	s := healthy("bistro", "Bistro Unu")
	s.Streams[5].State, s.Streams[5].Detail = status.StateOff, "The key lacks the scope stock:read."
	s.Streams[4].State, s.Streams[4].Detail = status.StateFailing, "GET /products: page is cut short after 4,096 bytes; tried again in 30 s"
	s.Streams[4].LastError, s.Streams[4].LastErrorAt = "GET /products: 503 service_unavailable", noon.Add(-50*time.Second)
	s.Streams[6].Quarantined = 3
	s.Streams[3].LastSuccess, s.Streams[3].Watermark = noon.Add(-115*time.Minute), noon.Add(-31*time.Hour-45*time.Minute)
	s.Streams[2].LastSuccess, s.Streams[2].Watermark = noon.Add(-100*24*time.Hour), noon.Add(-1000*24*time.Hour)
	return s
}

func small() *picture {
	return &picture{status: status.Status{
		Now: noon, StartedAt: noon.Add(-3 * time.Hour), CountedAt: noon.Add(-20 * time.Second),
		Sources: []status.SourceStatus{healthy("ancora", "Ancora Veche"), backfilling(), refused(), partly(), deep()},
	}}
}

func thousand() *picture {
	p := &picture{status: status.Status{Now: noon, StartedAt: noon.Add(-30 * time.Hour)}}
	for i := range 1000 {
		s := healthy(fmt.Sprintf("restaurant-%04d", i), fmt.Sprintf("Restaurantul Nr. %d", i))
		switch {
		case i%97 == 5:
			s = refused()
			s.Name = fmt.Sprintf("restaurant-%04d", i)
		case i%60 == 3:
			s = deep()
			s.Name = fmt.Sprintf("restaurant-%04d", i)
		case i%50 == 7:
			s = backfilling()
			s.Name = fmt.Sprintf("restaurant-%04d", i)
		}
		p.status.Sources = append(p.status.Sources, s)
	}
	return p
}
