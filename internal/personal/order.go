package personal

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CustomerKeyField is the field of an order that holds the pseudonym. It is ours, not
// api.md's: one that the service sends is removed, unless all is kept.
const CustomerKeyField = "customer_key"

// Order is what is kept of an order, as JSON. The raw one stays as it is. What is not kept is
// null. Of what is no JSON, nothing is kept: null.
func (p Policy) Order(raw []byte) []byte {
	r := redaction{policy: p, in: jsontext.NewDecoder(bytes.NewReader(raw), lenient...), out: make([]byte, 0, len(raw))}
	top := order
	switch p.Mode() {
	case Keep:
		return raw
	case Pseudonymise:
		top = pseudonymous
	}
	if err := r.value(top, true); err != nil {
		return []byte("null")
	}
	return r.out
}

// lenient has what comes twice, or is no UTF-8, go through: the mapping judges it.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// redaction is the way of one order.
type redaction struct {
	policy Policy
	in     *jsontext.Decoder
	out    []byte
}

// value writes what is kept of the next value; top is true of the order itself.
func (r *redaction) value(s *shape, top bool) error {
	kind := r.in.PeekKind()
	switch {
	case s == nil:
		r.out = append(r.out, "null"...)
		return r.in.SkipValue()
	case kind == '{' && s.fields != nil:
		return r.object(s, top)
	case kind == '[' && s.each != nil:
		return r.array(s.each)
	}
	v, err := r.in.ReadValue()
	if err != nil {
		return err
	}
	if s.scalar.keeps(v) {
		r.out = append(r.out, v...)
	} else {
		r.out = append(r.out, standIn(kind)...)
	}
	return nil
}

// standIn is a value of a kind that says nothing more.
func standIn(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "{}"
	case '[':
		return "[]"
	case '"':
		return `""`
	case '0':
		return "0"
	case 't', 'f':
		return "false"
	}
	return "null"
}

func (r *redaction) object(s *shape, top bool) error {
	if _, err := r.in.ReadToken(); err != nil {
		return err
	}
	r.out = append(r.out, '{')
	for first := true; r.in.PeekKind() != '}'; first = false {
		quoted, err := r.in.ReadValue()
		if err != nil {
			return err
		}
		if !first {
			r.out = append(r.out, ',')
		}
		r.out = append(append(r.out, quoted...), ':')
		name, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil && !quoted.IsValid(lenient...) {
			return err
		}
		if top && string(name) == "customer" {
			err = r.customer()
		} else {
			err = r.value(s.fields[string(name)], false)
		}
		if err != nil {
			return err
		}
	}
	_, err := r.in.ReadToken()
	r.out = append(r.out, '}')
	return err
}

func (r *redaction) array(each *shape) error {
	if _, err := r.in.ReadToken(); err != nil {
		return err
	}
	r.out = append(r.out, '[')
	for first := true; r.in.PeekKind() != ']'; first = false {
		if !first {
			r.out = append(r.out, ',')
		}
		if err := r.value(each, false); err != nil {
			return err
		}
	}
	_, err := r.in.ReadToken()
	r.out = append(r.out, ']')
	return err
}

// customer writes null in the place of the customer, and the pseudonym behind it where
// there is one.
func (r *redaction) customer() error {
	raw, err := r.in.ReadValue()
	if err != nil {
		return err
	}
	r.out = append(r.out, "null"...)
	if r.policy.Mode() != Pseudonymise {
		return nil
	}
	if key := r.policy.CustomerKey(phoneOf(raw)); key != "" {
		r.out = append(append(append(r.out, `,"`+CustomerKeyField+`":"`...), key...), '"')
	}
	return nil
}

// phoneOf is the phone of a customer; empty when there is none, or no text in its place.
func phoneOf(customer jsontext.Value) string {
	var known struct {
		Phone string `json:"phone"`
	}
	if json.Unmarshal(customer, &known, lenient...) != nil {
		return ""
	}
	return known.Phone
}
