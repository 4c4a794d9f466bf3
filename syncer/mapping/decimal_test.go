package mapping

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-sync/larder/sinks"
)

// decimalOf reads a decimal as the mapper reads one of a kind.
func decimalOf(kind sinks.Kind, number bool, text string) (sinks.Int128, bool, string) {
	s := scalar{kind: kind, number: number, form: forms[kind]}
	return s.decimal([]byte(text))
}

func parseMoney(text string) (int64, string) {
	n, _, reason := decimalOf(sinks.Money, false, text)
	return int64(n.Lo), reason
}

func parseQuantity(text string) (sinks.Int128, string) {
	n, _, reason := decimalOf(sinks.Quantity, false, text)
	return n, reason
}

func parseNumber(text string) (sinks.Int128, bool, string) {
	return decimalOf(sinks.Quantity, true, text)
}

func parseInt(text string) (int64, string) {
	n, _, reason := decimalOf(sinks.Int, true, text)
	return int64(n.Lo), reason
}

// What docs/rules.md, Warehouse says of the columns, and why more does not fit.
const (
	moneyScale, quantityScale = 2, 10

	largeMoney    = "more than 16 digits before the point"
	largeQuantity = "more than 28 digits before the point"
	largeInt      = "does not fit in 64 bits"
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
		{"10000000000000000.00", 0, largeMoney},
		{"184467440737095516.16", 0, largeMoney},
		{"340282366920938463463374607431768211456.00", 0, largeMoney},
		{"0.001", 0, "3 decimals, at most 2 fit"},
		{"1.000", 0, "3 decimals, at most 2 fit"},
		{"", 0, notDecimal}, {"-", 0, notDecimal}, {"+1.00", 0, notDecimal}, {".50", 0, notDecimal}, {"1.", 0, notDecimal},
		{"1,50", 0, notDecimal}, {"1 000.00", 0, notDecimal}, {" 1.00", 0, notDecimal}, {"1.00 ", 0, notDecimal}, {"1e1", 0, notDecimal},
		{"--1", 0, notDecimal}, {"1.0.0", 0, notDecimal}, {"0x10", 0, notDecimal}, {"abc", 0, notDecimal}, {"NaN", 0, notDecimal}, {"١.00", 0, notDecimal},
	} {
		if got, reason := parseMoney(c.text); got != c.want || reason != c.reason {
			t.Errorf("%q: got %d, %q", c.text, got, reason)
		}
	}
}

func TestQuantity(t *testing.T) {
	digits28 := strings.Repeat("9", 28)
	for _, c := range []struct{ text, want, reason string }{
		{"0.350", "0.3500000000", ""},
		{"-2.00", "-2.0000000000", ""},
		{digits28 + ".9999999999", digits28 + ".9999999999", ""},
		{"-" + digits28 + ".9999999999", "-" + digits28 + ".9999999999", ""},
		{"1" + strings.Repeat("0", 28), "", largeQuantity},
		{"1" + strings.Repeat("0", 29), "", largeQuantity},
		{strings.Repeat("9", 60), "", largeQuantity},
		{"0.00000000001", "", "11 decimals, at most 10 fit"},
		{"1.00000000000", "", "11 decimals, at most 10 fit"},
		{"1e1", "", notDecimal},
	} {
		got, reason := parseQuantity(c.text)
		if reason != c.reason || reason == "" && point(wide(got), quantityScale) != c.want {
			t.Errorf("%s: got %s, %q", c.text, point(wide(got), quantityScale), reason)
		}
	}
}

// Decimals of a JSON number that its column cannot hold are cut, never rounded.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		text, want string
		finer      bool
		reason     string
	}{
		{"0.350", "0.3500000000", false, ""},
		{"1e1", "10.0000000000", false, ""},
		{"1.5E+2", "150.0000000000", false, ""},
		{"15e-1", "1.5000000000", false, ""},
		{"-1e-10", "-0.0000000001", false, ""},
		{"33.333333333333336", "33.3333333333", true, ""},
		{"44.43225419999999", "44.4322541999", true, ""},
		{"-26.09999999999999", "-26.0999999999", true, ""},
		{"0.00000000001", "0.0000000000", true, ""},
		{"-0.00000000009", "0.0000000000", true, ""},
		{"1.00000000000", "1.0000000000", false, ""},
		{"1e-11", "0.0000000000", true, ""},
		{"123e-11", "0.0000000012", true, ""},
		{"123.456e-9", "0.0000001234", true, ""},
		{"123.456e2", "12345.6000000000", false, ""},
		{"0.123456789012e2", "12.3456789012", false, ""},
		{"0.1234567890123e2", "12.3456789012", true, ""},
		{"1" + strings.Repeat("0", 50) + "e-50", "1.0000000000", false, ""},
		{"0." + strings.Repeat("0", 49) + "1e50", "1.0000000000", false, ""},
		{"0." + strings.Repeat("0", 150_000) + "1e150001", "1.0000000000", false, ""},
		{"1e27", "1" + strings.Repeat("0", 27) + ".0000000000", false, ""},
		{"1e28", "", false, largeQuantity},
		{"1e29", "", false, largeQuantity},
		{"1e999999999999999999999", "", false, largeQuantity},
		{"1e-999999999999999999999", "0.0000000000", true, ""},
		{"0e999999999999999999999", "0.0000000000", false, ""},
		{"0e999999999999999999999-", "", false, notDecimal},
		{"1e+-5", "", false, notDecimal},
		{"0.1000000000000000055511151231257827", "0.1000000000", true, ""},
	} {
		got, finer, reason := parseNumber(c.text)
		if reason != c.reason || reason == "" && (point(wide(got), quantityScale) != c.want || finer != c.finer) {
			t.Errorf("%.60s: got %s, %t, %q", c.text, point(wide(got), quantityScale), finer, reason)
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
		{"9223372036854775808", 0, largeInt}, {"-9223372036854775809", 0, largeInt},
		{"1e19", 0, largeInt}, {"1e40", 0, largeInt},
		{"1.0", 1, ""}, {"10e-1", 1, ""}, {"-3.000", -3, ""}, {"0.5", 0, "want a whole number"}, {"1e-1", 0, "want a whole number"},
	} {
		if got, reason := parseInt(c.text); got != c.want || reason != c.reason {
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
		got, reason := parseQuantity(text)
		number, finer, numberReason := parseNumber(text)
		if reason+numberReason != "" || wide(got).Cmp(units) != 0 || got != number || finer {
			t.Fatalf("%s: got %s, %q; as a number %s, %t, %q", text, wide(got), reason, wide(number), finer, numberReason)
		}
		const moneyLimit = 1e18
		money := rapid.Int64Range(-moneyLimit+1, moneyLimit-1).Draw(t, "hundredths")
		text = point(big.NewInt(money), moneyScale)
		if got, reason := parseMoney(text); reason != "" || got != money {
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
		quantity, reason := parseQuantity(text)
		check(t, text, wide(quantity), reason, quantityScale, power(38))
		short := rapid.StringMatching(`-?[0-9]{1,19}(\.[0-9]{1,4})?`).Draw(t, "short")
		money, reason := parseMoney(short)
		check(t, short, big.NewInt(money), reason, moneyScale, power(18))
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,14})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number")
		checkCut(t, number)
	})
}

// checkCut holds a JSON number against its integer part in units of 1e-10.
func checkCut(t *rapid.T, number string) {
	rat, _ := new(big.Rat).SetString(number)
	scaled := rat.Mul(rat, new(big.Rat).SetInt(power(quantityScale)))
	want := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	got, finer, reason := parseNumber(number)
	if fits := new(big.Int).Abs(want).Cmp(power(38)) < 0; fits != (reason == "") {
		t.Fatalf("%s: fits %t, got %q", number, fits, reason)
	}
	if reason == "" && (wide(got).Cmp(want) != 0 || finer == scaled.IsInt()) {
		t.Fatalf("%s: got %s, finer %t, want %s of %s", number, wide(got), finer, want, scaled)
	}
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
