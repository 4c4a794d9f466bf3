package ordering

import (
	"errors"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// ErrNoOrder is for an id that is no order's.
var ErrNoOrder = errors.New("no such online order")

// Move is something that the restaurant does to an order, or that happens to it there.
type Move struct {
	Kind string // one of Moves
	// Ready is the estimate of accept and of estimate; accept takes the location's time
	// without one.
	Ready int64
	// Code is why it is rejected; other without one.
	Code string
	// Text is the message of a rejection, the reason of a cancellation, or the method of a
	// payment (cash or card_at_counter).
	Text string
}

// The kinds of Move.
const (
	MoveAccept   = "accept"
	MoveReject   = "reject"
	MoveReady    = "ready"
	MoveComplete = "complete"
	MoveCancel   = "cancel"   // by the restaurant, once it has accepted
	MovePay      = "pay"      // an unpaid order is paid
	MoveEstimate = "estimate" // it will be ready at another time
)

// Moves are the kinds, and from which status each may be made (docs/openapi.yaml, OrderStatus).
var moves = map[string][]string{
	MoveAccept: {received}, MoveReject: {received}, MoveReady: {accepted}, MoveComplete: {ready},
	MoveCancel: {accepted, ready}, MoveEstimate: {accepted}, MovePay: {accepted, ready, completed},
}

// Moves are the kinds of Move, sorted.
func Moves() []string {
	kinds := make([]string, 0, len(moves))
	for k := range moves {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}

// transitions carries out what happens to orders: in the register, at the till, and by events.
type transitions struct {
	orders *register
	till   world.Till
	notify func(Event)
}

// do moves an order, and fails when its status does not allow that.
func (t *transitions) do(o *order, m Move, at int64) error {
	from, known := moves[m.Kind]
	switch {
	case !known:
		return fmt.Errorf("%q is none of %v", m.Kind, Moves())
	case !slices.Contains(from, o.status):
		return fmt.Errorf("it is %s; allowed from %v", o.status, from)
	case m.Kind == MovePay && o.paid:
		return errors.New("it is paid")
	}
	switch m.Kind {
	case MoveAccept:
		t.accept(o, m.Ready, at)
	case MoveReject:
		if m.Code == "" {
			m.Code = "other"
		}
		t.reject(o, m.Code, units.TextOrNull(m.Text), at)
	case MoveReady:
		o.status, o.readyAt = ready, t.orders.move(o, at)
		t.tell(o, "order.ready", at)
	case MoveComplete:
		o.status, o.done = completed, t.orders.move(o, at)
		t.tell(o, "order.completed", at)
	case MoveCancel:
		t.cancel(o, "restaurant", units.TextOrNull(m.Text), at)
	case MoveEstimate:
		o.estimated = t.orders.precision.Floor(m.Ready)
		t.orders.move(o, at)
	case MovePay:
		t.pay(o, m.Text, at)
	}
	return nil
}

// accept makes a paid order a sale; an unpaid one becomes it when it is paid.
func (t *transitions) accept(o *order, estimate, at int64) {
	o.status, o.acceptedAt = accepted, t.orders.move(o, at)
	o.estimated = t.orders.precision.Floor(estimate)
	if estimate == 0 {
		o.estimated = o.acceptedAt + defaultPrep
		if when := o.request.scheduledFor; when != nil {
			o.estimated = max(*when, o.acceptedAt)
		}
	}
	if o.paid {
		t.sell(o, "online", at)
	}
	t.tell(o, "order.accepted", at)
}

// defaultPrep is how long an order takes when nobody says.
const defaultPrep = 25 * units.Minute

func (t *transitions) reject(o *order, code string, message *string, at int64) {
	o.status, o.refused = rejected, t.orders.move(o, at)
	o.rejection = &types.OrderRejection{Code: code, Message: message}
	t.takeBack(o, at)
	t.tell(o, "order.rejected", at)
}

func (t *transitions) cancel(o *order, by string, reason *string, at int64) {
	o.status, o.off = cancelled, t.orders.move(o, at)
	o.cancellation = &types.OrderCancellation{By: by, Reason: reason}
	t.takeBack(o, at)
	t.tell(o, "order.cancelled", at)
}

// pay sends no event: the API's description has none for it.
func (t *transitions) pay(o *order, method string, at int64) {
	o.paid = true
	t.orders.move(o, at)
	if method == "" {
		method = "cash"
	}
	t.sell(o, method, at)
}

// sell makes a sale of the order on channel direct.
func (t *transitions) sell(o *order, method string, at int64) {
	if o.sale == "" {
		return
	}
	if err := t.till.Pay(o.sale, method, at); err != nil {
		panic("sandbox: " + err.Error()) // the till has every order that it rang
	}
}

func (t *transitions) takeBack(o *order, at int64) {
	if o.sale == "" {
		return
	}
	if err := t.till.Cancel(o.sale, at); err != nil {
		panic("sandbox: " + err.Error()) // the till has every order that it rang
	}
}

func (t *transitions) tell(o *order, event string, at int64) {
	if t.notify != nil {
		t.notify(Event{At: at, Type: event, App: o.app, Order: t.orders.shown(o)})
	}
}
