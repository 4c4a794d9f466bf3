package ordering

import (
	"errors"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// ErrNoOrder is for an id that is no order's.
var ErrNoOrder = errors.New("no such online order")

// maxReason is the length of a cancel reason (api.md, "Limits").
const maxReason = 255

// Cancel is POST /orders/{order_id}/cancel: the key takes an order back that nobody has
// answered. The body may be empty.
func (b *Book) Cancel(app App, id string, body []byte, now int64) (api.OnlineOrder, *Refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.byID[id]
	if o == nil || !o.sees(app) {
		return api.OnlineOrder{}, &Refusal{Code: CodeNotFound}
	}
	var reason *string
	if len(body) > 0 {
		in, refusal := readObject(body)
		if refusal != nil {
			return api.OnlineOrder{}, refusal
		}
		reason = in.text("reason", 0, maxReason, false)
		if refusal := in.bad.refusal(); refusal != nil {
			return api.OnlineOrder{}, refusal
		}
	}
	if o.status != received {
		return api.OnlineOrder{}, &Refusal{Code: CodeCannotCancel, Details: map[string]any{"status": o.status}}
	}
	b.cancel(o, "customer", reason, now)
	return b.shown(o), nil
}

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

// Moves are the kinds, and from which status each may be made (api.md, "Order status").
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

// Do moves an order, and fails when its status does not allow that.
func (b *Book) Do(id string, m Move, now int64) (api.OnlineOrder, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.byID[id]
	if o == nil {
		return api.OnlineOrder{}, fmt.Errorf("%s online order %q: %w", m.Kind, id, ErrNoOrder)
	}
	if err := b.do(o, m, now); err != nil {
		return api.OnlineOrder{}, fmt.Errorf("%s online order %q: %w", m.Kind, id, err)
	}
	return b.shown(o), nil
}

func (b *Book) do(o *order, m Move, at int64) error {
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
		b.accept(o, m.Ready, at)
	case MoveReject:
		if m.Code == "" {
			m.Code = "other"
		}
		b.reject(o, m.Code, units.TextOrNull(m.Text), at)
	case MoveReady:
		o.status, o.readyAt = ready, b.move(o, at)
		b.tell(o, "order.ready", at)
	case MoveComplete:
		o.status, o.done = completed, b.move(o, at)
		b.tell(o, "order.completed", at)
	case MoveCancel:
		b.cancel(o, "restaurant", units.TextOrNull(m.Text), at)
	case MoveEstimate:
		o.estimated = b.precision.Floor(m.Ready)
		b.move(o, at)
	case MovePay:
		b.pay(o, m.Text, at)
	}
	return nil
}

// move gives the order a new updated_at, which is the instant of what happened to it.
func (b *Book) move(o *order, at int64) int64 {
	stamp := b.stamp(at)
	b.enter(o, stamp)
	return stamp
}

// accept makes a paid order a sale; an unpaid one becomes it when it is paid.
func (b *Book) accept(o *order, estimate, at int64) {
	o.status, o.acceptedAt = accepted, b.move(o, at)
	o.estimated = b.precision.Floor(estimate)
	if estimate == 0 {
		o.estimated = o.acceptedAt + defaultPrep
		if when := o.request.scheduledFor; when != nil {
			o.estimated = max(*when, o.acceptedAt)
		}
	}
	if o.paid {
		b.sell(o, "online", at)
	}
	b.tell(o, "order.accepted", at)
}

// defaultPrep is how long an order takes when nobody says.
const defaultPrep = 25 * units.Minute

func (b *Book) reject(o *order, code string, message *string, at int64) {
	o.status, o.refused = rejected, b.move(o, at)
	o.rejection = &api.OrderRejection{Code: code, Message: message}
	b.takeBack(o, at)
	b.tell(o, "order.rejected", at)
}

func (b *Book) cancel(o *order, by string, reason *string, at int64) {
	o.status, o.off = cancelled, b.move(o, at)
	o.cancellation = &api.OrderCancellation{By: by, Reason: reason}
	b.takeBack(o, at)
	b.tell(o, "order.cancelled", at)
}

// pay is told to nobody: api.md has no event for it.
func (b *Book) pay(o *order, method string, at int64) {
	o.paid = true
	b.move(o, at)
	if method == "" {
		method = "cash"
	}
	b.sell(o, method, at)
}

// sell makes a sale of the order on channel direct.
func (b *Book) sell(o *order, method string, at int64) {
	if o.sale == "" {
		return
	}
	if err := b.till.Pay(o.sale, method, at); err != nil {
		panic("sandbox: " + err.Error()) // the till has every order that it rang
	}
}

func (b *Book) takeBack(o *order, at int64) {
	if o.sale == "" {
		return
	}
	if err := b.till.Cancel(o.sale, at); err != nil {
		panic("sandbox: " + err.Error()) // the till has every order that it rang
	}
}

func (b *Book) tell(o *order, event string, at int64) {
	if b.opts.Notify != nil {
		b.opts.Notify(Event{At: at, Type: event, App: o.app, Order: b.shown(o)})
	}
}
