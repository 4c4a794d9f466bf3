package personal

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CustomerKeyField is the field of an order that holds the pseudonym. It is ours, not
// the API's: one that the service sends is removed, unless all is kept.
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
	if err := r.value(top); err != nil {
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

// value writes what is kept of the next value.
func (r *redaction) value(s *shape) error {
	kind := r.in.PeekKind()
	if kind == '{' && s.fields != nil || kind == '[' && s.each != nil {
		return r.within(s)
	}
	v, err := r.in.ReadValue()
	switch {
	case err != nil:
		return err
	case s == customer:
		r.out = append(r.out, "null"...)
		if r.policy.Mode() != Pseudonymise {
			break
		}
		if key := r.policy.CustomerKey(phoneOf(v)); key != "" {
			r.out = append(append(append(r.out, `,"`+CustomerKeyField+`":"`...), key...), '"')
		}
	case s.scalar.keeps(v):
		r.out = append(r.out, v...)
	default:
		r.out = append(r.out, standIn[kind]...)
	}
	return nil
}

// standIn is a value of each kind that says nothing more.
var standIn = map[jsontext.Kind]string{'{': "{}", '[': "[]", '"': `""`, '0': "0", 't': "false", 'f': "false", 'n': "null"}

// within writes what is kept of the elements of an array, or of the fields of an object.
func (r *redaction) within(s *shape) error {
	begin, err := r.in.ReadToken()
	r.out = append(r.out, byte(begin.Kind()))
	for first := true; err == nil && r.in.PeekKind() != ']' && r.in.PeekKind() != '}'; first = false {
		if !first {
			r.out = append(r.out, ',')
		}
		of := s.each
		if s.fields != nil {
			var quoted jsontext.Value
			if quoted, err = r.in.ReadValue(); err != nil {
				return err
			}
			r.out = append(append(r.out, quoted...), ':')
			name, _ := jsontext.AppendUnquote(nil, quoted) // what is no UTF-8 names no field of ours
			of = s.fields[string(name)]
		}
		if of == nil {
			r.out = append(r.out, "null"...)
			err = r.in.SkipValue()
		} else {
			err = r.value(of)
		}
	}
	if err != nil {
		return err
	}
	end, err := r.in.ReadToken()
	r.out = append(r.out, byte(end.Kind()))
	return err
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
