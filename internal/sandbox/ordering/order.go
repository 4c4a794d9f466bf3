package ordering

import (
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// The values of "Order status".
const (
	received  = "received"
	accepted  = "accepted"
	ready     = "ready"
	completed = "completed"
	rejected  = "rejected"
	cancelled = "cancelled"
)

// order is one online order. Instants are in microseconds, 0 for none.
type order struct {
	n      int
	app    string
	test   bool
	id     string
	number string // on the receipt; "" for a test order
	sale   string // id at the till; "" for a test order

	request *request
	lines   []line
	totals  totals

	status                                                               string
	placed, answerBy, acceptedAt, estimated, readyAt, done, refused, off int64
	rejection                                                            *types.OrderRejection
	cancellation                                                         *types.OrderCancellation
	paid                                                                 bool
	stamp                                                                int64 // updated_at
}

// line is one item of an order, priced.
type line struct {
	dish        *dish
	variantID   *string
	variantName *string
	quantity    int
	unit        units.Bani
	options     []option
	notes       *string
	deposit     units.Bani // of all units
	total       units.Bani
}

type option struct {
	id, name string
	quantity int
	price    units.Bani
}

type totals struct{ items, deposit, tip, total units.Bani }

// instant is nil for 0.
func instant(us int64, p units.Precision) *types.Instant {
	if us == 0 {
		return nil
	}
	return new(types.Instant(p.Text(us)))
}

// shown is the order as the API has it.
func (o *order) shown(p units.Precision) types.OnlineOrder {
	at := func(us int64) *types.Instant { return instant(us, p) }
	r := o.request
	out := types.OnlineOrder{
		ID: o.id, ExternalID: r.externalID, Number: units.TextOrNull(o.number), PickupCode: o.pickupCode(), Status: o.status, Test: o.test,
		Type: r.typ, LocationID: r.locationID, PlacedAt: at(o.placed), AnswerBy: at(o.answerBy), AcceptedAt: at(o.acceptedAt),
		EstimatedReadyAt: at(o.estimated), ReadyAt: at(o.readyAt), CompletedAt: at(o.done),
		RejectedAt: at(o.refused), CancelledAt: at(o.off), Rejection: o.rejection, Cancellation: o.cancellation,
		Customer: &r.customer, Delivery: r.delivery, Notes: r.notes, Allergies: r.allergies, Cutlery: r.cutlery,
		Items: make([]types.OnlineItem, 0, len(o.lines)), Totals: o.totals.shown(), Payment: r.payment,
		CreatedAt: *at(o.placed), UpdatedAt: *at(o.stamp),
	}
	if r.scheduledFor != nil {
		out.ScheduledFor = at(*r.scheduledFor)
	}
	if out.Payment.Status = unpaid; o.paid {
		out.Payment.Status = paid
	}
	for i := range o.lines {
		out.Items = append(out.Items, o.lines[i].shown())
	}
	return out
}

// pickupCode is what the customer says at the counter: who has it brought needs none.
func (o *order) pickupCode() *string {
	if o.request.typ != pickup {
		return nil
	}
	code := []byte{'A' + byte(o.n/999%26), '-', '0', '0', '0'}
	for i, n := len(code)-1, o.n%999+1; n > 0; i, n = i-1, n/10 {
		code[i] = '0' + byte(n%10)
	}
	s := string(code)
	return &s
}

func (l *line) shown() types.OnlineItem {
	out := types.OnlineItem{
		ProductID: l.dish.ID, VariantID: l.variantID, Name: l.dish.Name, VariantName: l.variantName, Quantity: int64(l.quantity),
		UnitPrice: types.Money(l.unit.Money()), Options: make([]types.OnlineOption, 0, len(l.options)), Notes: l.notes,
		Deposit: types.Money(l.deposit.Money()), Total: types.Money(l.total.Money()),
	}
	for _, x := range l.options {
		out.Options = append(out.Options, types.OnlineOption{ID: x.id, Name: x.name, Quantity: int64(x.quantity), UnitPrice: types.Money(x.price.Money())})
	}
	return out
}

func (t totals) shown() types.OnlineTotals {
	return types.OnlineTotals{Items: types.Money(t.items.Money()), Deposit: types.Money(t.deposit.Money()), Tip: types.Money(t.tip.Money()), Total: types.Money(t.total.Money())}
}

// sum follows the API's rule: total = items + deposit + tip.
func sum(lines []line, tip units.Bani) totals {
	t := totals{tip: tip}
	for i := range lines {
		t.items += lines[i].total
		t.deposit += lines[i].deposit
	}
	t.total = t.items + t.deposit + t.tip
	return t
}
