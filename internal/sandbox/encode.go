package sandbox

import (
	"strconv"
	"unicode/utf8"
)

// The append functions write JSON by hand: a page of 200 orders has some 10,000
// values, and encoding/json would be the sandbox's bottleneck.

// bani is money in hundredths of a leu.
type bani int64

// milli is a quantity in thousandths.
type milli int64

func appendMoney(b []byte, m bani) []byte {
	b = append(b, '"')
	if m < 0 {
		b = append(b, '-')
		m = -m
	}
	b = strconv.AppendInt(b, int64(m/100), 10)
	c := m % 100
	return append(b, '.', byte('0'+c/10), byte('0'+c%10), '"')
}

// money is the text of an amount, two decimals.
func (m bani) money() string {
	b := appendMoney(nil, m)
	return string(b[1 : len(b)-1])
}

// appendQuantity writes three decimals for weights and volumes, two for pieces
// (api.md, "Conventions").
func appendQuantity(b []byte, q milli, three bool) []byte {
	b = append(b, '"')
	if q < 0 {
		b = append(b, '-')
		q = -q
	}
	b = strconv.AppendInt(b, int64(q/1000), 10)
	f := q % 1000
	b = append(b, '.', byte('0'+f/100), byte('0'+f/10%10))
	if three {
		b = append(b, byte('0'+f%10))
	}
	return append(b, '"')
}

func (q milli) quantity(three bool) string {
	b := appendQuantity(nil, q, three)
	return string(b[1 : len(b)-1])
}

// appendInstant writes an instant in UTC with 0, 3 or 6 decimals.
func appendInstant(b []byte, us int64, decimals int) []byte {
	day := floorDiv(us, usDay)
	rest := us - day*usDay
	b = append(b, '"')
	b = appendDate(b, Day(day))
	sec := rest / usSecond
	b = append(b, 'T')
	b = append2(b, int(sec/3600))
	b = append(b, ':')
	b = append2(b, int(sec/60%60))
	b = append(b, ':')
	b = append2(b, int(sec%60))
	if decimals > 0 {
		b = append(b, '.')
		frac := int(rest % usSecond)
		for i, unit := 0, 100_000; i < decimals; i, unit = i+1, unit/10 {
			b = append(b, byte('0'+frac/unit%10))
		}
	}
	return append(b, 'Z', '"')
}

func append2(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// appendDate writes YYYY-MM-DD, by the civil-from-days algorithm.
func appendDate(b []byte, d Day) []byte {
	z := int64(d) + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day := doy - (153*mp+2)/5 + 1
	month, year := mp+3, yoe+era*400
	if month > 12 {
		month, year = month-12, year+1
	}
	b = append2(b, int(year/100))
	b = append2(b, int(year%100))
	b = append(b, '-')
	b = append2(b, int(month))
	b = append(b, '-')
	return append2(b, int(day))
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string; UTF-8 stays as it is.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf || c >= ' ' && c != '"' && c != '\\' {
			b = append(b, c)
			i++
			continue
		}
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
	}
	return append(b, '"')
}

// appendStringOrNull writes null for the empty string.
func appendStringOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

// appendBasisPoints writes hundredths of a percent as a JSON number: 10, 12.5.
func appendBasisPoints(b []byte, bp int) []byte {
	b = strconv.AppendInt(b, int64(bp/100), 10)
	if f := bp % 100; f != 0 {
		b = append(b, '.', byte('0'+f/10))
		if f%10 != 0 {
			b = append(b, byte('0'+f%10))
		}
	}
	return b
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
