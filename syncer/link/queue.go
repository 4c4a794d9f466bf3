package link

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// Queue keeps the process away from the limit on wrong keys. An address that sends 30 requests
// with a wrong key within a minute is refused for the rest of that minute (docs/openapi.yaml, Limits a minute).
// The address is the process's, whatever the sources' base URLs, so all sources share one queue.
//
// It admits requests with keys that are not known to be good. A request keeps its place until it is
// answered, and for a minute more when the key is refused. Keys that have not been tried can take
// nine of ten places only, and those that were refused before half of them. The latter wait
// for no place, but for another probe: so a key that is put right meanwhile is tried at once. So
// hundreds of wrong keys hold up neither a source that begins nor a key that has just been put in
// place.
type Queue struct {
	places [3]*semaphore.Weighted // by rank: of keys of that rank and those after it
}

// mostRefused is how many requests of one address may be refused in a minute; other programs
// may run there.
const mostRefused = 20

// NewQueue is the queue of one of so many processes that may share an address. Each has one
// place at least: the limit is kept by up to 29 processes.
func NewQueue(processes int) *Queue {
	q, most := &Queue{}, mostRefused/max(processes, 1)
	for k, n := range [...]int{known: most, untried: most - most/10, triedOnce: most / 2} {
		q.places[k] = semaphore.NewWeighted(int64(max(n, 1)))
	}
	return q
}

// rank is how likely a key is to be refused.
type rank int

const (
	inService rank = iota - 1 // its source is served with it: it waits for no place
	known                     // its source is mirrored, and all was well when it last ended
	untried                   // the key has not been tried yet
	triedOnce                 // the key was refused before
)

// ErrBusy says that a key that was refused before cannot be tried again now.
var ErrBusy = errors.New("the key was refused, and so many wrong keys are tried that it has to wait")

// enter waits until a key may be tried with one request. The returned function gives the
// place back: at once, or in a minute when the request was refused.
func (q *Queue) enter(ctx context.Context, k rank) (leave func(refused bool), err error) {
	for i := k; i >= 0; i-- {
		var err error
		if k < triedOnce {
			err = q.places[i].Acquire(ctx, 1)
		} else if !q.places[i].TryAcquire(1) {
			err = ErrBusy
		}
		if err != nil {
			q.release(i+1, k)
			return nil, cmp.Or(context.Cause(ctx), err)
		}
	}
	return func(refused bool) {
		switch {
		case !refused:
			q.release(0, k)
		case k == inService:
			q.refused()
		default:
			time.AfterFunc(time.Minute, func() { q.release(0, k) })
		}
	}, nil
}

func (q *Queue) release(from, to rank) {
	for i := from; i <= to; i++ {
		q.places[i].Release(1)
	}
}

// full reports whether a key that has not been tried would have to wait.
func (q *Queue) full() bool {
	if !q.places[untried].TryAcquire(1) {
		return true
	}
	defer q.release(untried, untried)
	if !q.places[known].TryAcquire(1) {
		return true
	}
	q.release(known, known)
	return false
}

// refused counts a refused request that did not wait here, since the key was good when it
// was last used. Such a request cannot be held up. Those that wait are.
func (q *Queue) refused() {
	if q.places[known].TryAcquire(1) {
		time.AfterFunc(time.Minute, func() { q.release(known, known) })
	}
}
