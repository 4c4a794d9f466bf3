package sandbox

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// mirrored is what a client knows after upserting everything it was given.
type mirrored map[string]json.RawMessage

func (m mirrored) upsert(t testing.TB, rows []json.RawMessage) (newest string) {
	t.Helper()
	for _, row := range rows {
		var head struct {
			ID        string
			UpdatedAt *string `json:"updated_at"`
		}
		if err := json.Unmarshal(row, &head); err != nil {
			t.Fatal(err)
		}
		m[head.ID] = row
		if head.UpdatedAt != nil {
			newest = max(newest, *head.UpdatedAt)
		}
	}
	return newest
}

var lists = map[string]string{
	StreamCategories: "/categories", StreamProducts: "/products", StreamIngredients: "/ingredients", StreamSalesOrders: "/sales/orders",
}

// docs/openapi.yaml, Lists with a cursor: whatever changes between the pages of a
// walk, the walk and one more from the newest updated_at minus two minutes end
// in the right rows.
func TestWalksOverAMovingWorld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		precision := rapid.SampledFrom([]time.Duration{time.Microsecond, time.Millisecond, time.Second}).Draw(rt, "precision")
		h := newHarness(t, Options{
			NoLimits: true, Orders: rapid.IntRange(1, 120).Draw(rt, "orders"), Days: 3, ProductsPer: 12, Live: rapid.Bool().Draw(rt, "live"), Pace: 200,
			Readings: Readings{
				StampPrecision: precision, StrangeIDs: rapid.Bool().Draw(rt, "strange ids"), NeverPaidTombstones: rapid.Bool().Draw(rt, "never paid"),
				StampDelay: time.Duration(rapid.IntRange(0, 20).Draw(rt, "delay")) * time.Second, NullTombstones: rapid.Bool().Draw(rt, "null tombstones"),
			},
		})
		stream := rapid.SampledFrom([]string{StreamCategories, StreamProducts, StreamIngredients, StreamSalesOrders}).Draw(rt, "stream")
		g := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "mutations"), 0))
		m := mirrored{}
		newest := ""
		uri := lists[stream] + "?updated_since=0001-01-01T00:00:00Z&limit=" + rapid.SampledFrom([]string{"1", "3", "7", "50"}).Draw(rt, "limit")
		for next := uri; ; {
			p := ok[page](h, next)
			newest = max(newest, m.upsert(h.t, p.Data))
			if !p.HasMore {
				break
			}
			next = withCursor(uri, *p.NextCursor)
			for range g.IntN(3) {
				h.clock = h.clock.Add(time.Duration(g.IntN(40)) * time.Millisecond)
				r := h.Restaurant(0).Ago(time.Duration(g.IntN(20)) * time.Second)
				if _, err := r.Mutate(g, false); err != nil {
					rt.Fatal(err)
				}
			}
		}
		h.clock = h.clock.Add(20 * time.Second) // what is delayed shows
		since := time.Time{}
		if newest != "" {
			since = must(time.Parse(time.RFC3339, newest))(t).Add(-2 * time.Minute)
		}
		m.upsert(h.t, h.walk(lists[stream]+"?limit=200&updated_since="+url.QueryEscape(since.Format("2006-01-02T15:04:05.999999Z"))))
		h.compareTruth(rt, stream, m)
	})
}

// compareTruth checks a mirror against the truth in both directions.
func (h *harness) compareTruth(t rapid.TB, stream string, m mirrored) {
	seen := 0
	err := h.Truth(h.key, stream, func(want TruthRow) error {
		got, ok := m[want.ID]
		var stone struct {
			Deleted bool
			Reason  string
		}
		if ok {
			seen++
			if err := json.Unmarshal(got, &stone); err != nil {
				return err
			}
		}
		switch {
		case want.Reason == ReasonGone:
		case !ok:
			t.Fatalf("%s %q is missing, %q", stream, want.ID, want.Reason)
		case want.Row != nil && !bytes.Equal(got, want.Row):
			t.Fatalf("%s %q: have %s\nwant %s", stream, want.ID, got, want.Row)
		case want.Row == nil && (!stone.Deleted || stream == StreamSalesOrders && stone.Reason != want.Reason):
			t.Fatalf("%s %q: have %s, want %s", stream, want.ID, got, want.Reason)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen != len(m) {
		t.Fatalf("%s: the mirror has %d rows, the truth %d of them", stream, len(m), seen)
	}
}

// A row that changes during a walk is listed again at its end, and every other row once.
func TestChangedRowMovesToTheEnd(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 60})
	uri := "/sales/orders?updated_since=2020-01-01T00:00:00Z&limit=10"
	first := ok[page](h, uri)
	early := idOf(t, first.Data[2])
	h.clock = h.clock.Add(time.Second)
	if err := h.Restaurant(0).EditOrder(early); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	var last, stamp string
	rows := append(first.Data, h.walk(withCursor(uri, *first.NextCursor))...)
	for _, row := range rows {
		var o struct {
			ID        string
			UpdatedAt string `json:"updated_at"`
		}
		if err := json.Unmarshal(row, &o); err != nil {
			t.Fatal(err)
		}
		if o.UpdatedAt < stamp {
			t.Fatalf("%s after %s", o.UpdatedAt, stamp)
		}
		count[o.ID]++
		last, stamp = o.ID, o.UpdatedAt
	}
	for id, n := range count {
		want := 1
		if id == early {
			want = 2
		}
		if n != want {
			t.Errorf("%s came %d times", id, n)
		}
	}
	if last != early {
		t.Errorf("last is %s, want %s", last, early)
	}
}

func idOf(t testing.TB, row []byte) string {
	t.Helper()
	var head struct{ ID string }
	if err := json.Unmarshal(row, &head); err != nil {
		t.Fatal(err)
	}
	return head.ID
}

// Hundreds of rows with one updated_at, across page borders, come once each.
func TestManyRowsWithOneStamp(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 400})
	h.clock = h.clock.Add(time.Hour)
	at := h.clock.Add(-time.Second)
	if err := h.Restaurant(0).At(at).Touch(StreamSalesOrders, h.Restaurant(0).IDs(StreamSalesOrders)[:300]...); err != nil {
		t.Fatal(err)
	}
	rows := h.walk("/sales/orders?limit=7&updated_since=" + at.Format(time.RFC3339))
	m := mirrored{}
	m.upsert(t, rows)
	if len(rows) != 300 || len(m) != 300 {
		t.Errorf("%d rows, %d ids", len(rows), len(m))
	}
}

// updated_since is "at or after".
func TestUpdatedSinceIsInclusive(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: -1})
	h.clock = h.clock.Add(time.Hour)
	id := h.Restaurant(0).IDs(StreamProducts)[0]
	if err := h.Restaurant(0).Touch(StreamProducts, id); err != nil {
		t.Fatal(err)
	}
	for since, want := range map[string]int{"2026-03-20T11:00:00Z": 1, "2026-03-20T13:00:00%2B02:00": 1, "2026-03-20T11:00:00.000000001Z": 0} {
		if got := len(h.walk("/products?updated_since=" + since)); got != want {
			t.Errorf("since %s: %d rows, want %d", since, got, want)
		}
	}
}
