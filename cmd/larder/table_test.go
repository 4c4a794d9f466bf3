package main

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// busyStatus is a status with the longest values there are, and a name that would act
// on the terminal.
func busyStatus() status.Status {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return status.Status{Now: now, StartedAt: now.Add(-5 * time.Hour), WarehouseUnavailable: true, Problems: []string{"Rows wait for the warehouse, and nothing is lost: " + strings.Repeat("it does not answer ", 6)},
		Sources: []status.SourceStatus{{
			Name: "bistro", State: status.StateUnauthorized, BusinessName: "Bistro\x1b[2J \u202eevil\u202c\n! Everything is lost", Detail: "GET /me: 401 unauthorized: go away\nnow",
			Proof: &status.ProofStatus{ProvenUntil: "2026-02-20", DriftDays: 12}, Budget: status.BudgetStatus{KeyUsed: 3, KeyLimit: 120},
			Streams: []status.StreamStatus{
				{Name: "sales_products", State: status.StateUnauthorized, Lag: -1, Rows: new(uint64(12345678)), Watermark: now, LastError: "GET /sales/products: 500 internal: " + strings.Repeat("sorry ", 30)},
				{Name: "sales_orders", State: "backfill", Lag: status.Seconds(3*time.Hour + 5*time.Minute), Watermark: now, Rows: new(uint64(400)),
					Progress: &status.Progress{Pages: 2, Rows: 400, TotalRows: 600, RequestsLeft: 1, ExpectedLeft: status.Seconds(time.Second)}},
			},
		}}}
}

func TestStatusFitsTheTerminal(t *testing.T) {
	for width := 20; width <= 200; width++ {
		var out strings.Builder
		if err := printStatus(&out, busyStatus(), width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if w := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); w > width && width >= 40 {
				t.Errorf("%d columns at %d: %q", w, width, line)
			}
		}
		if strings.ContainsAny(out.String(), "\x1b\u202e") || strings.Contains(out.String(), "\n! Everything") {
			t.Fatalf("a name acts on the terminal:\n%q", out.String())
		}
	}
	var out strings.Builder
	if err := printStatus(&out, busyStatus(), 80); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"  stream          state      last walk     newest change (UTC)  rows      note\n",
		"  sales_orders    not asked  3 h ago       2026-03-01 12:00:00  400\n    400 of 600 rows, 1 request left\n",
	} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("want %q in\n%s", words, out.String())
		}
	}
}

func TestStatusOnANarrowTerminal(t *testing.T) {
	var out strings.Builder
	if err := printStatus(&out, busyStatus(), 56); err != nil {
		t.Fatal(err)
	}
	if want := "\n  stream          state      last walk     rows\n"; !strings.Contains(out.String(), want) {
		t.Errorf("want the columns that matter most:\n%s", out.String())
	}
}

func TestLastColumnIsBelowItsRowWhereItDoesNotFitBesideIt(t *testing.T) {
	p := &table{width: 50, optional: []string{"requests"}}
	p.add("stream", "requests", "result")
	p.add("sales_orders", 12, "ok")
	p.add("products", 1, "off: key lacks menu:read and much else, which is more than fits")
	var out strings.Builder
	if err := p.print(&out); err != nil {
		t.Fatal(err)
	}
	if want := `stream        requests  result
sales_orders  12        ok
products      1
  off: key lacks menu:read and much else, which is
  more than fits
`; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// Whatever is wrapped, no line is too wide and no word is lost.
func TestWrap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var words []string
		for range random.IntN(20) {
			words = append(words, strings.Repeat(string([]rune("aț日é")[random.IntN(4)]), 1+random.IntN(30)))
		}
		text, width := strings.Join(words, " "), 6+random.IntN(60)
		got := wrap(text, "  ", width)
		for line := range strings.Lines(got) {
			if w := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); w > width {
				t.Fatalf("%d columns at %d: %q", w, width, line)
			}
		}
		plain := strings.NewReplacer(" ", "", "\n", "")
		if plain.Replace(got) != plain.Replace(text) {
			t.Fatalf("%q became %q", text, got)
		}
	}
}

// The summary of a pass fits, whatever its sources are called, and says what matters.
func TestReportFitsTheTerminal(t *testing.T) {
	var r syncer.Report
	for _, name := range []string{"bar", "a-restaurant-with-a-long-name"} {
		r.Sources = append(r.Sources, syncer.SourceReport{Source: name, Streams: []syncer.StreamReport{
			{StreamOutcome: status.StreamOutcome{Stream: "sales_orders"}, Counts: write.Counts{Upserts: 1234567, Requests: 5432}},
			{StreamOutcome: status.StreamOutcome{Stream: "products", Off: "key lacks menu:read: ask the restaurant to grant it"}},
		}})
	}
	for width := 70; width <= 160; width++ {
		var out strings.Builder
		if err := printReport(&out, r, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if w := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("%d columns at %d: %q", w, width, line)
			}
		}
		if !strings.Contains(out.String(), "1234567") || !strings.Contains(out.String(), "off: key lacks") {
			t.Errorf("at %d:\n%s", width, out.String())
		}
	}
}
