package mapping

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"

	"github.com/larder-sync/larder/sinks"
)

// Decimals of the column types (DESIGN §4): Decimal(18,2) and Decimal(38,10).
const (
	moneyScale    = 2
	quantityScale = 10
	moneyLimit    = 1_000_000_000_000_000_000 // 10^18 hundredths
)

// quantityLimit is 10^38.
var quantityLimit = uint128{hi: 0x4b3b4ca85a86c47a, lo: 0x098a224000000000}

const notDecimal = "want a decimal"

// parseMoney reads a decimal string into hundredths. Fewer than two decimals
// keep the value and are taken; more are not cut, they are refused, zeros too.
func parseMoney(s []byte) (int64, string) {
	u, negative, reason := parseDecimal(s, moneyScale)
	if reason != "" {
		return 0, reason
	}
	if u.hi != 0 || u.lo >= moneyLimit {
		return 0, "more than 16 digits before the point"
	}
	return signed(u.lo, negative), ""
}

// parseQuantity reads a decimal string into units of 1e-10.
func parseQuantity(s []byte) (sinks.Int128, string) {
	u, negative, reason := parseDecimal(s, quantityScale)
	if reason != "" {
		return sinks.Int128{}, reason
	}
	return quantity(u, negative)
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
	u, reason := d.units(quantityScale)
	if reason == "" {
		n, reason = quantity(u, d.negative)
	}
	return n, finer, reason
}

func quantity(u uint128, negative bool) (sinks.Int128, string) {
	if !u.less(quantityLimit) {
		return sinks.Int128{}, "more than 28 digits before the point"
	}
	if negative {
		lo, borrow := bits.Sub64(0, u.lo, 0)
		hi, _ := bits.Sub64(0, u.hi, borrow)
		u = uint128{hi: hi, lo: lo}
	}
	return sinks.Int128{Lo: u.lo, Hi: int64(u.hi)}, ""
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
	u, reason := d.units(0)
	if reason != "" {
		return 0, reason
	}
	limit := uint64(math.MaxInt64)
	if d.negative {
		limit++
	}
	if u.hi != 0 || u.lo > limit {
		return 0, "does not fit in 64 bits"
	}
	return signed(u.lo, d.negative), ""
}

func signed(u uint64, negative bool) int64 {
	if negative {
		return -int64(u)
	}
	return int64(u)
}

// parseDecimal reads [-]digits[.digits] exactly, in units of 10^-scale.
func parseDecimal(s []byte, scale int) (u uint128, negative bool, reason string) {
	d, ok := split(s, false)
	if !ok {
		return uint128{}, false, notDecimal
	}
	u, reason = d.units(scale)
	return u, d.negative, reason
}

// units is the decimal in units of 10^-scale, without its sign. The decimals
// counted are those written, after the exponent.
func (d *decimal) units(scale int) (u uint128, reason string) {
	decimals := len(d.fraction) - d.exponent
	if decimals > scale {
		return uint128{}, strconv.Itoa(decimals) + " decimals, at most " + strconv.Itoa(scale) + " fit"
	}
	u, fits := digits(d.whole, d.fraction)
	if fits && (u != uint128{}) {
		u, fits = u.shift(scale - decimals)
	}
	if !fits {
		return uint128{}, "too many digits"
	}
	return u, ""
}

// cut takes off the decimals behind the scale, and reports whether any was not 0.
func (d *decimal) cut(scale int) (finer bool) {
	more := len(d.fraction) - d.exponent - scale
	for _, run := range []*[]byte{&d.fraction, &d.whole} {
		n := max(min(more, len(*run)), 0)
		kept, gone := (*run)[:len(*run)-n], (*run)[len(*run)-n:]
		finer = finer || len(bytes.Trim(gone, "0")) > 0
		*run, more = kept, more-n
	}
	d.exponent = max(d.exponent, len(d.fraction)-scale)
	return finer
}

// decimal is a decimal taken apart.
type decimal struct {
	negative        bool
	whole, fraction []byte
	exponent        int
}

// split reads [-]digits[.digits], and with exponent also [e[±]digits].
func split(s []byte, exponent bool) (d decimal, ok bool) {
	if len(s) > 0 && s[0] == '-' {
		d.negative, s = true, s[1:]
	}
	d.whole, s = leadingDigits(s)
	if len(d.whole) == 0 {
		return d, false
	}
	if len(s) > 0 && s[0] == '.' {
		d.fraction, s = leadingDigits(s[1:])
		if len(d.fraction) == 0 {
			return d, false
		}
	}
	if exponent && len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		return d, d.readExponent(s[1:])
	}
	return d, len(s) == 0
}

// farExponent stands for every exponent that is larger: no row has as many digits.
const farExponent = 100_000_000

func (d *decimal) readExponent(s []byte) bool {
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	digits, rest := leadingDigits(s)
	if len(digits) == 0 || len(rest) > 0 {
		return false
	}
	for _, c := range digits {
		d.exponent = min(d.exponent*10+int(c-'0'), farExponent)
	}
	if negative {
		d.exponent = -d.exponent
	}
	return true
}

func leadingDigits(s []byte) (digits, rest []byte) {
	for i, c := range s {
		if c < '0' || c > '9' {
			return s[:i], s[i:]
		}
	}
	return s, nil
}

// digits is the number that two runs of digits make together.
func digits(whole, fraction []byte) (u uint128, fits bool) {
	if len(whole)+len(fraction) <= 18 {
		for _, c := range whole {
			u.lo = u.lo*10 + uint64(c-'0')
		}
		for _, c := range fraction {
			u.lo = u.lo*10 + uint64(c-'0')
		}
		return u, true
	}
	for _, run := range [2][]byte{whole, fraction} {
		for _, c := range run {
			if u, fits = u.times(10, uint64(c-'0')); !fits {
				return u, false
			}
		}
	}
	return u, true
}

type uint128 struct{ hi, lo uint64 }

func (u uint128) less(v uint128) bool {
	return u.hi < v.hi || u.hi == v.hi && u.lo < v.lo
}

// times returns u*f + plus.
func (u uint128) times(f, plus uint64) (uint128, bool) {
	carry, lo := bits.Mul64(u.lo, f)
	over, hi := bits.Mul64(u.hi, f)
	lo, c := bits.Add64(lo, plus, 0)
	hi, c2 := bits.Add64(hi, carry, c)
	return uint128{hi: hi, lo: lo}, over == 0 && c2 == 0
}

// shift returns u * 10^n for a u that is not zero.
func (u uint128) shift(n int) (uint128, bool) {
	fits := n <= 38
	for ; n > 0 && fits; n -= 18 {
		u, fits = u.times(powers[min(n, 18)], 0)
	}
	return u, fits
}

var powers = [19]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}
