package sandbox

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
)

// AdminOrders moves online orders of a restaurant from another process.
type AdminOrders struct {
	Business int      `json:"business"`
	Action   string   `json:"action"` // one of ordering.Moves
	IDs      []string `json:"ids"`
	ReadyIn  int      `json:"ready_in"` // seconds, for accept and estimate
	Code     string   `json:"code"`     // of a rejection
	Text     string   `json:"text"`     // message, reason, or method of payment
}

func (s *Sandbox) adminOrders(in AdminOrders) (any, error) {
	if err := s.known(in.Business); err != nil {
		return nil, err
	}
	now := s.now()
	s.catchUp(in.Business, now)
	m := ordering.Move{Kind: in.Action, Code: in.Code, Text: in.Text}
	if in.ReadyIn != 0 || in.Action == ordering.MoveEstimate {
		m.Ready = now + (time.Duration(in.ReadyIn) * time.Second).Microseconds()
	}
	done := []api.OnlineOrder{}
	for _, id := range in.IDs {
		o, err := s.books[in.Business].Do(id, m, now)
		if err != nil {
			return nil, err
		}
		done = append(done, o)
	}
	return done, nil
}

func (s *Sandbox) adminOrdering(in struct {
	Business int  `json:"business"`
	On       bool `json:"on"`
}) (any, error) {
	if err := s.known(in.Business); err != nil {
		return nil, err
	}
	s.Restaurant(in.Business).SwitchOrdering(in.On)
	return nil, nil
}

func (s *Sandbox) known(business int) error {
	if business < 0 || business >= s.Len() {
		return fmt.Errorf("business %d: there are %d", business, s.Len())
	}
	return nil
}
