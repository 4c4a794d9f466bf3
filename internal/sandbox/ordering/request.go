package ordering

import (
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// request is a valid body of POST /orders (docs/openapi.yaml, OrderRequest): the fields make sense,
// and nothing of it has been looked up.
type request struct {
	externalID, locationID, typ string
	scheduledFor                *int64 // nil: as soon as possible
	customer                    types.OrderCustomer
	delivery                    *types.OrderDelivery
	items                       []requestItem
	notes, allergies            *string
	cutlery                     *bool
	tip                         units.Bani
	payment                     types.OnlinePayment
	expected                    *units.Bani
}

type requestItem struct {
	productID string
	variantID *string
	quantity  int
	options   []requestOption
	notes     *string
}

type requestOption struct {
	id       string
	quantity int
}

// The values of the API's description.
const (
	pickup   = "pickup"
	delivery = "delivery"
	paid     = "paid"
	unpaid   = "unpaid"
)

// readRequest reads the whole order, so that all that is wrong is reported at once.
func readRequest(o object, now int64, cal *units.Calendar) (*request, *refusal.Refusal) {
	r := &request{
		externalID: externalID(o),
		// The API's description gives ids no length. One that is too long for any is just unknown.
		locationID: o.need("location_id", 1, anyLength),
		typ:        o.choice("type", pickup, delivery),
		notes:      o.text("notes", 0, 500, false),
		allergies:  o.text("allergies", 0, 255, false),
		cutlery:    o.flag("cutlery"),
		expected:   o.amount("expected_total"),
	}
	if r.scheduledFor = o.instant("scheduled_for"); r.scheduledFor != nil {
		checkSchedule(o, *r.scheduledFor, now, cal)
	}
	if c, ok := o.child("customer", true); ok {
		r.customer = types.OrderCustomer{Name: c.need("name", 1, 120), Phone: c.need("phone", 6, 40), Email: c.text("email", 0, 190, false)}
	}
	if d, ok := o.child("delivery", r.typ == delivery); ok {
		r.delivery = &types.OrderDelivery{
			Address: new(d.need("address", 1, 255)), City: d.text("city", 0, anyLength, false), Notes: d.text("notes", 0, 255, false),
			Lat: d.number("lat"), Lng: d.number("lng"),
		}
	}
	for _, i := range o.children("items", 1, 100) {
		r.items = append(r.items, readItem(i))
	}
	if tip := o.amount("tip"); tip != nil {
		r.tip = *tip
	}
	if p, ok := o.child("payment", true); ok {
		r.payment = types.OnlinePayment{
			Status: p.choice("status", paid, unpaid), Method: p.text("method", 0, anyLength, false), Reference: p.text("reference", 0, 100, false),
		}
	}
	return r, o.bad.Refusal()
}

// How far ahead an order may be scheduled (docs/openapi.yaml, OrderRequest).
const (
	soonest = 20 * units.Minute
	latest  = 12 * units.Hour
)

// checkSchedule checks the part of the rule that needs no location. Today is the restaurant's calendar day, so at 23:50 no order can be
// scheduled, also by a restaurant that is open after midnight.
func checkSchedule(o object, at, now int64, cal *units.Calendar) {
	switch {
	case at < now+soonest:
		o.wrong("scheduled_for", "must be at least 20 minutes ahead")
	case at > now+latest:
		o.wrong("scheduled_for", "must be at most 12 hours ahead")
	case cal.Day(at) != cal.Day(now):
		o.wrong("scheduled_for", "must be today")
	}
}

func externalID(o object) string { return o.need("external_id", 1, maxExternalID) }

const maxExternalID = 64

func readItem(o object) requestItem {
	item := requestItem{
		productID: o.need("product_id", 1, anyLength),
		variantID: o.text("variant_id", 0, anyLength, false),
		quantity:  o.whole("quantity", 1, 99, 0),
		notes:     o.text("notes", 0, 200, false),
	}
	for _, x := range o.children("options", 0, 0) {
		item.options = append(item.options, requestOption{id: x.need("id", 1, anyLength), quantity: x.whole("quantity", 1, 10, 1)})
	}
	return item
}
