package personal

import (
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// shape is what is kept of a value.
type shape struct {
	scalar scalar            // of a scalar
	fields map[string]*shape // of an object: what is kept of its fields
	each   *shape            // of an array: what is kept of its elements
}

// scalar is a kind of scalar that says nothing of a person. What is of another kind, or has
// another form, may: it is not kept.
type scalar int

const (
	none    scalar = iota
	text           // an id, a name of the menu, a word out of a list
	decimal        // money, as text
	instant        // as text
	number
	boolean
)

// keeps is true when a value is of the kind, and has its form.
func (s scalar) keeps(v jsontext.Value) bool {
	switch v.Kind() {
	case '"':
		return s == text || s == decimal && only(v, "0123456789-.", 24) || s == instant && only(v, "0123456789-+:.,TZ", 64)
	case '0':
		return s == number
	case 't', 'f':
		return s == boolean
	case 'n':
		return true
	}
	return false
}

// only is true when a quoted text is made of some letters alone, and is not longer.
func only(quoted jsontext.Value, letters string, most int) bool {
	inner := string(quoted[1 : len(quoted)-1])
	return len(inner) <= most && strings.Trim(inner, letters) == ""
}

func fields(of scalar, names ...string) map[string]*shape {
	s := map[string]*shape{}
	for _, name := range names {
		s[name] = &shape{scalar: of}
	}
	return s
}

func object(parts ...map[string]*shape) *shape {
	s := &shape{fields: map[string]*shape{}}
	for _, part := range parts {
		maps.Copy(s.fields, part)
	}
	return s
}

func list(parts ...map[string]*shape) *shape { return &shape{each: object(parts...)} }

// customer is the customer of an order: null, and the pseudonym behind it where there is one.
var customer = &shape{}

// order is what is kept of an order (docs/openapi.yaml, Order). Texts that people write are not: notes
// of the order, of its lines and of the delivery, allergies, the message of a rejection, the
// reason of a cancellation, the reference of a payment.
var order = object(
	fields(text, "id", "external_id", "number", "pickup_code", "status", "type", "location_id"),
	fields(boolean, "test", "cutlery"),
	fields(instant, "scheduled_for", "placed_at", "answer_by", "accepted_at", "estimated_ready_at", "ready_at", "completed_at", "rejected_at", "cancelled_at",
		"created_at", "updated_at"),
	map[string]*shape{
		"customer":     customer,
		"rejection":    object(fields(text, "code")),
		"cancellation": object(fields(text, "by")),
		"items": list(
			fields(text, "product_id", "variant_id", "name", "variant_name"), fields(number, "quantity"), fields(decimal, "unit_price", "deposit", "total"),
			map[string]*shape{"options": list(fields(text, "id", "name"), fields(number, "quantity"), fields(decimal, "unit_price"))},
		),
		"totals":  object(fields(decimal, "items", "deposit", "tip", "total")),
		"payment": object(fields(text, "status", "method")),
	},
)

// pseudonymous is what is kept of an order beside its pseudonym: the town, too.
var pseudonymous = object(order.fields, map[string]*shape{"delivery": object(fields(text, "city"))})
