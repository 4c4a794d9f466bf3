package syncer

import (
	"context"
	"fmt"

	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
)

// What became of an order that was delivered; see [Syncer.Deliver].
const (
	DeliveredStored  = list.DeliveredStored
	DeliveredSame    = list.DeliveredSame
	DeliveredOlder   = list.DeliveredOlder
	DeliveredLeftOut = list.DeliveredLeftOut
	DeliveredBad     = list.DeliveredBad
)

// Deliver stores an order that the service has sent by itself, and returns when that is
// durable. Of the customer it stores what [Source.Personal] says.
//
// It is an error while the source is not served here: another process may hold it, its key
// may be refused, its streams may be off. A delivery ends with its source: an error then says
// nothing of whether the order is stored, and the service has to send it again.
func (y *Syncer) Deliver(ctx context.Context, name string, order []byte) (list.Delivered, error) {
	what, err := list.Delivered(0), list.ErrNotFollowed
	if v := y.supervisorOf(name); v != nil && v.current().over() == nil {
		err = v.work(ctx, "delivery", func(ctx context.Context, s *source) (err error) {
			what, err = s.deliver(ctx, order)
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("source %s: %w", name, err)
	}
	return what, nil
}

// deliver is work on the source like a walk: the source after it must find all that it stores.
func (s *source) deliver(ctx context.Context, order []byte) (list.Delivered, error) {
	if !s.IsReady() {
		return 0, list.ErrNotFollowed
	}
	for _, st := range s.lists {
		if st.Def.Name == registry.Online {
			what, err := st.Deliver(ctx, s.keeps(order))
			if err != nil {
				return 0, fmt.Errorf("stream %s: %w", registry.Online, err)
			}
			return what, nil
		}
	}
	return 0, list.ErrNotFollowed
}
