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
	case kind == '{' && s.fields != nil, kind == '[' && s.each != nil:
		return r.within(s, top)
	}
	v, err := r.in.ReadValue()
	if err != nil {
		return err
	}
	if s.scalar.keeps(v) {
		r.out = append(r.out, v...)
	} else {
		r.out = append(r.out, standIn[kind]...)
	}
	return nil
}

// standIn is a value of each kind that says nothing more.
var standIn = map[jsontext.Kind]string{'{': "{}", '[': "[]", '"': `""`, '0': "0", 't': "false", 'f': "false", 'n': "null"}

// within writes what is kept of the elements of an array, or of the fields of an object.
func (r *redaction) within(s *shape, top bool) error {
	begin, err := r.in.ReadToken()
	if err != nil {
		return err
	}
	r.out = append(r.out, byte(begin.Kind()))
	for first := true; r.in.PeekKind() != ']' && r.in.PeekKind() != '}'; first = false {
		if !first {
			r.out = append(r.out, ',')
		}
		if s.fields == nil {
			err = r.value(s.each, false)
		} else {
			err = r.field(s, top)
		}
		if err != nil {
			return err
		}
	}
	end, err := r.in.ReadToken()
	if err != nil {
		return err
	}
	r.out = append(r.out, byte(end.Kind()))
	return nil
}

func (r *redaction) field(s *shape, top bool) error {
	quoted, err := r.in.ReadValue()
	if err != nil {
		return err
	}
	r.out = append(append(r.out, quoted...), ':')
	name, err := jsontext.AppendUnquote(nil, quoted)
	switch {
	case err != nil && !quoted.IsValid(lenient...):
		return err
	case top && string(name) == "customer":
		return r.customer()
	}
	return r.value(s.fields[string(name)], false)
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
