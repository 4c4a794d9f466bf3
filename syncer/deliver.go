package syncer

import (
	"context"
	"fmt"

	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
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
		// It is work on the source like a walk: the source after it must find all that it stores.
		err = v.work(ctx, "delivery", func(ctx context.Context, s *source) (err error) {
			if !s.IsReady() {
				return list.ErrNotFollowed
			}
			if what, err = s.online.Deliver(ctx, s.keeps(order)); err != nil {
				return fmt.Errorf("stream %s: %w", registry.Online, err)
			}
			return nil
		})
	}
	if err != nil {
		return 0, fmt.Errorf("source %s: %w", name, err)
	}
	return what, nil
}
