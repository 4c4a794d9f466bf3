// Package queue is what is to come, by its instant on the sandbox's clock. Contents: the order of
// instants.
package queue

import "container/heap"

// Timed gives out what was added by its instant, earliest first; what is at one instant, in
// the order it was added. Its zero value is empty.
type Timed[T any] struct {
	items items[T]
	seq   uint64
}

// Add enters what is to come at an instant, in microseconds.
func (q *Timed[T]) Add(at int64, what T) {
	q.seq++
	heap.Push(&q.items, item[T]{at, q.seq, what})
}

// Next is the first instant.
func (q *Timed[T]) Next() (at int64, ok bool) {
	if len(q.items) == 0 {
		return 0, false
	}
	return q.items[0].at, true
}

// Due takes out the first that is not after now.
func (q *Timed[T]) Due(now int64) (what T, ok bool) {
	if len(q.items) == 0 || q.items[0].at > now {
		return what, false
	}
	return heap.Pop(&q.items).(item[T]).what, true
}

type item[T any] struct {
	at   int64
	seq  uint64
	what T
}

type items[T any] []item[T]

func (h items[T]) Len() int { return len(h) }
func (h items[T]) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h items[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is heap.Interface's.
func (h *items[T]) Push(x any) { *h = append(*h, x.(item[T])) }

// Pop is heap.Interface's.
func (h *items[T]) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
