// Package keyprobe keeps the process away from the limit on wrong keys.
//
// An address that sends 30 requests with a wrong key within a minute is refused for the
// rest of that minute (api.md, "Errors"). The address is the process's, whatever the
// sources' base URLs, so all sources share one [Queue].
//
// Contents: who may try a key when.
package keyprobe

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Queue admits requests with keys that are not known to be good. Who tries one takes a
// place, and keeps it for a minute when the key is refused.
//
// A key that was refused before waits behind those that were not, and can take half of
// the places only, and one when there is but one. So hundreds of wrong keys hold up neither a source that begins nor a
// key that has just been put in place.
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

// Rank is the order in which requests are admitted.
type Rank int

// The ranks.
const (
	Known  Rank = iota // its source is mirrored, and all was well when it last ended
	New                // the key has not been tried yet
	Repeat             // the key was refused before
)

// request is a key that is tried, or waits to be.
type request struct {
	rank Rank
	may  chan struct{} // closed when it may
}

// Enter waits until a key may be tried with one request. The returned function gives the
// place back: at once, or in a minute when the request was refused.
func (q *Queue) Enter(ctx context.Context, rank Rank) (leave func(refused bool), err error) {
	r := &request{rank: rank, may: make(chan struct{})}
	q.mu.Lock()
	at := slices.IndexFunc(q.waiting, func(w *request) bool { return w.rank > rank })
	if at < 0 {
		at = len(q.waiting)
	}
	q.waiting = slices.Insert(q.waiting, at, r)
	q.admit()
	q.mu.Unlock()
	select {
	case <-r.may:
		return func(refused bool) { q.leave(rank, refused) }, nil
	case <-ctx.Done():
		q.giveUp(r)
		return nil, context.Cause(ctx)
	}
}

// admit lets go whom there is room for, in order; the caller holds the lock.
func (q *Queue) admit() {
	q.waiting = slices.DeleteFunc(q.waiting, func(r *request) bool {
		if !q.room(r.rank) {
			return false
		}
		q.take(r.rank, 1)
		close(r.may)
		return true
	})
}

func (q *Queue) room(rank Rank) bool {
	return q.taken < q.most && (rank != Repeat || q.repeats < q.mostRepeats)
}

func (q *Queue) take(rank Rank, places int) {
	q.taken += places
	if rank == Repeat {
		q.repeats += places
	}
}

func (q *Queue) leave(rank Rank, refused bool) {
	if !refused {
		q.free(rank)
		return
	}
	time.AfterFunc(time.Minute, func() { q.free(rank) })
}

func (q *Queue) free(rank Rank) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.take(rank, -1)
	q.admit()
}

// giveUp takes back a request whose caller does not wait any more.
func (q *Queue) giveUp(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(q.waiting, r); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		return
	}
	q.take(r.rank, -1) // it was admitted meanwhile
	q.admit()
}

// Refused counts a refused request that did not wait here, since the key was good when it
// was last used. Such a request cannot be held up. Those that wait are.
func (q *Queue) Refused() {
	q.mu.Lock()
	q.take(New, 1)
	q.mu.Unlock()
	q.leave(New, true)
}

// Full is true when a new key would have to wait.
func (q *Queue) Full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.room(New)
}
