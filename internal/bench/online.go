package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
)

const (
	onlineOrders  = 50_000 // at least
	onlinePage    = 100    // orders, at most (docs/openapi.yaml, /orders)
	onlineMinutes = 4      // in which the first pages are counted
)

// online backfills online orders at the documented limits, of a service that allows 120
// requests within any 60 seconds.
func online(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", "-1", "-guests-for", "30", "-guests", "1850", "-algorithm", sandbox.AlgorithmSliding}, streams: "[online_orders]"}
	return b.started(ctx, func(s *service, d *daemon) error { return measureOnline(ctx, r, s, d) })
}

func measureOnline(ctx context.Context, r *report, s *service, d *daemon) error {
	var began, end time.Time
	rows, asked := 0, 0
	err := until(ctx, 15*time.Minute, 100*time.Millisecond, func() (done bool, err error) {
		if began.IsZero() {
			c, err := s.counters(ctx)
			began = c.FirstOrders
			return false, err
		}
		if rows == 0 && time.Since(began) >= onlineMinutes*time.Minute {
			c, err := s.counters(ctx)
			if err != nil {
				return false, err
			}
			asked = c.Stats.ByRoute["/orders"]
			if rows, err = d.number(ctx, "SELECT count() FROM larder.online_orders"); err != nil {
				return false, err
			}
		}
		done, err = backfilled(ctx, d, "online_orders")
		end = time.Now()
		return done, err
	})
	if err != nil {
		return err
	}
	c, err := s.counters(ctx)
	if err != nil {
		return err
	}
	pages, err := d.metric(ctx, `larder_pages_total{source="",stream="online_orders",walk="backfill"}`)
	if err != nil {
		return err
	}
	all, wrong, err := compareOnline(ctx, s, d)
	if err != nil {
		return err
	}
	const allowed = 120 * onlineMinutes * onlinePage
	r.row("online orders mirrored, differences", "%d, %d", all, wrong)
	r.row("time", "%.1f s", end.Sub(began).Seconds())
	r.row(fmt.Sprintf("orders mirrored in the first %d minutes, of %d allowed", onlineMinutes, allowed), "%d (%.1f %%)", rows, float64(rows)/allowed*100)
	r.row(fmt.Sprintf("requests for orders in them, of %d allowed", allowed/onlinePage), "%d (%.1f %%)", asked, float64(asked)/allowed*onlinePage*100)
	r.row("pages of the backfill; smallest possible", "%.0f; %d", pages, (all+onlinePage-1)/onlinePage)
	r.row("requests for orders; of these beside the backfill, for what has just changed; for anything else", "%d; %.0f; %d",
		c.Stats.ByRoute["/orders"], float64(c.Stats.ByRoute["/orders"])-pages, c.Stats.Requests-c.Stats.ByRoute["/orders"])
	r.row("answers 429", "%d", c.Stats.RateLimited)
	switch {
	case wrong > 0:
		return fmt.Errorf("%d orders differ from the service", wrong)
	case all < onlineOrders:
		return fmt.Errorf("%d orders are too few for this", all)
	case c.Stats.RateLimited > 0:
		return fmt.Errorf("%d answers 429", c.Stats.RateLimited)
	}
	return nil
}

// compareOnline holds every order of the service against the view, and every order of the
// view against the service, by what is there whatever is kept of customers.
func compareOnline(ctx context.Context, s *service, d *daemon) (rows, wrong int, err error) {
	truth := map[string]string{}
	err = s.truth(ctx, "online_orders", func(id string, row []byte) error {
		var o types.OnlineOrder
		if err := json.Unmarshal(row, &o); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339Nano, string(o.UpdatedAt))
		truth[id] = o.Status + " " + string(o.Totals.Total) + " " + strconv.FormatInt(at.UnixMicro(), 10) + " " + strconv.Itoa(len(o.Items))
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	mirrored, err := d.query(ctx, "SELECT id, status, toDecimalString(totals_total, 2), toUnixTimestamp64Micro(updated_at), line_count FROM larder.online_orders")
	if err != nil {
		return 0, 0, err
	}
	for _, row := range mirrored {
		if truth[row[0]] != row[1]+" "+row[2]+" "+row[3]+" "+row[4] {
			wrong++
		}
		delete(truth, row[0])
	}
	return len(mirrored), wrong + len(truth), nil
}
