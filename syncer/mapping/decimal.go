package mapping

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"strconv"

	"github.com/larder-sync/larder/sinks"
)

// Decimals of the column types (DESIGN §4): Decimal(18,2) and Decimal(38,10).
const (
	moneyScale     = 2
	moneyDigits    = 18
	quantityScale  = 10
	quantityDigits = 38
)

const (
	notDecimal    = "want a decimal"
	largeMoney    = "more than 16 digits before the point"
	largeQuantity = "more than 28 digits before the point"
	largeInt      = "does not fit in 64 bits"
)

// parseMoney reads a decimal string into hundredths. Fewer than two decimals
// keep the value and are taken; more are not cut, they are refused, zeros too.
func parseMoney(s []byte) (int64, string) {
	d, ok := split(s, false)
	if !ok {
		return 0, notDecimal
	}
	n, reason := d.units(moneyScale, moneyDigits, largeMoney)
	return int64(n.Lo), reason
}

// parseQuantity reads a decimal string into units of 1e-10.
func parseQuantity(s []byte) (sinks.Int128, string) {
	d, ok := split(s, false)
	if !ok {
		return sinks.Int128{}, notDecimal
	}
	return d.units(quantityScale, quantityDigits, largeQuantity)
}

// parseNumber reads a JSON number into units of 1e-10. Decimals behind the tenth
// are cut: binary floats are printed with up to seventeen digits. finer reports
// whether they were not all zeros.
func parseNumber(s []byte) (n sinks.Int128, finer bool, reason string) {
	d, ok := split(s, true)
	if !ok {
		return sinks.Int128{}, false, notDecimal
	}
	finer = d.cut(quantityScale)
	n, reason = d.units(quantityScale, quantityDigits, largeQuantity)
	return n, finer, reason
}

// parseInt reads a JSON number that is whole, also where it is written as 1.0.
func parseInt(s []byte) (int64, string) {
	d, ok := split(s, true)
	if !ok {
		return 0, notDecimal
	}
	if d.cut(0) {
		return 0, "want a whole number"
	}
	n, reason := d.units(0, len("9223372036854775807"), largeInt)
	if reason == "" && n.Hi != int64(n.Lo)>>63 { // the sign does not fit beside the digits
		return 0, largeInt
	}
	return int64(n.Lo), reason
}

// units is the decimal in units of 10^-scale, of at most so many digits; beyond them the
// reason is large. The decimals counted are those written, after the exponent.
func (d *decimal) units(scale, most int, large string) (n sinks.Int128, reason string) {
	shift := scale - d.decimals
	if shift < 0 {
		return n, strconv.Itoa(d.decimals) + " decimals, at most " + strconv.Itoa(scale) + " fit"
	}
	if len(d.digits)+shift <= 18 { // nearly all
		for _, c := range d.digits {
			if c != '.' {
				n.Lo = n.Lo*10 + uint64(c-'0')
			}
		}
		n.Lo *= powers[shift]
	} else {
		text := bytes.TrimLeft(bytes.ReplaceAll(d.digits, []byte{'.'}, nil), "0")
		if len(text) == 0 {
			return n, ""
		}
		if len(text)+shift > most {
			return n, large
		}
		wide, _ := new(big.Int).SetString(string(append(text, bytes.Repeat([]byte{'0'}, shift)...)), 10)
		n.Lo = new(big.Int).And(wide, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		n.Hi = new(big.Int).Rsh(wide, 64).Int64()
	}
	if d.negative {
		n.Lo, n.Hi = -n.Lo, ^n.Hi
		if n.Lo == 0 {
			n.Hi++
		}
	}
	return n, ""
}

var powers = [19]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// cut takes off the decimals behind the scale, and reports whether any was not 0.
func (d *decimal) cut(scale int) (finer bool) {
	for ; d.decimals > scale && len(d.digits) > 0; d.digits = d.digits[:len(d.digits)-1] {
		if c := d.digits[len(d.digits)-1]; c != '.' {
			finer = finer || c != '0'
			d.decimals--
		}
	}
	d.decimals = min(d.decimals, scale)
	return finer
}

// decimal is a decimal as it is written.
type decimal struct {
	negative bool
	digits   []byte // with the point
	decimals int    // how many digits are behind the point, once the exponent has moved it
}

// farExponent replaces every exponent that is larger: no row has as many digits.
const farExponent = 100_000_000

// split reads [-]digits[.digits], and with exponent also [e[±]digits].
func split(s []byte, exponent bool) (d decimal, ok bool) {
	if len(s) > 0 && s[0] == '-' {
		d.negative, s = true, s[1:]
	}
	whole, rest := leadingDigits(s)
	d.digits = whole
	if len(rest) > 0 && rest[0] == '.' {
		var fraction []byte
		if fraction, rest = leadingDigits(rest[1:]); len(fraction) == 0 {
			return d, false
		}
		d.digits, d.decimals = s[:len(whole)+1+len(fraction)], len(fraction)
	}
	if exponent && len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') {
		e, err := strconv.Atoi(string(rest[1:])) // one that is out of range is the largest
		if _, behind := leadingDigits(bytes.TrimLeft(rest[1:], "+-")); len(behind) > 0 || errors.Is(err, strconv.ErrSyntax) {
			return d, false
		}
		d.decimals -= max(-farExponent, min(e, farExponent))
		rest = nil
	}
	return d, len(whole) > 0 && len(rest) == 0
}

func leadingDigits(s []byte) (digits, rest []byte) {
	for i, c := range s {
		if c < '0' || c > '9' {
			return s[:i], s[i:]
		}
	}
	return s, nil
}
