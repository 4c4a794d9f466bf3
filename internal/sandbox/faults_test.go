package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/apicheck"
)

func (h *harness) fault(f faults.Fault) {
	h.t.Helper()
	if err := h.AddFault(f); err != nil {
		h.t.Fatal(err)
	}
}

func TestFaultsOfAnswers(t *testing.T) {
	h := newHarness(t, Options{})
	h.fault(faults.Fault{Kind: faults.Unavailable, Count: 1, RetryAfter: 7})
	a := h.get("/me")
	h.refused(a, 503, "service_unavailable")
	if a.header.Get("Retry-After") != "7" || a.header.Get("X-RateLimit-Limit") != "" {
		t.Errorf("503: %v", a.header)
	}
	h.fault(faults.Fault{Kind: faults.Unavailable, Count: 1})
	if a := h.get("/me"); a.header.Get("Retry-After") != "" {
		t.Errorf("503: %v", a.header)
	}
	h.fault(faults.Fault{Kind: faults.ServerError, Count: 1, Route: "/products"})
	if a := h.get("/me"); a.status != 200 {
		t.Errorf("another route: %d", a.status)
	}
	if a := h.get("/products"); a.status != 500 || a.header.Get("X-RateLimit-Limit") == "" {
		t.Errorf("500: %d %v", a.status, a.header)
	}
	h.fault(faults.Fault{Kind: faults.RateLimited, Count: 1, RetryAfter: 9})
	a = h.get("/me")
	h.refused(a, 429, "rate_limited")
	if a.header.Get("Retry-After") != "9" {
		t.Errorf("429: %v", a.header)
	}
	h.fault(faults.Fault{Kind: faults.HTML, Count: 1, Status: 502})
	if a := h.get("/me"); a.status != 502 || !bytes.HasPrefix(a.body, []byte("<!doctype")) {
		t.Errorf("HTML: %d %s", a.status, a.body)
	}
	for _, kind := range []string{faults.Garbage, faults.CutJSON} {
		h.fault(faults.Fault{Kind: kind, Count: 1, Skip: 1})
		if a := h.get("/products"); !json.Valid(a.body) {
			t.Errorf("%s: skipped one is spoilt", kind)
		}
		if a := h.get("/products"); a.status != 200 || json.Valid(a.body) {
			t.Errorf("%s: %d %s", kind, a.status, a.body)
		}
	}
	if n := h.FaultsInjected()[faults.ServerError]; n != 1 || len(h.Faults()) != 0 {
		t.Errorf("injected %v, left %v", h.FaultsInjected(), h.Faults())
	}
}

func TestFaultsOfCursors(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true})
	first := ok[page](h, "/products?limit=5")
	next := "/products?limit=5&cursor=" + *first.NextCursor
	h.fault(faults.Fault{Kind: faults.CursorRepeats, Count: 1})
	if p := ok[page](h, next); !p.HasMore || *p.NextCursor != *first.NextCursor {
		t.Error("the cursor does not repeat")
	}
	h.fault(faults.Fault{Kind: faults.CursorMissing, Count: 1})
	if p := ok[page](h, next); !p.HasMore || p.NextCursor != nil {
		t.Error("the cursor is not missing")
	}
	h.fault(faults.Fault{Kind: faults.CursorRefused, Count: 1})
	h.refused(h.get(next), 422, "validation_failed")
	ok[page](h, next)
	h.InvalidateCursors()
	h.refused(h.get(next), 422, "validation_failed")
	ok[page](h, "/products?limit=5&cursor="+*ok[page](h, "/products?limit=5").NextCursor)
}

func TestFaultsOfRows(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true})
	for kind, want := range map[string]string{
		faults.PriceText: `"total":"abc"`, faults.PriceDecimals: `"total":"12.345"`, faults.NumberAsString: `"number":12345`, faults.YearOne: `"created_at":"0001-01-01T00:00:00Z"`,
		faults.Future: `"updated_at":"2036-03-20T10:00:00Z"`, faults.Null: `"location_id":null`, faults.DuplicateKeys: `{"updated_at":null,`,
		faults.UnknownFields: `"x_new_text":"nou"`, faults.UnknownValues: `"channel":"brand_new"`,
		faults.HalfSurrogate: `"number":"Pizza \ud83c"`,
	} {
		h.fault(faults.Fault{Kind: kind, Count: 1, Route: "/sales/orders"})
		p := ok[page](h, "/sales/orders?limit=3")
		if !bytes.Contains(p.Data[0], []byte(want)) || bytes.Contains(p.Data[1], []byte(want)) {
			t.Errorf("%s: %s", kind, p.Data[0])
		}
	}
	h.fault(faults.Fault{Kind: faults.NoID, Count: 1})
	if p := ok[page](h, "/products"); idOf(t, p.Data[0]) != "" || idOf(t, p.Data[1]) == "" {
		t.Error("the row has its id")
	}
	id := h.Restaurant(0).IDs(StreamProducts)[5]
	h.fault(faults.Fault{Kind: faults.PriceText, Count: 1, RowID: id})
	spoilt := 0
	for _, row := range h.walk("/products?limit=200") {
		if bytes.Contains(row, []byte(`"price":"abc"`)) {
			spoilt++
			if idOf(t, row) != id {
				t.Errorf("another row: %s", row)
			}
		}
	}
	if spoilt != 1 {
		t.Errorf("%d rows spoilt", spoilt)
	}
	h.fault(faults.Fault{Kind: faults.UnknownFields, Probability: 1, Route: "/products"})
	p := ok[page](h, "/products")
	if n := bytes.Count(p.Data[0], []byte("x_new_text")); n < 4 {
		t.Errorf("%d levels: %s", n, p.Data[0])
	}
	h.ClearFaults()
	if err := h.Restaurant(0).SetRaw(StreamProducts, id, []byte(`{"id":"`+id+`","oops":[}`)); err != nil {
		t.Fatal(err)
	}
	if a := h.get("/products/" + id); !bytes.Contains(a.body, []byte("oops")) {
		t.Errorf("raw: %s", a.body)
	}
}

// A probability holds over many requests, and the same seed gives the same ones.
func TestFaultProbability(t *testing.T) {
	var runs [2]string
	for i := range runs {
		h := newHarness(t, Options{NoLimits: true, Orders: -1, Faults: []faults.Fault{{Kind: faults.ServerError, Probability: 0.3}}})
		for range 500 {
			runs[i] += string(rune('0' + h.get("/me").status/100))
		}
	}
	if n := strings.Count(runs[0], "5"); n < 110 || n > 190 || runs[0] != runs[1] {
		t.Errorf("%d of 500 failed", n)
	}
}

// The transport works in a bubble: latency and hangs are simulated time, cut
// connections look like cut connections.
func TestTransportInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := must(New(Options{Inspect: apicheck.Inspect(t), Live: true}))(t)
		client := &http.Client{Transport: s.Transport()}
		get := func() (*http.Response, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			t.Cleanup(cancel)
			r := must(http.NewRequestWithContext(ctx, http.MethodGet, "http://sandbox/v1/products", nil))(t)
			r.Header.Set("Authorization", "Bearer "+s.Key(0, RoleMain).Value)
			return client.Do(r)
		}
		add := func(f faults.Fault) {
			if err := s.AddFault(f); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		add(faults.Fault{Kind: faults.Latency, Count: 1, Delay: 3 * time.Second})
		if res, err := get(); err != nil || res.StatusCode != http.StatusOK || time.Since(start) != 3*time.Second {
			t.Errorf("latency: %v after %s", err, time.Since(start))
		}
		add(faults.Fault{Kind: faults.Hang, Count: 1})
		if _, err := get(); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 33*time.Second {
			t.Errorf("hang: %v after %s", err, time.Since(start))
		}
		add(faults.Fault{Kind: faults.Reset, Count: 1})
		if _, err := get(); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reset: %v", err)
		}
		add(faults.Fault{Kind: faults.Truncate, Count: 1})
		res, err := get()
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 {
			t.Errorf("truncate: %d bytes, %v", len(body), err)
		}
	})
}

// Over a real connection the same faults end the connection, and a stop is not
// held up by a hanging request.
func TestServe(t *testing.T) {
	s := must(New(Options{Inspect: apicheck.Inspect(t), Live: true}))(t)
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, s) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func() (*http.Response, error) {
		r := must(http.NewRequest(http.MethodGet, "http://"+ln.Addr().String()+"/v1/products", nil))(t)
		r.Header.Set("Authorization", "Bearer "+s.Key(0, RoleMain).Value)
		return client.Do(r)
	}
	res, err := get()
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", res, err)
	}
	strict[page](t, must(io.ReadAll(res.Body))(t))
	for _, kind := range []string{faults.Reset, faults.Truncate} {
		if err := s.AddFault(faults.Fault{Kind: kind, Count: 1}); err != nil {
			t.Fatal(err)
		}
		res, err := get()
		if err == nil {
			_, err = io.ReadAll(res.Body)
		}
		if err == nil {
			t.Errorf("%s: no error", kind)
		}
	}
	if err := s.AddFault(faults.Fault{Kind: faults.Hang, Count: 1}); err != nil {
		t.Fatal(err)
	}
	hung := make(chan error, 1)
	go func() { _, err := get(); hung <- err }()
	for s.FaultsInjected()[faults.Hang] == 0 {
		if _, err := http.Get("http://" + ln.Addr().String() + "/admin/stats"); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-hung; err == nil {
		t.Error("the hanging request was answered")
	}
}

// What was served other than it is can be asked for afterwards, and what struck a
// request stands in its record.
func TestSpoiltRowsAndFaultsAreRecorded(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 20, Record: true})
	id := h.Restaurant(0).IDs(StreamProducts)[2]
	if err := h.AddFault(faults.Fault{Kind: faults.PriceText, RowID: id, Count: 1}); err != nil {
		t.Fatal(err)
	}
	h.walk("/products?limit=200")
	h.walk("/products?limit=200")
	if got := h.Spoilt(); len(got) != 1 || got[0] != (faults.SpoiltRow{Business: 0, Route: "/products", ID: id}) {
		t.Errorf("spoilt %+v", got)
	}
	log := h.Requests()
	if len(log[0].Faults) != 1 || log[0].Faults[0] != faults.PriceText || len(log[len(log)-1].Faults) != 0 || log[0].From == "" {
		t.Errorf("recorded %+v", log)
	}
}

// Stamps are those of the rows that a walk shows.
func TestStampsAreThoseOfTheWalk(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 200})
	r := h.Restaurant(0)
	if err := r.Delete(StreamSalesOrders, r.IDs(StreamSalesOrders)[3]); err != nil {
		t.Fatal(err)
	}
	for stream, list := range lists {
		stamps, err := h.Stamps(h.key, stream)
		if err != nil {
			t.Fatal(err)
		}
		rows := h.walk(list + "?limit=200&include_deleted=true&updated_since=1900-01-01T00:00:00Z")
		for _, raw := range rows {
			var row struct {
				ID         string
				Deleted    bool
				LocationID *string   `json:"location_id"`
				UpdatedAt  time.Time `json:"updated_at"`
			}
			if err := json.Unmarshal(raw, &row); err != nil {
				t.Fatal(err)
			}
			s := stamps[row.ID]
			if !s.At.Equal(row.UpdatedAt) || s.Removed != row.Deleted || row.LocationID != nil && s.Location != *row.LocationID {
				t.Errorf("%s %s: %+v, served %s", stream, row.ID, s, raw)
			}
		}
		if len(stamps) != len(rows) || len(rows) == 0 {
			t.Errorf("%s: %d stamps, %d rows", stream, len(stamps), len(rows))
		}
	}
}
