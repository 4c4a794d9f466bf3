package memsink_test

import (
	"context"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/sinktest"
	"github.com/larder-sync/larder/syncer/mapping"
)

func TestProof(t *testing.T) {
	orders, err := mapping.Compile[types.SalesOrder]("sales_orders")
	if err != nil {
		t.Fatal(err)
	}
	sinktest.RunProof(t, func(*testing.T) sinktest.Harness {
		store := memsink.NewStore()
		return sinktest.Harness{
			Tables: map[string]*sinks.Table{"sales_orders": orders.Table()},
			Open: func(o sinktest.Options) sinks.Sink {
				return memsink.Open(store, memsink.Options{FlushInterval: o.FlushInterval, FlushTime: time.Millisecond})
			},
		}
	})
}

// TestDamageCounts damages rows whose totals were asked for before.
func TestDamageCounts(t *testing.T) {
	plan, err := mapping.Compile[types.SalesOrder]("sales_orders")
	if err != nil {
		t.Fatal(err)
	}
	store := memsink.NewStore()
	s := memsink.Open(store, memsink.Options{FlushInterval: time.Millisecond, FlushTime: time.Millisecond})
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	b := sinks.NewBatch(plan.Table(), 1)
	if _, err := plan.NewMapper().Append(b, []byte(order)); err != nil {
		t.Fatal(err)
	}
	if err := b.EndRow(sinks.Row{ID: "o", Version: 1, Raw: []byte(order)}); err != nil {
		t.Fatal(err)
	}
	receipt, err := s.Write(t.Context(), &sinks.Commit{Source: "s", Business: "b", Stream: "sales_orders", Batch: b})
	if err != nil {
		t.Fatal(err)
	}
	if err := receipt.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect := func(day, location, orders, net string) {
		t.Helper()
		days, err := s.SalesDays(t.Context(), sinks.DayQuery{Business: "b", From: day, To: day, Location: location})
		if err != nil || len(days) != 1 || days[0].Figures["orders"] != orders || days[0].Figures["net_sales"] != net {
			t.Errorf("%s: %v, %v; want %s orders of %s", day, days, err, orders, net)
		}
	}
	expect("2026-03-28", "", "1", "30.00")
	store.EditColumn("sales_orders", "b", "o", "totals_net_sales", `"31.00"`)
	expect("2026-03-28", "l1", "1", "31.00")
	store.Copy("sales_orders", "b", "o", "twin")
	expect("2026-03-28", "l1", "2", "62.00")
	store.EditColumn("sales_orders", "b", "o", "business_day", `"2026-03-29"`)
	store.EditColumn("sales_orders", "b", "o", "location_id", `"l2"`)
	expect("2026-03-29", "l2", "1", "31.00")
	store.Edit("sales_orders", "b", "o", func(r *memsink.Row) { r.Day++ })
	expect("2026-03-30", "l2", "1", "31.00")
	store.Lose("sales_orders", "b", "o")
	expect("2026-03-28", "", "1", "31.00")
}

const order = `{"id":"o","deleted":false,"number":null,"location_id":"l1","channel":"pos","type":"dine_in","table_id":null,
"business_day":"2026-03-28","created_at":"2026-03-28T10:00:00Z","updated_at":"2026-03-28T10:30:00Z","paid_at":null,"items":[],
"totals":{"items":"30.00","discount":"0.00","delivery_fee":"0.00","tip":"0.00","deposit":"0.00","total":"30.00","net_sales":"30.00"},
"payments":[],"refunds":[]}`
