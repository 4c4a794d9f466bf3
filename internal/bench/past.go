package main

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
)

// past is what guests ordered online, through the main key, before the sandbox is served.
// Nobody orders any more while it is.
type past struct {
	days     int     // that guests ordered on; all of their orders have come to an end
	perDay   float64 // orders
	accepted int     // orders that wait in the kitchen: accepted, and nothing more
}

const (
	// acceptedPerDay is how many orders a day there were until enough were accepted.
	acceptedPerDay = 600
	// acceptedDays is more than enough days for that.
	acceptedDays = 7
	// overWithin is how long the life of an order may take.
	overWithin = 8 * time.Hour
)

// options are those of a sandbox with this past.
func (p past) options(o *sandbox.Options) {
	switch {
	case p.days > 0:
		o.Live, o.OnlineOrders, o.Epoch = true, p.perDay, time.Now().Add(-overWithin).AddDate(0, 0, -p.days)
	case p.accepted > 0:
		o.OnlineOrders, o.Epoch = acceptedPerDay, time.Now().AddDate(0, 0, -acceptedDays)
	}
}

// play lets it happen. The clock runs afterwards.
func (p past) play(s *sandbox.Sandbox, epoch time.Time, clock *atomic.Int64) error {
	if p.days == 0 && p.accepted == 0 {
		return nil
	}
	main := s.Key(0, sandbox.RoleMain).Value
	for _, k := range s.Keys() {
		if k.Value == main {
			continue
		}
		if err := s.UpdateKey(k.Value, func(k *sandbox.Key) { k.OrderingOff = true }); err != nil {
			return err
		}
	}
	tick := func(at time.Time) {
		clock.Store(at.UnixMicro())
		s.Tick(at)
	}
	defer clock.Store(0)
	if p.days > 0 {
		tick(epoch.AddDate(0, 0, p.days))
		s.OnlineOrders(0).StopGuests()
		tick(time.Now())
		return nil
	}
	for at, done := epoch, 0; done < p.accepted; at = at.Add(time.Minute) {
		if at.After(time.Now()) {
			return fmt.Errorf("guests have placed %d orders in %d days, %d are wanted", done, acceptedDays, p.accepted)
		}
		tick(at)
		accepted, err := acceptAll(s, main, at, p.accepted-done)
		if err != nil {
			return err
		}
		done += accepted
	}
	s.OnlineOrders(0).StopGuests()
	return nil
}

// acceptAll accepts what was placed and not answered yet, up to so many, and says how many.
func acceptAll(s *sandbox.Sandbox, key string, at time.Time, most int) (done int, err error) {
	var waiting []string
	err = s.Truth(key, sandbox.StreamOnlineOrders, func(r sandbox.TruthRow) error {
		var order struct {
			Status string `json:"status"`
		}
		if err := json.Unmarshal(r.Row, &order); err != nil {
			return err
		}
		if order.Status == "received" && len(waiting) < most {
			waiting = append(waiting, r.ID)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, id := range waiting {
		if _, err := s.OnlineOrders(0).Do(id, ordering.Move{Kind: ordering.MoveAccept}, at.UnixMicro()); err != nil {
			return 0, err
		}
	}
	return len(waiting), nil
}
