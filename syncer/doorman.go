package syncer

import (
	"context"
	"slices"
	"sync"
	"time"
)

// doorman keeps the process away from the limit on wrong keys: an address that
// sends 30 requests with one within a minute is refused for the rest of that
// minute (api.md, "Errors"). The address is the process's, whatever the sources'
// base URLs, so there is one for all of them. Whoever tries a key that is not known to
// be good takes a place, and keeps it for a minute when the key is refused.
//
// A key that was refused before waits behind those that were not, and can take half of
// the places only: hundreds of wrong keys hold up neither a source that begins nor a
// key that has just been put in place.
type doorman struct {
	mu      sync.Mutex
	taken   int // places
	repeats int // of them by keys that were refused before
	waiting []*visit
}

// wrongRequests is how many requests may be refused in a minute; other programs may
// run at the address, and wrongRepeats is how many of them may be with keys that were
// refused before.
const (
	wrongRequests = 20
	wrongRepeats  = wrongRequests / 2
)

// The turns of those who wait at the door.
type turn int

const (
	knownTurn  turn = iota // its source is mirrored, and all was well when it last ended
	newTurn                // it has not been tried yet
	repeatTurn             // it was refused before
)

// visit is a key that is tried, or waits to be.
type visit struct {
	turn turn
	let  chan struct{} // closed when it may
}

// enter waits until a key may be tried with one request. The returned function gives the
// place back: at once, or in a minute when the request was refused.
func (d *doorman) enter(ctx context.Context, t turn) (leave func(refused bool), err error) {
	v := &visit{turn: t, let: make(chan struct{})}
	d.mu.Lock()
	at := slices.IndexFunc(d.waiting, func(w *visit) bool { return w.turn > t })
	if at < 0 {
		at = len(d.waiting)
	}
	d.waiting = slices.Insert(d.waiting, at, v)
	d.admit()
	d.mu.Unlock()
	select {
	case <-v.let:
		return func(refused bool) { d.leave(t, refused) }, nil
	case <-ctx.Done():
		d.giveUp(v)
		return nil, context.Cause(ctx)
	}
}

// admit lets in whom there is room for, in order; the caller holds the lock.
func (d *doorman) admit() {
	d.waiting = slices.DeleteFunc(d.waiting, func(v *visit) bool {
		if !d.room(v.turn) {
			return false
		}
		d.take(v.turn, 1)
		close(v.let)
		return true
	})
}

func (d *doorman) room(t turn) bool {
	return d.taken < wrongRequests && (t != repeatTurn || d.repeats < wrongRepeats)
}

func (d *doorman) take(t turn, places int) {
	d.taken += places
	if t == repeatTurn {
		d.repeats += places
	}
}

func (d *doorman) leave(t turn, refused bool) {
	if !refused {
		d.free(t)
		return
	}
	time.AfterFunc(time.Minute, func() { d.free(t) })
}

func (d *doorman) free(t turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.take(t, -1)
	d.admit()
}

// giveUp ends a visit whose caller does not wait any more.
func (d *doorman) giveUp(v *visit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := slices.Index(d.waiting, v); at >= 0 {
		d.waiting = slices.Delete(d.waiting, at, at+1)
		return
	}
	d.take(v.turn, -1) // it was let in meanwhile
	d.admit()
}

// refused counts a request that nobody came to the door for, since the key was good when
// it was last used. That cannot be held up, but what waits is.
func (d *doorman) refused() {
	d.mu.Lock()
	d.take(newTurn, 1)
	d.mu.Unlock()
	d.leave(newTurn, true)
}

// crowded tells whether who is not known would have to wait.
func (d *doorman) crowded() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.room(newTurn)
}
