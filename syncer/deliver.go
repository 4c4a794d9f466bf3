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
func (y *Syncer) Deliver(ctx context.Context, source string, order []byte) (list.Delivered, error) {
	for _, s := range y.served() {
		if s.cfg.Name != source {
			continue
		}
		var what list.Delivered
		err := s.entered(ctx, func(ctx context.Context) (err error) {
			what, err = s.deliver(ctx, order)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("source %s: %w", source, err)
		}
		return what, nil
	}
	return 0, fmt.Errorf("source %s: %w", source, list.ErrNotFollowed)
}

// deliver is work on the source like a walk: the source after it must find all that it stores.
func (s *source) deliver(ctx context.Context, order []byte) (list.Delivered, error) {
	if !s.IsReady() {
		return 0, list.ErrNotFollowed
	}
	for _, st := range s.lists {
		if st.Def.Name == registry.Online {
			what, err := st.Deliver(ctx, s.erasing.keeps(order))
			if err != nil {
				return 0, fmt.Errorf("stream %s: %w", registry.Online, err)
			}
			return what, nil
		}
	}
	return 0, list.ErrNotFollowed
}
