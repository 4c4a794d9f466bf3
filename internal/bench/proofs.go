package main

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// The days that a proof asks about at once, up to queryLastDay.
const proofFirstDay = "2026-08-01"

// timeProofs computes the figures of 92 days of each restaurant, one after the other: a quarter of a second of each is
// spent waiting for others to join the statement.
func timeProofs(ctx context.Context, r *report, sink *clickhouse.Sink, state string) error {
	for _, proof := range []struct {
		name    string
		compute func(context.Context, sinks.DayQuery) ([]sinks.DayFigures, error)
	}{{"daily totals", sink.SalesDays}, {"products by day", sink.SalesProducts}} {
		var took []time.Duration
		var all time.Duration
		for shop := range queryFilling.shops {
			began := time.Now()
			days, err := proof.compute(ctx, sinks.DayQuery{Business: fmt.Sprintf("biz_%03d", shop), From: proofFirstDay, To: queryLastDay})
			if err != nil {
				return fmt.Errorf("%s: %w", proof.name, err)
			}
			if len(days) == 0 {
				return fmt.Errorf("%s: no days", proof.name)
			}
			took = append(took, time.Since(began))
			all += took[shop]
		}
		r.row(fmt.Sprintf("%s of 92 days of one restaurant, %s: p50 / p95; of all %d", proof.name, state, queryFilling.shops), "%.1f / %.1f ms; %.1f s",
			percentile(took, 50).Seconds()*1e3, percentile(took, 95).Seconds()*1e3, all.Seconds())
	}
	return nil
}
