package units

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// The append functions write JSON by hand: a page of 200 orders has some 10,000
// values, and encoding/json would be the sandbox's bottleneck.

// Bani is money in hundredths of a leu.
type Bani int64

// Milli is a quantity in thousandths.
type Milli int64

// AppendMoney writes an amount with two decimals (docs/openapi.yaml, Money).
func AppendMoney(b []byte, m Bani) []byte {
	b = append(b, '"')
	if m < 0 {
		b = append(b, '-')
		m = -m
	}
	b = strconv.AppendInt(b, int64(m/100), 10)
	c := m % 100
	return append(b, '.', byte('0'+c/10), byte('0'+c%10), '"')
}

// Money is the text of an amount, two decimals.
func (m Bani) Money() string {
	b := AppendMoney(nil, m)
	return string(b[1 : len(b)-1])
}

// AppendQuantity writes three decimals for weights and volumes, two for pieces
// (docs/openapi.yaml, Quantity).
func AppendQuantity(b []byte, q Milli, three bool) []byte {
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

// Quantity is the text of a quantity, as AppendQuantity writes it.
func (q Milli) Quantity(three bool) string {
	b := AppendQuantity(nil, q, three)
	return string(b[1 : len(b)-1])
}

// Precision is the step of instants as they are served: a second, a millisecond, a
// microsecond, 100 nanoseconds or one.
type Precision time.Duration

// Step is the distance between two instants, in microseconds: the world has nothing finer.
func (p Precision) Step() int64 { return max(time.Duration(p).Microseconds(), 1) }

// Floor is the last step that is not after an instant.
func (p Precision) Floor(us int64) int64 { return FloorDiv(us, p.Step()) * p.Step() }

// Text is an instant without quotes, as Append writes it.
func (p Precision) Text(us int64) string {
	b := p.Append(nil, us)
	return string(b[1 : len(b)-1])
}

// Append writes an instant in UTC with 0, 3, 6, 7 or 9 decimals. Those behind the sixth,
// which the world does not have, are made of the others.
func (p Precision) Append(b []byte, us int64) []byte {
	day := FloorDiv(us, FullDay)
	rest := us - day*FullDay
	b = append(b, '"')
	b = AppendDate(b, Day(day))
	sec := rest / Second
	b = append(b, 'T')
	b = append2(b, int(sec/3600))
	b = append(b, ':')
	b = append2(b, int(sec/60%60))
	b = append(b, ':')
	b = append2(b, int(sec%60))
	if time.Duration(p) < time.Second {
		b = append(b, '.')
		nanos := rest%Second*1000 + 100 + rest%900
		for unit := int64(100 * time.Millisecond); unit >= int64(p); unit /= 10 {
			b = append(b, byte('0'+nanos/unit%10))
		}
	}
	return append(b, 'Z', '"')
}

func append2(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// AppendDate writes YYYY-MM-DD, by the civil-from-days algorithm.
func AppendDate(b []byte, d Day) []byte {
	z := int64(d) + 719468
	era := FloorDiv(z, 146097)
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

// AppendString writes a JSON string; UTF-8 stays as it is.
func AppendString(b []byte, s string) []byte {
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

// AppendStringOrNull writes null for the empty string.
func AppendStringOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return AppendString(b, s)
}

// AppendBasisPoints writes hundredths of a percent as a JSON number: 10, 12.5. A long one
// has as many decimals as a binary float that was calculated with: 12.500000000000004.
func AppendBasisPoints(b []byte, bp int, long bool) []byte {
	b = strconv.AppendInt(b, int64(bp/100), 10)
	if long && bp != 0 {
		return append(append2(append(b, '.'), bp%100), "0000000000004"...)
	}
	if f := bp % 100; f != 0 {
		b = append(b, '.', byte('0'+f/10))
		if f%10 != 0 {
			b = append(b, byte('0'+f%10))
		}
	}
	return b
}

// JSON marshals types of the API, which cannot fail.
func JSON(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic("units: encode " + err.Error())
	}
	return out
}

// TextOrNull is null for "".
func TextOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// IntOrNull is null for 0.
func IntOrNull(n int) *int64 {
	if n == 0 {
		return nil
	}
	v := int64(n)
	return &v
}

// NotNil is an empty list for none, as the API's description writes lists.
func NotNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
