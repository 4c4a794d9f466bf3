package ordering

import (
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// What becomes of an order is drawn when it is placed, from the seed and its number: of a
// thousand some are rejected, some never answered, some cancelled late, most are eaten.

// staff answers and prepares what is ordered.
type staff struct {
	seed         uint64
	appointments *appointments
}

// move is what the staff does at an appointment.
func (e *appointment) move() Move {
	switch e.what {
	case staffAccepts:
		return Move{Kind: MoveAccept, Ready: e.until}
	case staffRejects:
		return Move{Kind: MoveReject, Code: e.text}
	case estimateMoves:
		return Move{Kind: MoveEstimate, Ready: e.until}
	case staffReadies:
		return Move{Kind: MoveReady}
	case customerPays:
		return Move{Kind: MovePay, Text: e.text}
	case staffCompletes:
		return Move{Kind: MoveComplete}
	default:
		return Move{Kind: MoveCancel, Text: e.text}
	}
}

// plan draws the life of an order.
func (s *staff) plan(o *order, l *types.Location) {
	g := seeded.New(s.seed, 1, uint64(o.n))
	window := int(l.Ordering.AnswerWithinMinutes * 60)
	answer := o.placed + int64(g.Between(min(15, window/2), max(window*2/3, 1)))*units.Second
	switch x := g.N(1000); {
	case x < 45: // nobody looks
		return
	case x < 110:
		code := []string{"items_unavailable", "closing_soon", "other"}[g.Pick([]int{5, 2, 3})]
		s.appointments.add(appointment{at: answer, what: staffRejects, order: o, text: code})
		return
	}
	estimate := answer + l.Ordering.DefaultPrepMinutes*units.Minute + int64(g.Between(-5, 15))*units.Minute
	if when := o.request.scheduledFor; when != nil {
		estimate = *when
	}
	estimate = max(estimate, answer+5*units.Minute)
	s.appointments.add(appointment{at: answer, what: staffAccepts, order: o, until: estimate})
	s.planKitchen(o, &g, answer, estimate)
}

// planKitchen draws what follows once it is accepted.
func (s *staff) planKitchen(o *order, g *seeded.RNG, answer, estimate int64) {
	if g.Chance(20) { // something has run out after all
		s.appointments.add(appointment{at: answer + int64(g.Between(2, 10))*units.Minute, what: staffCancels, order: o, text: "Nu mai avem un produs."})
	}
	if g.Chance(250) {
		at := answer + (estimate-answer)/2
		estimate += int64(g.Between(4, 18)) * units.Minute
		s.appointments.add(appointment{at: at, what: estimateMoves, order: o, until: estimate})
	}
	cooked := max(estimate+int64(g.Between(-6, 9))*units.Minute, answer+4*units.Minute)
	s.appointments.add(appointment{at: cooked, what: staffReadies, order: o})
	if g.Chance(10) {
		s.appointments.add(appointment{at: cooked + 2*units.Minute, what: staffCancels, order: o, text: "Clientul nu a mai venit."})
	}
	gone := cooked + int64(g.Between(3, 20))*units.Minute
	if o.request.typ == delivery {
		gone = cooked + int64(g.Between(14, 40))*units.Minute
	}
	if !o.paid && !g.Chance(20) { // a few never pay
		method := []string{"cash", "card_at_counter"}[g.N(2)]
		at := gone - units.Second
		if g.Chance(150) { // the courier settles later
			at = gone + int64(g.Between(5, 45))*units.Minute
		}
		s.appointments.add(appointment{at: at, what: customerPays, order: o, text: method})
	}
	s.appointments.add(appointment{at: gone, what: staffCompletes, order: o})
}
