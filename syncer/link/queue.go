package link

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Queue keeps the process away from the limit on wrong keys. An address that sends 30 requests
// with a wrong key within a minute is refused for the rest of that minute (api.md, "Errors").
// The address is the process's, whatever the sources' base URLs, so all sources share one queue.
//
// It admits requests with keys that are not known to be good. Who tries one takes a place, and
// keeps it for a minute when the key is refused.
//
// A key that was refused before waits behind those that were not, and can take half of
// the places only, and one when there is but one. So hundreds of wrong keys hold up neither a
// source that begins nor a key that has just been put in place.
type Queue struct {
	most, mostRepeats int // places, and how many of them are for keys that were refused before
	mu                sync.Mutex
	taken             int // places
	repeats           int // of them by keys that were refused before
	waiting           []*request
}

// mostRefused is how many requests of one address may be refused in a minute; other programs
// may run there.
const mostRefused = 20

// NewQueue is the queue of one of so many processes that may share an address. Each has one
// place at least: the limit is kept by up to 29 processes.
func NewQueue(processes int) *Queue {
	processes = max(processes, 1)
	most := max(mostRefused/processes, 1)
	return &Queue{most: most, mostRepeats: max(most/2, 1)}
}

// rank is the order in which requests are admitted.
type rank int

const (
	known     rank = iota // its source is mirrored, and all was well when it last ended
	untried               // the key has not been tried yet
	triedOnce             // the key was refused before
)

// request is a key that is tried, or waits to be.
type request struct {
	rank rank
	may  chan struct{} // closed when it may
}

// enter waits until a key may be tried with one request. The returned function gives the
// place back: at once, or in a minute when the request was refused.
func (q *Queue) enter(ctx context.Context, k rank) (leave func(refused bool), err error) {
	r := &request{rank: k, may: make(chan struct{})}
	q.mu.Lock()
	at := slices.IndexFunc(q.waiting, func(w *request) bool { return w.rank > k })
	if at < 0 {
		at = len(q.waiting)
	}
	q.waiting = slices.Insert(q.waiting, at, r)
	q.admit()
	q.mu.Unlock()
	select {
	case <-r.may:
		return func(refused bool) { q.leave(k, refused) }, nil
	case <-ctx.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		if at := slices.Index(q.waiting, r); at >= 0 {
			q.waiting = slices.Delete(q.waiting, at, at+1)
		} else { // it was admitted meanwhile
			q.take(k, -1)
			q.admit()
		}
		return nil, context.Cause(ctx)
	}
}

// admit lets those go that fit, in order; the caller holds the lock.
func (q *Queue) admit() {
	q.waiting = slices.DeleteFunc(q.waiting, func(r *request) bool {
		if !q.fits(r.rank) {
			return false
		}
		q.take(r.rank, 1)
		close(r.may)
		return true
	})
}

func (q *Queue) fits(k rank) bool {
	return q.taken < q.most && (k != triedOnce || q.repeats < q.mostRepeats)
}

func (q *Queue) take(k rank, places int) {
	q.taken += places
	if k == triedOnce {
		q.repeats += places
	}
}

func (q *Queue) leave(k rank, refused bool) {
	free := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.take(k, -1)
		q.admit()
	}
	if !refused {
		free()
		return
	}
	time.AfterFunc(time.Minute, free)
}

// refused counts a refused request that did not wait here, since the key was good when it
// was last used. Such a request cannot be held up. Those that wait are.
func (q *Queue) refused() {
	q.mu.Lock()
	q.take(untried, 1)
	q.mu.Unlock()
	q.leave(untried, true)
}

// full reports whether a new key would have to wait.
func (q *Queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.fits(untried)
}
