package mapping

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	noSuch     = "there is no such day or time: "
	notInstant = "want an instant as YYYY-MM-DDThh:mm[:ss[.ffffff]]Z"
)

func TestInstants(t *testing.T) {
	for _, c := range []struct{ text, want, reason string }{
		{"2025-03-14T18:03:11Z", "2025-03-14T18:03:11Z", ""},
		{"2025-03-14T18:03:11.1Z", "2025-03-14T18:03:11.1Z", ""},
		{"2025-03-14T18:03:11.123456Z", "2025-03-14T18:03:11.123456Z", ""},
		{"2025-03-14T18:03:11.123456000000Z", "2025-03-14T18:03:11.123456Z", ""},
		{"2025-03-14T18:03:11", "2025-03-14T18:03:11Z", ""},
		{"2025-03-14T00:03:11.5+02:00", "2025-03-13T22:03:11.5Z", ""},
		{"2025-12-31T23:00:00-05:30", "2026-01-01T04:30:00Z", ""},
		{"2024-02-29T00:00:00-00:00", "2024-02-29T00:00:00Z", ""},
		{"1900-01-01T00:00:00Z", "1900-01-01T00:00:00Z", ""},
		{"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z", ""},
		{"2262-04-11T23:47:16.854775Z", "2262-04-11T23:47:16.854775Z", ""},
		{"2262-04-11T23:47:16.854776Z", "", outOfRange},
		{"1900-01-01T01:00:00+02:00", "", outOfRange},
		{"1899-12-31T23:59:59.999999Z", "", outOfRange},
		{"0001-01-01T00:00:00Z", "", outOfRange},
		{"0000-01-01T00:00:00Z", "", outOfRange},
		{"9999-12-31T23:59:59Z", "", outOfRange},
		{"1899-12-31T23:59:59.9999999Z", "", outOfRange},
		{"2025-03-14T18:03:11,5Z", "2025-03-14T18:03:11.5Z", ""},
		{"2025-03-14T18:03Z", "2025-03-14T18:03:00Z", ""},
		{"2025-03-14T18:03", "2025-03-14T18:03:00Z", ""},
		{"2025-03-14T18:03+02:00", "2025-03-14T16:03:00Z", ""},
		{"2025-03-14T18:03:11+00", "2025-03-14T18:03:11Z", ""},
		{"2025-03-14T18:03:11.25-05", "2025-03-14T23:03:11.25Z", ""},
		{"2025-03-14T18:03:11+0230", "2025-03-14T15:33:11Z", ""},
		{"2025-02-29T00:00:00Z", "", noSuch + "day out of range"},
		{"2025-13-01T00:00:00Z", "", noSuch + "month out of range"},
		{"2025-00-01T00:00:00Z", "", noSuch + "month out of range"},
		{"1900-02-29T00:00:00Z", "", noSuch + "day out of range"},
		{"2025-03-14T24:00:00Z", "", noSuch + "hour out of range"},
		{"2025-03-14T18:60:00Z", "", noSuch + "minute out of range"},
		{"2025-03-14T18:00:60Z", "", noSuch + "second out of range"},
		{"2025-03-14T18:00:00+24:00", "", notInstant}, {"2025-03-14T18:00:00-24", "", notInstant}, {"2025-03-14T18:00+2400", "", notInstant},
		{"2025-03-14T18:00:00+02:60", "", notInstant}, {"2025-03-14T18:00:00+0260", "", notInstant}, {"2025-03-14T8:03:11Z", "", notInstant}, {"2025-03-14T8:03Z", "", notInstant},
		{"2025-03-14T18:00:00+25:00", "", noSuch + "time zone offset hour out of range"},
		{"", "", notInstant}, {"now", "", notInstant}, {"2025-03-14", "", notInstant}, {"2025-03-14 18:03:11Z", "", notInstant},
		{"2025-03-14T18Z", "", notInstant}, {"2025-03-14T18:03.5Z", "", notInstant}, {"2025-03-14T18:03:1Z", "", notInstant}, {"2025-03-14T18:03:11z", "", notInstant}, {"2025-03-14T18:03:11.Z", "", notInstant},
		{"2025-03-14T18:03:11,Z", "", notInstant}, {"2025-03-14T18:03:11+2", "", notInstant}, {"2025-03-14T18:03:11+02:", "", notInstant},
		{"2025-03-14T18:03:11+02:0", "", notInstant}, {"2025-03-14T18:03:11+020", "", notInstant}, {"2025-03-14T18:03:11+02::0", "", notInstant},
		{"2025-03-14T18:03:11+", "", notInstant}, {"2025-03-14T18:03:11+ab", "", notInstant},
		{"2025-03-14T18:03:11ZZ", "", notInstant}, {"2025-03-14T1a:03:11Z", "", notInstant}, {"+025-03-14T18:03:11Z", "", notInstant},
		{"2025/03/14T18:03:11Z", "", notInstant}, {"1741975391", "", notInstant},
	} {
		micros, finer, reason := parseInstant([]byte(c.text))
		if finer {
			t.Errorf("%q counts as finer than a microsecond", c.text)
		}
		got := ""
		if reason == "" {
			got = time.UnixMicro(micros).UTC().Format(time.RFC3339Nano)
		}
		if got != c.want || reason != c.reason {
			t.Errorf("%q: got %s, %q", c.text, got, reason)
		}
	}
}

// Digits behind the sixth are cut, towards the past, and counted unless they are zeros.
func TestFineInstants(t *testing.T) {
	for text, want := range map[string]string{
		"2025-03-14T18:03:11.1234561Z":         "2025-03-14T18:03:11.123456Z",
		"2025-03-14T18:03:11.999999999Z":       "2025-03-14T18:03:11.999999Z",
		"2025-03-14T18:03:11,123456789+02:00":  "2025-03-14T16:03:11.123456Z",
		"2025-03-14T18:03:11.0000000000001Z":   "2025-03-14T18:03:11Z",
		"1969-12-31T23:59:59.9999999Z":         "1969-12-31T23:59:59.999999Z",
		"2262-04-11T23:47:16.854775999999999Z": "2262-04-11T23:47:16.854775Z",
	} {
		micros, finer, reason := parseInstant([]byte(text))
		if got := time.UnixMicro(micros).UTC().Format(time.RFC3339Nano); got != want || !finer || reason != "" {
			t.Errorf("%q: got %s, %t, %q", text, got, finer, reason)
		}
	}
}

func TestDays(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   int64
		reason string
	}{
		{"1970-01-01", 0, ""}, {"1969-12-31", -1, ""}, {"1900-01-01", firstDay, ""}, {"2262-04-11", lastDay, ""}, {"2000-02-29", 11016, ""},
		{"1899-12-31", 0, outOfRange}, {"2262-04-12", 0, outOfRange}, {"9999-12-31", 0, outOfRange}, {"0001-01-01", 0, outOfRange},
		{"2025-04-31", 0, noSuch + "day out of range"}, {"2100-02-29", 0, noSuch + "day out of range"}, {"2025-01-00", 0, noSuch + "day out of range"},
		{"2025-1-01", 0, notDay}, {"25-01-01", 0, notDay}, {"2025-01-01T00:00:00Z", 0, notDay}, {"01-01-2025", 0, notDay}, {"", 0, notDay}, {"2025-01-0x", 0, notDay},
	} {
		if got, reason := parseDay([]byte(c.text)); reason != c.reason || reason == "" && got != c.want {
			t.Errorf("%q: got %d, %q", c.text, got, reason)
		}
	}
}

// Against package time: every day, and instants with any offset and fraction.
func TestDaysAgainstTime(t *testing.T) {
	at := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	for want := int64(firstDay); want <= lastDay; want++ {
		text := at.Format(time.DateOnly)
		if got, reason := parseDay([]byte(text)); got != want || reason != "" {
			t.Fatalf("%s: got %d, %q, want %d", text, got, reason, want)
		}
		at = at.AddDate(0, 0, 1)
	}
}

func TestInstantsAgainstTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(firstInstant, lastInstant).Draw(t, "micros")
		minutes := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "offset")
		layout := rapid.SampledFrom([]string{time.RFC3339Nano, "2006-01-02T15:04:05.000000000Z07:00"}).Draw(t, "layout")
		text := time.UnixMicro(want).In(time.FixedZone("", minutes*60)).Format(layout)
		if got, finer, reason := parseInstant([]byte(text)); got != want || finer || reason != "" {
			t.Fatalf("%s: got %d, %t, %q, want %d", text, got, finer, reason, want)
		}
	})
}
