package syncer

import (
	"context"
	"sync"
	"time"
)

// doorman keeps the process away from the limit on wrong keys: an address that
// sends 30 requests with one within a minute is refused for the rest of that
// minute (api.md, "Errors"). Whoever tries a key that is not known to be good
// takes a token, and a key that is refused keeps it for a minute.
type doorman struct {
	mu    sync.Mutex
	doors map[string]chan struct{} // by base URL: tokens taken
}

// wrongKeys is how many keys may be refused in a minute. Each may stand for two
// requests, the key and the next one, and other programs may run at the address.
const wrongKeys = 10

func newDoorman() *doorman { return &doorman{doors: map[string]chan struct{}{}} }

func (d *doorman) door(baseURL string) chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.doors[baseURL] == nil {
		d.doors[baseURL] = make(chan struct{}, wrongKeys)
	}
	return d.doors[baseURL]
}

// enter waits for a token. The returned function gives it back, at once for a
// good key and in a minute for one that was refused.
func (d *doorman) enter(ctx context.Context, baseURL string) (leave func(refused bool), err error) {
	door := d.door(baseURL)
	select {
	case door <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return func(refused bool) {
		if refused {
			time.AfterFunc(time.Minute, func() { <-door })
			return
		}
		<-door
	}, nil
}
