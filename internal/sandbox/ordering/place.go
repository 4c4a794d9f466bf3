package ordering

import (
	"fmt"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// Place is POST /orders. An order that the key placed before under the same external_id is
// returned as it is now, whatever else the body says: that is looked at first, so that also
// a body that would be refused today replays.
func (b *Book) Place(app App, body []byte, now int64) (placed types.OnlineOrder, replayed bool, refused *refusal.Refusal) {
	in, refused := readObject(body)
	if refused != nil {
		return placed, false, refused
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if id, ok := in.fields["external_id"].(string); ok {
		if o := b.orders.external[externalKey{app.ID, id}]; o != nil {
			return b.orders.shown(o), true, nil
		}
	}
	r, refused := readRequest(in, now, b.cal)
	if refused != nil {
		return placed, false, refused
	}
	o, refused := b.order(app, r, now)
	if refused != nil {
		return placed, false, refused
	}
	return b.orders.shown(o), false, nil
}

// order checks a request against the restaurant and, when all is well, takes it: "a refused
// (409 or 422) creates nothing".
func (b *Book) order(app App, r *request, now int64) (*order, *refusal.Refusal) {
	l, m, refused := b.where(app, r.locationID, now)
	if refused != nil {
		return nil, refused
	}
	if refused := checkLocation(&l, r, func(at int64) bool { return b.menus.openAt(l.ID, at) }); refused != nil {
		return nil, refused
	}
	lines, refused := checkItems(m, r.items)
	if refused != nil {
		return nil, refused
	}
	t := sum(lines, r.tip)
	if r.expected != nil && *r.expected != t.total {
		return nil, refusal.Of(refusal.PriceChanged)
	}
	o := &order{n: len(b.orders.all), app: app.ID, test: app.Test, request: r, lines: lines, totals: t, status: received, paid: r.payment.Status == paid}
	o.id = b.orders.newID()
	o.placed = b.orders.stamp(now)
	o.answerBy = o.placed + l.Ordering.AnswerWithinMinutes*units.Minute
	b.transitions.openSale(o)
	b.orders.add(o)
	b.appointments.add(appointment{at: o.answerBy, what: answerOver, order: o})
	if b.staff != nil {
		b.staff.plan(o, &l)
	}
	return o, nil
}

// where is the location of an order. One outside the key's is 403; for one that the
// restaurant does not have, or has closed for good, the API's description gives POST /orders no 404: it is
// a field that is wrong.
func (b *Book) where(app App, locationID string, now int64) (types.Location, *Menu, *refusal.Refusal) {
	l, m, ok := b.menus.at(app, locationID, now)
	if ok {
		return l, m, nil
	}
	bad := refusal.Invalid{}
	bad.Add("location_id", "The location is unknown.")
	refused := bad.Refusal()
	app.May = everywhere
	if _, _, there := b.menus.at(app, locationID, now); there {
		refused = refusal.Of(refusal.LocationForbidden)
	}
	return l, m, refused
}

// openSale puts a live order on the restaurant's till, where it is open from then on. A test
// order never gets there (docs/openapi.yaml, Test keys).
func (t *transitions) openSale(o *order) {
	if o.test {
		return
	}
	s := sales.Sale{LocationID: o.request.locationID, Type: "takeaway", Tip: o.totals.tip}
	if o.request.typ == delivery {
		s.Type = "delivery"
	}
	for i := range o.lines {
		s.Lines = append(s.Lines, o.lines[i].saleLine())
	}
	var err error
	if o.sale, o.number, err = t.till.Open(s, o.placed); err != nil {
		// It was there a moment ago, and locations are never removed.
		panic("sandbox: " + err.Error())
	}
}

// saleLine is the line as the till has it. An option taken more than once is one extra there,
// since an extra has a price and no quantity.
func (l *line) saleLine() sales.SaleLine {
	out := sales.SaleLine{ProductID: l.dish.ID, Name: l.dish.Name, Quantity: l.quantity, UnitPrice: l.unit, Deposit: l.dish.deposit}
	if l.variantID != nil {
		out.VariantID, out.VariantName = *l.variantID, *l.variantName
	}
	for _, x := range l.options {
		e := sales.SaleExtra{Name: x.name, Price: x.price * units.Bani(x.quantity)}
		if x.quantity > 1 {
			e.Name = fmt.Sprintf("%d × %s", x.quantity, x.name)
		}
		out.Extras = append(out.Extras, e)
	}
	return out
}
