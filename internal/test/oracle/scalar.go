package oracle

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
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

// decimalText writes a JSON number with so many decimals. What is finer is cut, as in
// its column; an integer has nothing that is finer.
func decimalText(s string, decimals int) (string, error) {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(s), "e")
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	before, after, point := strings.Cut(unsigned, ".")
	if !digits(before) || point && !digits(after) || scientific && !digits(strings.TrimLeft(exponent, "+-")) {
		return "", unfit("a decimal", s)
	}
	shift, _ := strconv.ParseInt(exponent, 10, 32) // the nearest 32 bits when it is larger
	all := strings.TrimLeft(before+after, "0")
	whole := len(all) - len(after) + int(shift) // digits before the point
	switch {
	case all == "":
		whole = 0
	case whole > maxWhole:
		return "", unfit("a decimal that fits", s)
	case whole < 0: // zeros behind the point, as many as can count
		missing := min(-whole, decimals)
		all, whole = zeros[:missing]+all, 0
	}
	if n := whole + decimals - len(all); n > 0 {
		all += strings.Repeat("0", n)
	}
	out, finer := all[:whole+decimals], all[whole+decimals:]
	if decimals == 0 && strings.Trim(finer, "0") != "" {
		return "", unfit("a whole number", s)
	}
	sign := ""
	if negative && strings.Trim(out, "0") != "" {
		sign = "-"
	}
	if decimals == 0 {
		return sign + cmp.Or(out, "0"), nil
	}
	return sign + cmp.Or(out[:whole], "0") + "." + out[whole:], nil
}

// maxWhole is how many digits before the point a column holds at most.
const maxWhole = 28

const zeros = "0000000000"

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// maxExponent bounds the exponents that are calculated with: no column holds more.
const maxExponent = 60

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

// instantForms are those of ISO 8601 that a row may hold. A fraction of a second, behind
// a point or a comma, is read by any of them; without an offset it is UTC.
var instantForms = []string{
	time.RFC3339, "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z07", "2006-01-02T15:04Z0700", "2006-01-02T15:04",
}

// instantText writes an instant as its column shows it: UTC, cut to microseconds.
func instantText(s string) (string, error) {
	for _, form := range instantForms {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
		}
	}
	return "", unfit("an instant", s)
}

func dayText(s string) (string, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", unfit("a day", s)
	}
	return s, nil
}
