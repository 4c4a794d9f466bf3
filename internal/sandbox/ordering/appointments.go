package ordering

import "github.com/larder-sync/larder/internal/sandbox/world"

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
	what     occasion
	order    *order
	location string
	until    int64  // estimateMoves, staffAccepts: the new estimate
	text     string // code of a rejection, reason of a cancellation, method of a payment
}

// appointments holds what is to come.
type appointments struct{ world.Queue[appointment] }

func (a *appointments) add(e appointment) { a.Add(e.at, e) }
