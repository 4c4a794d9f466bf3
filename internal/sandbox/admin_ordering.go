package sandbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
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

func (s admin) moveOrders(in AdminOrders) (any, error) {
	if err := s.known(in.Business); err != nil {
		return nil, err
	}
	now := s.now()
	s.catchUp(in.Business, now)
	m := ordering.Move{Kind: in.Action, Code: in.Code, Text: in.Text}
	if in.ReadyIn != 0 || in.Action == ordering.MoveEstimate {
		m.Ready = now + (time.Duration(in.ReadyIn) * time.Second).Microseconds()
	}
	done := []types.OnlineOrder{}
	for _, id := range in.IDs {
		o, err := s.books[in.Business].Do(id, m, now)
		if err != nil {
			return nil, err
		}
		done = append(done, o)
	}
	return done, nil
}

// AdminOrdering changes whether and how a restaurant, or one of its locations, takes orders;
// fields left out stay.
type AdminOrdering struct {
	Business int       `json:"business"`
	Location string    `json:"location"` // id; "" for the whole restaurant
	On       *bool     `json:"on"`
	Types    *[]string `json:"types"`     // of a location
	PauseFor *int      `json:"pause_for"` // seconds, of a location
}

func (s admin) changeOrdering(in AdminOrdering) (any, error) {
	if err := s.known(in.Business); err != nil {
		return nil, err
	}
	r := s.Restaurant(in.Business)
	if in.Location == "" {
		if in.Types != nil || in.PauseFor != nil {
			return nil, errors.New("types and pause_for are of a location: name it")
		}
		if in.On != nil {
			r.SwitchOrdering(*in.On)
		}
		return nil, nil
	}
	var errs []error
	if in.On != nil {
		errs = append(errs, r.SwitchLocationOrdering(in.Location, *in.On))
	}
	if in.Types != nil {
		errs = append(errs, r.OfferTypes(in.Location, *in.Types...))
	}
	if in.PauseFor != nil {
		errs = append(errs, r.PauseOrdering(in.Location, s.opts.Now().Add(time.Duration(*in.PauseFor)*time.Second)))
	}
	return nil, errors.Join(errs...)
}

func (s admin) known(business int) error {
	if business < 0 || business >= s.Len() {
		return fmt.Errorf("business %d: there are %d", business, s.Len())
	}
	return nil
}
