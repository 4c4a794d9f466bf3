package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

const (
	movedOrders  = 300                    // each becomes ready, and then completed
	moveInterval = 400 * time.Millisecond // on the average
	movesPoll    = 100 * time.Millisecond
	movesSeed    = 5
)

// moves measures from a restaurant's move of an order, as the service dates it, to its row
// in order_events: by webhook, while polling is an hour away, and by polling alone.
func moves(ctx context.Context, r *report) error {
	for _, way := range []struct {
		via, more string
		hooks     bool
		last      time.Duration // a move is seen within it, or is missing
	}{
		{"webhook", "schedule: {online_orders: \"@every 1h\"}\n", true, 10 * time.Second},
		{"polling", "", false, time.Minute},
	} {
		b := bed{sandbox: []string{"-orders", "2000", "-accepted", strconv.Itoa(movedOrders)}, more: way.more, hooks: way.hooks}
		err := b.filledWith(ctx, "online_orders", func(s *service, d *daemon) error {
			if way.hooks {
				body := fmt.Sprintf(`{"value": %q, "webhook_url": %q}`, mainKey(s).Value, d.hookURL())
				if err := s.post(ctx, "/admin/keys", body); err != nil {
					return err
				}
			}
			w, err := newWatch(ctx, s, d)
			if err != nil {
				return err
			}
			return w.run(ctx, r, way.via, way.last)
		})
		if err != nil {
			return fmt.Errorf("by %s: %w", way.via, err)
		}
	}
	return nil
}

// move is a transition of an order.
type move struct{ id, status string }

// watch moves orders, and sees their rows come.
type watch struct {
	service *service
	daemon  *daemon
	began   time.Time
	left    []move
	made    map[move]time.Time
	seen    map[move]time.Duration
	vias    map[string]int
}

func newWatch(ctx context.Context, s *service, d *daemon) (*watch, error) {
	w := &watch{service: s, daemon: d, began: time.Now(), made: map[move]time.Time{}, seen: map[move]time.Duration{}, vias: map[string]int{}}
	err := s.truth(ctx, "online_orders", func(id string, row []byte) error {
		var order struct {
			Status string `json:"status"`
		}
		if err := json.Unmarshal(row, &order); err != nil {
			return err
		}
		if order.Status == "accepted" {
			w.left = append(w.left, move{id, "ready"})
		}
		return nil
	})
	if err == nil && len(w.left) != movedOrders {
		err = fmt.Errorf("%d orders are accepted, not %d", len(w.left), movedOrders)
	}
	for _, m := range w.left {
		w.left = append(w.left, move{m.id, "completed"})
	}
	return w, err
}

// run makes all moves at random instants, waits until the last is seen, and tells.
func (w *watch) run(ctx context.Context, r *report, via string, last time.Duration) error {
	random := rand.New(rand.NewPCG(movesSeed, 0))
	next, end := time.Now(), time.Time{}
	for len(w.left) > 0 || len(w.seen) < len(w.made) {
		if now := time.Now(); len(w.left) > 0 && !now.Before(next) {
			if err := w.move(ctx); err != nil {
				return err
			}
			next = next.Add(time.Duration(random.ExpFloat64() * float64(moveInterval)))
			end = time.Now().Add(last)
		} else if len(w.left) == 0 && now.After(end) {
			return fmt.Errorf("%d of %d moves have no row after %s", len(w.made)-len(w.seen), len(w.made), last)
		}
		if err := w.look(ctx); err != nil {
			return err
		}
		if err := wait(ctx, movesPoll); err != nil {
			return err
		}
	}
	rows, err := w.daemon.number(ctx, "SELECT count() FROM larder.order_events WHERE at >= "+w.since())
	if err != nil {
		return err
	}
	if rows != len(w.made) || w.vias[via] != rows {
		return fmt.Errorf("%d moves have %d rows, by %v", len(w.made), rows, w.vias)
	}
	ages := make([]time.Duration, 0, len(w.seen))
	for _, age := range w.seen {
		ages = append(ages, age)
	}
	r.row("by "+via+": moves, rows in order_events", "%d, %d", len(w.made), rows)
	r.row("by "+via+": from the move to its row: p50, p99, most", "%.2f s, %.2f s, %.2f s",
		percentile(ages, 50).Seconds(), percentile(ages, 99).Seconds(), percentile(ages, 100).Seconds())
	return nil
}

// move makes the next move.
func (w *watch) move(ctx context.Context) error {
	m := w.left[0]
	w.left = w.left[1:]
	action := map[string]string{"ready": "ready", "completed": "complete"}[m.status]
	var moved []types.OnlineOrder
	if err := w.service.postFor(ctx, "/admin/orders", fmt.Sprintf(`{"action": %q, "ids": [%q]}`, action, m.id), &moved); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, string(moved[0].UpdatedAt))
	w.made[m] = at
	return err
}

func (w *watch) since() string {
	return fmt.Sprintf("fromUnixTimestamp64Micro(%d)", w.began.UnixMicro())
}

// look notes which moves have a row now.
func (w *watch) look(ctx context.Context) error {
	rows, err := w.daemon.query(ctx, "SELECT order_id, status, via, toUnixTimestamp64Micro(at) FROM larder.order_events WHERE at >= "+w.since())
	if err != nil {
		return err
	}
	now, here := time.Now(), map[move]bool{}
	for _, row := range rows {
		m := move{row[0], row[1]}
		made, known := w.made[m]
		if !known || here[m] || strconv.FormatInt(made.UnixMicro(), 10) != row[3] {
			return fmt.Errorf("a row that is none of a move, or its second: %v", row)
		}
		here[m] = true
		if _, seen := w.seen[m]; !seen {
			w.seen[m] = now.Sub(made)
			w.vias[row[2]]++
		}
	}
	if len(here) < len(w.seen) {
		return fmt.Errorf("%d rows are gone again", len(w.seen)-len(here))
	}
	return nil
}
