package compare

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strings"
	"time"
)

// scalar is how a column of the kind shows a value of the API: text, decimals with
// all digits of the column, instants and days as strings; integers as numbers.
func scalar(k kind, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch k {
	case boolean:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, unfit("true or false", v)
	case integer:
		return numeric(v, 0)
	case number:
		return numeric(v, 10)
	}
	s, ok := v.(string)
	if !ok {
		return nil, unfit("a string", v)
	}
	switch k {
	case money:
		return amountText(s, 16, 2)
	case quantity:
		return amountText(s, 28, 10)
	case instant:
		return instantText(s)
	case day:
		return dayText(s)
	default:
		return s, nil
	}
}

// amountText writes a decimal string, of which a column holds so many digits before
// and behind the point.
func amountText(s string, whole, decimals int) (string, error) {
	unsigned, negative := strings.CutPrefix(s, "-")
	before, after, point := strings.Cut(unsigned, ".")
	if !digits(before) || point && !digits(after) {
		return "", unfit("a decimal", s)
	}
	before = strings.TrimLeft(before, "0")
	if len(before) > whole || len(after) > decimals {
		return "", unfit("a decimal that fits", s)
	}
	out := cmp.Or(before, "0") + "." + after + zeros[:decimals-len(after)]
	if negative && strings.Trim(out, "0.") != "" {
		out = "-" + out
	}
	return out, nil
}

func numeric(v any, decimals int) (any, error) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, unfit("a number", v)
	}
	s, err := decimalText(string(n), decimals)
	if err != nil || decimals > 0 {
		return s, err
	}
	return json.Number(s), nil
}

// maxExponent bounds the exponents that are calculated with: no column holds more.
const maxExponent = 60

// decimalText writes a decimal with so many decimals, which must hold it exactly.
func decimalText(s string, decimals int) (string, error) {
	if out, ok := padded(s, decimals); ok {
		return out, nil
	}
	r, ok := rational(s)
	if !ok {
		return "", unfit("a decimal", s)
	}
	out := r.FloatString(decimals)
	if back, ok := rational(out); !ok || back.Cmp(r) != 0 {
		return "", unfit("a decimal that fits", s)
	}
	return out, nil
}

// padded is decimalText for decimals as they nearly always are: digits and maybe
// a point, which lack some zeros.
func padded(s string, decimals int) (string, bool) {
	whole, fraction, point := strings.Cut(s, ".")
	unsigned := strings.TrimPrefix(whole, "-")
	switch {
	case !digits(unsigned) || unsigned != "0" && unsigned[0] == '0' || whole == "-0":
		return "", false
	case point && !digits(fraction) || len(fraction) > decimals:
		return "", false
	case decimals == 0:
		return whole, true
	}
	return whole + "." + fraction + zeros[:decimals-len(fraction)], true
}

const zeros = "0000000000"

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// rational reads a decimal of JSON's form, of a sensible size.
func rational(s string) (*big.Rat, bool) {
	digits, exponent, scientific := strings.Cut(strings.ToLower(s), "e")
	if digits == "" || strings.Trim(digits, "-0123456789.") != "" || len(s) > 200 {
		return nil, false
	}
	if scientific {
		e, ok := new(big.Int).SetString(exponent, 10)
		if !ok || e.CmpAbs(big.NewInt(maxExponent)) > 0 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// instantText writes an instant as its column shows it: UTC, microseconds.
func instantText(s string) (string, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05.999999999", s) // without an offset it is UTC
	}
	if err != nil {
		return "", unfit("an instant", s)
	}
	if t.Nanosecond()%1000 != 0 {
		return "", unfit("an instant of whole microseconds", s)
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
}

func dayText(s string) (string, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", unfit("a day", s)
	}
	return s, nil
}
