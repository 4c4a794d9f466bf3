package units

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Days of 23 and 25 hours, and midnight itself.
func TestCalendar(t *testing.T) {
	cal, err := NewCalendar()
	if err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation(ZoneName)
	if err != nil {
		t.Fatal(err)
	}
	for at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC); at.Year() < 2110; at = at.Add(7*time.Hour + 13*time.Minute) {
		want := at.In(zone).Format(time.DateOnly)
		if got := cal.Day(at.UnixMicro()).String(); got != want && at.Year() >= 1900 {
			t.Fatalf("%s: day %s, want %s", at, got, want)
		}
	}
	for day, hours := range map[string]int64{"2026-03-29": 23, "2026-10-25": 25, "2026-10-26": 24} {
		d, _ := ParseDay(day)
		if got := (cal.Start(d+1) - cal.Start(d)) / Hour; got != hours {
			t.Errorf("%s has %d hours", day, got)
		}
		for _, at := range []int64{cal.Start(d), cal.Start(d+1) - 1} {
			if cal.Day(at) != d {
				t.Errorf("%s: day %s", day, cal.Day(at))
			}
		}
	}
}

func TestInstantsAndQuantities(t *testing.T) {
	for p, want := range map[time.Duration]string{
		time.Second: `"2026-03-20T09:46:40Z"`, time.Microsecond: `"2026-03-20T09:46:40.123456Z"`,
		100: `"2026-03-20T09:46:40.1234563Z"`, 1: `"2026-03-20T09:46:40.123456356Z"`,
	} {
		if got := string(Precision(p).Append(nil, 1774000000123456)); got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
	for us, want := range map[int64]string{0: `"1970-01-01T00:00:00.000Z"`, -1: `"1969-12-31T23:59:59.999Z"`, 1774000000123456: `"2026-03-20T09:46:40.123Z"`} {
		if got := string(Precision(time.Millisecond).Append(nil, us)); got != want {
			t.Errorf("%d: %s, want %s", us, got, want)
		}
	}
	got := []string{Milli(-1500).Quantity(true), Milli(2000).Quantity(false), Bani(-5).Money(), Bani(123456).Money(), string(AppendBasisPoints(nil, 1250, false)), string(AppendBasisPoints(nil, 905, false)), string(AppendBasisPoints(nil, 905, true)), string(AppendBasisPoints(nil, 0, true))}
	if want := []string{"-1.500", "2.00", "-0.05", "1234.56", "12.5", "9.05", "9.050000000000004", "0"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, s := range []string{"plain", "q\"\\\n\x01ș🍕", ""} {
		var back string
		if err := json.Unmarshal(AppendString(nil, s), &back); err != nil || back != s {
			t.Errorf("%q became %q: %v", s, back, err)
		}
	}
}
