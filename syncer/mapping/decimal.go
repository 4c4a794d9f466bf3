package mapping

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"strconv"

	"github.com/larder-sync/larder/sinks"
)

const notDecimal = "want a decimal"

// form is what a column of decimals holds.
type form struct {
	scale  int    // decimals
	digits int    // at most, decimals included
	large  string // why a value with more does not fit
}

// forms are the columns of each kind of decimals (docs/rules.md W3): Decimal(18,2), Decimal(38,10), Int64.
var forms = map[sinks.Kind]form{
	sinks.Money:    {2, 18, "more than 16 digits before the point"},
	sinks.Quantity: {10, 38, "more than 28 digits before the point"},
	sinks.Int:      {0, len("9223372036854775807"), "does not fit in 64 bits"},
}

// decimal reads a decimal into units of its column. In a string fewer decimals than the column
// has keep the value and are taken; more are not cut, they are refused, zeros too. Those of a JSON
// number are cut: binary floats are printed with up to seventeen digits. finer reports whether
// they were not all zeros; an integer has none.
func (s *scalar) decimal(text []byte) (n sinks.Int128, finer bool, reason string) {
	d, ok := split(text, s.number)
	if !ok {
		return n, false, notDecimal
	}
	finer = s.number && d.cut(s.form.scale)
	if s.kind != sinks.Int {
		n, reason = d.units(s.form)
		return n, finer, reason
	}
	if finer {
		return n, false, "want a whole number"
	}
	n, reason = d.units(s.form)
	if reason == "" && n.Hi != int64(n.Lo)>>63 { // the sign does not fit beside the digits
		return sinks.Int128{}, false, s.form.large
	}
	return n, false, reason
}

// units is the decimal in units of a column, or why it does not fit. The decimals counted are
// those written, after the exponent.
func (d *decimal) units(f form) (n sinks.Int128, reason string) {
	shift := f.scale - d.decimals
	if shift < 0 {
		return n, strconv.Itoa(d.decimals) + " decimals, at most " + strconv.Itoa(f.scale) + " fit"
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
		if len(text)+shift > f.digits {
			return n, f.large
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
