package personal

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Stored is what is kept of an order as it is stored: [Policy.Order], which may have been
// at work on it already. A pseudonym stays when pseudonyms are kept.
func (p Policy) Stored(raw []byte) []byte {
	if p.Mode() != Pseudonymise {
		return p.Order(raw)
	}
	kept := p.Order(raw)
	_, key := CustomerOf(raw)
	if key == "" {
		return kept
	}
	return []byte(strings.Replace(string(kept), `"`+CustomerKeyField+`":null`, `"`+CustomerKeyField+`":"`+key+`"`, 1))
}

// pseudonym is a value that has the form of one.
var pseudonym = regexp.MustCompile(`^"[0-9a-f]{64}"$`)

// CustomerOf is what an order says of its customer, as it is stored: the phone as it was
// written, or else the pseudonym. Both are empty where nothing is.
func CustomerOf(raw []byte) (phone, key string) {
	var customer jsontext.Value
	eachField(raw, func(name string, value jsontext.Value) {
		switch name {
		case "customer":
			customer = value.Clone()
		case CustomerKeyField:
			if key = ""; pseudonym.Match(value) {
				key = string(value[1 : len(value)-1])
			}
		}
	})
	if customer != nil && customer.Kind() != 'n' { // a pseudonym beside it is not ours
		return phoneOf(customer), ""
	}
	return "", key
}

// SamePhone is true when two texts are one phone; false for texts without a digit.
func SamePhone(a, b string) bool {
	number := normalise(a)
	return number != "" && number == normalise(b)
}

// KeepsColumn is true when the policy keeps the values of a column of the table of orders,
// which has the name that package mapping makes of the field's path.
func (p Policy) KeepsColumn(name string) bool {
	switch p.Mode() {
	case Keep:
		return true
	case Pseudonymise:
		return name == CustomerKeyField || pseudonymousColumns[name]
	}
	return orderColumns[name]
}

var orderColumns, pseudonymousColumns = order.columns(), pseudonymous.columns()

// columns are the names of the columns whose values a shape keeps.
func (s *shape) columns() map[string]bool {
	names := map[string]bool{}
	var add func(s *shape, path, separator string, listed bool)
	add = func(s *shape, path, separator string, listed bool) {
		switch {
		case s.each != nil:
			if !listed { // a dot comes once, behind the outermost list
				separator = "."
			}
			add(s.each, path, separator, true)
		case s.fields != nil:
			for name, sub := range s.fields {
				add(sub, path+separator+name, "_", listed)
			}
		default:
			names[path] = s.scalar != none
		}
	}
	add(s, "", "", false)
	return names
}
