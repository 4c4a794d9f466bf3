package mapping

import (
	"bytes"
	"time"
)

// The range that DateTime64(6) and Date32 keep through the driver (DESIGN §4):
// from 1900-01-01 to 2262-04-11, where nanoseconds stop fitting in 64 bits.
const (
	firstDay     = -25567
	lastDay      = 106751
	microsPerDay = 86_400_000_000
	firstInstant = firstDay * microsPerDay
	lastInstant  = 9_223_372_036_854_775 // 2262-04-11T23:47:16.854775Z
)

const (
	notDay      = "want a day as YYYY-MM-DD"
	noSuchDay   = "there is no such day"
	notInstant  = "want an instant as YYYY-MM-DDThh:mm[:ss[.ffffff]]Z"
	outOfRange  = "outside the years that can be stored (1900-01-01 to 2262-04-11)"
	noSuchClock = "there is no such time of day"
)

// parseDay reads YYYY-MM-DD into days since 1970-01-01.
func parseDay(s []byte) (int64, string) {
	if len(s) != len("2006-01-02") {
		return 0, notDay
	}
	days, reason := calendarDay(s)
	if reason == "" && (days < firstDay || days > lastDay) {
		return 0, outOfRange
	}
	return days, reason
}

// Instant reads an instant as rows are mapped; zero when it cannot be stored.
func Instant(text string) time.Time {
	micros, _, reason := parseInstant([]byte(text))
	if reason != "" {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// parseInstant reads an ISO 8601 instant into microseconds since 1970. Without
// an offset it is in UTC (api.md, "Conventions"). What is finer than a microsecond
// is cut, towards the past; finer reports whether anything was.
func parseInstant(s []byte) (micros int64, finer bool, reason string) {
	if len(s) < len("2006-01-02T15:04") || s[10] != 'T' || s[13] != ':' {
		return 0, false, notInstant
	}
	days, reason := calendarDay(s[:10])
	if reason != "" {
		if reason == notDay {
			reason = notInstant
		}
		return 0, false, reason
	}
	hour, ok1 := twoDigits(s[11:])
	minute, ok2 := twoDigits(s[14:])
	second, ok3, rest := int64(0), true, s[16:]
	if len(rest) >= len(":05") && rest[0] == ':' {
		second, ok3 = twoDigits(rest[1:])
		micros, finer, rest = fraction(rest[3:])
	}
	switch {
	case !ok1 || !ok2 || !ok3:
		return 0, false, notInstant
	case hour > 23 || minute > 59 || second > 59:
		return 0, false, noSuchClock
	}
	offset, reason := parseOffset(rest)
	if reason != "" {
		return 0, false, reason
	}
	micros += days*microsPerDay + (hour*3600+minute*60+second-offset)*1_000_000
	if micros < firstInstant || micros > lastInstant {
		return 0, false, outOfRange
	}
	return micros, finer, ""
}

// fraction reads a fraction of a second, behind a point or a comma, if there is one.
func fraction(s []byte) (micros int64, finer bool, rest []byte) {
	if len(s) == 0 || s[0] != '.' && s[0] != ',' {
		return 0, false, s
	}
	digits, rest := leadingDigits(s[1:])
	if len(digits) == 0 {
		return 0, false, s
	}
	unit := int64(100_000)
	for _, c := range digits {
		finer = finer || unit == 0 && c != '0'
		micros += int64(c-'0') * unit
		unit /= 10
	}
	return micros, finer, rest
}

// parseOffset reads Z, ±hh, ±hh:mm, ±hhmm or nothing into seconds east of UTC.
func parseOffset(s []byte) (int64, string) {
	if len(s) == 0 || len(s) == 1 && s[0] == 'Z' {
		return 0, ""
	}
	if len(s) < len("+02") || s[0] != '+' && s[0] != '-' {
		return 0, notInstant
	}
	hours, ok1 := twoDigits(s[1:])
	minutes, ok2 := int64(0), true
	switch rest := bytes.TrimPrefix(s[3:], []byte{':'}); {
	case len(s) == len("+02"):
	case len(rest) == len("00"):
		minutes, ok2 = twoDigits(rest)
	default:
		return 0, notInstant
	}
	switch {
	case !ok1 || !ok2:
		return 0, notInstant
	case hours > 23 || minutes > 59:
		return 0, noSuchClock
	}
	seconds := hours*3600 + minutes*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, ""
}

// calendarDay reads the ten bytes YYYY-MM-DD of a day that exists.
func calendarDay(s []byte) (int64, string) {
	century, ok1 := twoDigits(s)
	years, ok2 := twoDigits(s[2:])
	month, ok3 := twoDigits(s[5:])
	day, ok4 := twoDigits(s[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 || s[4] != '-' || s[7] != '-' {
		return 0, notDay
	}
	date := time.Date(int(century*100+years), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if date.Month() != time.Month(month) || date.Day() != int(day) { // it goes on into the next month
		return 0, noSuchDay
	}
	return date.Unix() / 86_400, ""
}

func twoDigits(s []byte) (int64, bool) {
	tens, ones := s[0]-'0', s[1]-'0'
	return int64(tens)*10 + int64(ones), tens <= 9 && ones <= 9
}
