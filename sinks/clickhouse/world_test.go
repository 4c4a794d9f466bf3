package clickhouse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/sinks"
)

// TestProofOfAWorld mirrors every order of a restaurant that sells, edits, cancels and
// refunds through a change of clock, and compares every figure of every day with what
// the service itself reports, of all locations and of each.
func TestProofOfAWorld(t *testing.T) {
	epoch := time.Date(2026, 3, 31, 19, 30, 0, 0, time.UTC)
	at := epoch
	box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 7, LocationsPer: 3, Orders: 1500, Days: 30, Epoch: epoch, Pace: 4,
		Now: func() time.Time { return at }, Readings: sandbox.Readings{NewMapKeys: true, StrangeIDs: true}})
	if err != nil {
		t.Fatal(err)
	}
	at = epoch.Add(26 * time.Hour)
	box.Tick(at)
	key := box.Keys()[0]
	m := newMirror(t)
	rows := worldOrders(t, box, key.Value)
	put[types.SalesOrder](m, "biz", "sales_orders", rows...)
	for _, location := range append(locationsOf(t, box, key.Value), "") {
		q := sinks.DayQuery{Business: "biz", From: "2026-02-01", To: "2026-04-01", Location: location}
		days, err := m.SalesDays(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		products, err := m.SalesProducts(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range products {
			delete(line.Figures, sinks.RoundedLines) // the service does not report it
		}
		compareFigures(t, "days of "+location, reportedDays(t, box, key.Value, q), days)
		compareFigures(t, "products of "+location, reportedProducts(t, box, key.Value, q), products)
	}
	put[types.SalesOrder](m, "other", "sales_orders", rows[:len(rows)/2]...)
	m.answersAlike(append(locationsOf(t, box, key.Value), ""))
	m.expect("SELECT rule, count() FROM data_quality WHERE rule != 'refunds' GROUP BY rule")
}

// answersAlike compares the answers of statements for all questions with those of one for each.
func (m *mirror) answersAlike(locations []string) {
	m.t.Helper()
	for name, ask := range map[string]func(context.Context, sinks.DayQuery) ([]sinks.DayFigures, error){"days": m.SalesDays, "products": m.SalesProducts} {
		var questions []sinks.DayQuery
		for _, business := range []string{"biz", "other", "unknown"} {
			for _, location := range locations {
				questions = append(questions, sinks.DayQuery{Business: business, From: "2026-03-01", To: "2026-03-31", Location: location})
			}
		}
		alone, gathered := make([][]sinks.DayFigures, len(questions)), make([][]sinks.DayFigures, len(questions))
		put := func(into [][]sinks.DayFigures, i int) {
			var err error
			if into[i], err = ask(m.t.Context(), questions[i]); err != nil {
				m.t.Error(err)
			}
		}
		var together sync.WaitGroup
		for i := range questions {
			put(alone, i)
		}
		for i := range questions {
			together.Go(func() { put(gathered, i) })
		}
		together.Wait()
		if diff := cmp.Diff(alone, gathered); diff != "" || len(alone[0]) == 0 {
			m.t.Errorf("%s (-alone +gathered):\n%s", name, diff)
		}
	}
}

func worldOrders(t *testing.T, box *sandbox.Sandbox, key string) (rows []string) {
	t.Helper()
	err := box.Truth(key, sandbox.StreamSalesOrders, func(r sandbox.TruthRow) error {
		if r.Row != nil {
			rows = append(rows, string(r.Row))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 1000 {
		t.Fatalf("a world of %d orders", len(rows))
	}
	return rows
}

// fetch reads an answer's list "data".
func fetch[T any](t *testing.T, box *sandbox.Sandbox, key, path string) []T {
	t.Helper()
	status, body, err := box.Fetch(key, path)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s: %v", path, status, body, err)
	}
	var page struct {
		Data []T `json:"data"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		t.Fatal(err)
	}
	return page.Data
}

func locationsOf(t *testing.T, box *sandbox.Sandbox, key string) (ids []string) {
	t.Helper()
	for _, l := range fetch[struct{ ID string }](t, box, key, "/locations") {
		ids = append(ids, l.ID)
	}
	return ids
}

func reportedDays(t *testing.T, box *sandbox.Sandbox, key string, q sinks.DayQuery) []sinks.DayFigures {
	t.Helper()
	var days []sinks.DayFigures
	for _, day := range fetch[map[string]any](t, box, key, "/sales/daily?"+rangeOf(q)) {
		figures := sinks.Figures{}
		for name, value := range day {
			if entries, ok := value.(map[string]any); ok {
				for entry, amount := range entries {
					figures[name+"/"+entry] = fmt.Sprint(amount)
				}
			} else if name != "date" {
				figures[name] = fmt.Sprint(value)
			}
		}
		days = append(days, sinks.DayFigures{Day: day["date"].(string), Figures: figures})
	}
	return days
}

func reportedProducts(t *testing.T, box *sandbox.Sandbox, key string, q sinks.DayQuery) []sinks.DayFigures {
	t.Helper()
	var lines []sinks.DayFigures
	for _, p := range fetch[types.ProductSales](t, box, key, "/sales/products?group_by=day&"+rangeOf(q)) {
		line := sinks.DayFigures{Day: string(*p.Date), Line: "n/" + p.Name, Figures: sinks.Figures{
			"quantity": string(p.Quantity), "gross": string(p.Gross), "line_discounts": string(p.LineDiscounts), "net": string(p.Net)}}
		if p.ProductID != nil {
			line.Line = "p/" + *p.ProductID
		}
		if p.WeightKg != nil {
			line.Figures["weight_kg"] = string(*p.WeightKg)
		}
		lines = append(lines, line)
	}
	return lines
}

func rangeOf(q sinks.DayQuery) string {
	values := url.Values{"from": {q.From}, "to": {q.To}}
	if q.Location != "" {
		values.Set("location_id", q.Location)
	}
	return values.Encode()
}

// compareFigures compares as numbers, and leaves out what is zero.
func compareFigures(t *testing.T, what string, want, got []sinks.DayFigures) {
	t.Helper()
	service, mirror := numbersOf(t, want), numbersOf(t, got)
	if diff := cmp.Diff(service, mirror); diff != "" {
		t.Errorf("%s (-service +mirror):\n%s", what, diff)
	}
	if len(service) < 500 {
		t.Errorf("%s: only %d figures were compared", what, len(service))
	}
}

func numbersOf(t *testing.T, days []sinks.DayFigures) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, d := range days {
		for name, text := range d.Figures {
			n, ok := new(big.Rat).SetString(text)
			if !ok {
				t.Fatalf("%s %s %s: %q is no number", d.Day, d.Line, name, text)
			}
			if n.Sign() != 0 {
				all[strings.Join([]string{d.Day, d.Line, name}, " ")] = n.RatString()
			}
		}
	}
	return all
}
