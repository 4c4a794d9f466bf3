package mapping

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   int64
		reason string
	}{
		{"12.50", 1250, ""},
		{"12.5", 1250, ""},
		{"12", 1200, ""},
		{"-0.01", -1, ""},
		{"-0.00", 0, ""},
		{"007.10", 710, ""},
		{"0000000000000000000000000000.10", 10, ""},
		{"9999999999999999.99", 999999999999999999, ""},
		{"-9999999999999999.99", -999999999999999999, ""},
		{"10000000000000000.00", 0, "more than 16 digits before the point"},
		{"184467440737095516.16", 0, "more than 16 digits before the point"},
		{"340282366920938463463374607431768211456.00", 0, "too many digits"},
		{"0.001", 0, "3 decimals, at most 2 fit"},
		{"1.000", 0, "3 decimals, at most 2 fit"},
		{"", 0, notDecimal}, {"-", 0, notDecimal}, {"+1.00", 0, notDecimal}, {".50", 0, notDecimal}, {"1.", 0, notDecimal},
		{"1,50", 0, notDecimal}, {"1 000.00", 0, notDecimal}, {" 1.00", 0, notDecimal}, {"1.00 ", 0, notDecimal}, {"1e1", 0, notDecimal},
		{"--1", 0, notDecimal}, {"1.0.0", 0, notDecimal}, {"0x10", 0, notDecimal}, {"abc", 0, notDecimal}, {"NaN", 0, notDecimal}, {"١.00", 0, notDecimal},
	} {
		if got, reason := parseMoney([]byte(c.text)); got != c.want || reason != c.reason {
			t.Errorf("%q: got %d, %q", c.text, got, reason)
		}
	}
}

func TestQuantity(t *testing.T) {
	digits28 := strings.Repeat("9", 28)
	for _, c := range []struct {
		text   string
		number bool
		want   string
		reason string
	}{
		{"0.350", false, "0.3500000000", ""},
		{"-2.00", false, "-2.0000000000", ""},
		{digits28 + ".9999999999", false, digits28 + ".9999999999", ""},
		{"-" + digits28 + ".9999999999", false, "-" + digits28 + ".9999999999", ""},
		{"1" + strings.Repeat("0", 28), false, "", "more than 28 digits before the point"},
		{"1" + strings.Repeat("0", 29), false, "", "too many digits"},
		{strings.Repeat("9", 60), false, "", "too many digits"},
		{"0.00000000001", false, "", "11 decimals, at most 10 fit"},
		{"1e1", false, "", notDecimal},
		{"1e1", true, "10.0000000000", ""},
		{"1.5E+2", true, "150.0000000000", ""},
		{"15e-1", true, "1.5000000000", ""},
		{"-1e-10", true, "-0.0000000001", ""},
		{"1e-11", true, "", "11 decimals, at most 10 fit"},
		{"1e27", true, "1" + strings.Repeat("0", 27) + ".0000000000", ""},
		{"1e28", true, "", "more than 28 digits before the point"},
		{"1e29", true, "", "too many digits"},
		{"1e999999999999999999999", true, "", "too many digits"},
		{"1e-999999999999999999999", true, "", "100000 decimals, at most 10 fit"},
		{"0e999999999999999999999", true, "0.0000000000", ""},
		{"0.1000000000000000055511151231257827", true, "", "34 decimals, at most 10 fit"},
	} {
		got, reason := parseQuantity([]byte(c.text), c.number)
		if reason != c.reason || reason == "" && point(wide(got), quantityScale) != c.want {
			t.Errorf("%s: got %s, %q", c.text, point(wide(got), quantityScale), reason)
		}
	}
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   int64
		reason string
	}{
		{"0", 0, ""}, {"-0", 0, ""}, {"42", 42, ""}, {"1e3", 1000, ""}, {"1.5e1", 15, ""},
		{"9223372036854775807", 1<<63 - 1, ""}, {"-9223372036854775808", -1 << 63, ""},
		{"9223372036854775808", 0, "does not fit in 64 bits"}, {"-9223372036854775809", 0, "does not fit in 64 bits"},
		{"1e19", 0, "does not fit in 64 bits"}, {"1e40", 0, "too many digits"},
		{"1.0", 0, "want a whole number"}, {"0.5", 0, "want a whole number"}, {"10e-1", 0, "want a whole number"},
	} {
		if got, reason := parseInt([]byte(c.text)); got != c.want || reason != c.reason {
			t.Errorf("%s: got %d, %q", c.text, got, reason)
		}
	}
}

var ten = big.NewInt(10)

func power(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// Whatever can be stored is read back as it was written.
func TestDecimalsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`-?[0-9]{1,38}`).Draw(t, "units")
		units, _ := new(big.Int).SetString(digits, 10)
		text := point(units, quantityScale)
		got, reason := parseQuantity([]byte(text), rapid.Bool().Draw(t, "number"))
		if reason != "" || wide(got).Cmp(units) != 0 {
			t.Fatalf("%s: got %s, %q", text, wide(got), reason)
		}
		money := rapid.Int64Range(-moneyLimit+1, moneyLimit-1).Draw(t, "hundredths")
		text = point(big.NewInt(money), moneyScale)
		if got, reason := parseMoney([]byte(text)); reason != "" || got != money {
			t.Fatalf("%s: got %d, %q", text, got, reason)
		}
	})
}

// Against math/big: a decimal is taken exactly when it fits, and then exactly.
func TestDecimalsAgainstBig(t *testing.T) {
	check := func(t *rapid.T, text string, got *big.Int, reason string, scale int, limit *big.Int) {
		rat, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("big cannot read %s", text)
		}
		scaled := new(big.Rat).Mul(rat, new(big.Rat).SetInt(power(scale)))
		fits := written(text) <= scale && new(big.Int).Abs(scaled.Num()).Cmp(limit) < 0
		if fits != (reason == "") {
			t.Fatalf("%s with %d decimals: fits %t, got %q", text, scale, fits, reason)
		}
		if fits && (!scaled.IsInt() || scaled.Num().Cmp(got) != 0) {
			t.Fatalf("%s: got %s, want %s", text, got, scaled)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,40}(\.[0-9]{1,14})?`).Draw(t, "decimal")
		quantity, reason := parseQuantity([]byte(text), false)
		check(t, text, wide(quantity), reason, quantityScale, power(38))
		short := rapid.StringMatching(`-?[0-9]{1,19}(\.[0-9]{1,4})?`).Draw(t, "short")
		money, reason := parseMoney([]byte(short))
		check(t, short, big.NewInt(money), reason, moneyScale, power(18))
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,14})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number")
		quantity, reason = parseQuantity([]byte(number), true)
		check(t, number, wide(quantity), reason, quantityScale, power(38))
	})
}

// written counts the decimals of a text as it is written, exponent included.
func written(text string) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	e, ok := new(big.Int).SetString(exponent, 10)
	if !ok {
		return len(fraction)
	}
	return len(fraction) - int(e.Int64())
}
