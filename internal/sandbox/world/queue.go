package world

import "container/heap"

// Queue gives out what is to come by its instant on the sandbox's clock, earliest first; what is
// at one instant, in the order it was added. Its zero value is empty.
type Queue[T any] struct {
	items queueItems[T]
	seq   uint64
}

// Add enters what is to come at an instant, in microseconds.
func (q *Queue[T]) Add(at int64, what T) {
	q.seq++
	heap.Push(&q.items, queueItem[T]{at, q.seq, what})
}

// Next is the first instant.
func (q *Queue[T]) Next() (at int64, ok bool) {
	if len(q.items) == 0 {
		return 0, false
	}
	return q.items[0].at, true
}

// Due takes out the first that is not after now.
func (q *Queue[T]) Due(now int64) (what T, ok bool) {
	if len(q.items) == 0 || q.items[0].at > now {
		return what, false
	}
	return heap.Pop(&q.items).(queueItem[T]).what, true
}

type queueItem[T any] struct {
	at   int64
	seq  uint64
	what T
}

type queueItems[T any] []queueItem[T]

func (h queueItems[T]) Len() int { return len(h) }
func (h queueItems[T]) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h queueItems[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is heap.Interface's.
func (h *queueItems[T]) Push(x any) { *h = append(*h, x.(queueItem[T])) }

// Pop is heap.Interface's.
func (h *queueItems[T]) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
