package ordering

import "container/heap"

// occasion is what happens at an appointment.
type occasion uint8

const (
	answerOver   occasion = iota // nobody answered before answer_by
	staffAccepts                 // what the staff does, in the order of an order's life
	staffRejects
	estimateMoves
	staffReadies
	customerPays
	staffCompletes
	staffCancels
	minuteBegins // guests are drawn minute by minute
	guestOrders
)

// appointment is something that happens at an instant, of an order or at a location.
type appointment struct {
	at       int64
	seq      int
	what     occasion
	order    *order
	location string
	until    int64  // estimateMoves, staffAccepts: the new estimate
	text     string // code of a rejection, reason of a cancellation, method of a payment
}

// agenda holds what is to come, earliest first; what is at one instant, in the order it was
// entered.
type agenda struct {
	heap appointments
	seq  int
}

type appointments []appointment

func (h appointments) Len() int { return len(h) }
func (h appointments) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h appointments) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is heap.Interface's.
func (h *appointments) Push(x any) { *h = append(*h, x.(appointment)) }

// Pop is heap.Interface's.
func (h *appointments) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (a *agenda) add(e appointment) {
	a.seq++
	e.seq = a.seq
	heap.Push(&a.heap, e)
}

// next is when the first appointment is.
func (a *agenda) next() (at int64, ok bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].at, true
}

// due takes out the first appointment that is not after now.
func (a *agenda) due(now int64) (appointment, bool) {
	if len(a.heap) == 0 || a.heap[0].at > now {
		return appointment{}, false
	}
	return heap.Pop(&a.heap).(appointment), true
}
