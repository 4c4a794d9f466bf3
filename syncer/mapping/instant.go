package mapping

import (
	"bytes"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// The range that DateTime64(6) and Date32 keep through the driver (docs/rules.md, Warehouse):
// from 1900-01-01 to 2262-04-11, where nanoseconds stop fitting in 64 bits.
const (
	firstDay     = -25567
	lastDay      = 106751
	firstInstant = firstDay * 86_400_000_000
	lastInstant  = 9_223_372_036_854_775 // 2262-04-11T23:47:16.854775Z
)

const (
	notDay     = "want a day as YYYY-MM-DD"
	outOfRange = "outside the years that can be stored (1900-01-01 to 2262-04-11)"
)

// parseDay reads YYYY-MM-DD into days since 1970-01-01.
func parseDay(s []byte) (int64, string) {
	at, err := time.Parse(time.DateOnly, string(s))
	days := at.Unix() / 86_400
	switch {
	case err == nil && days >= firstDay && days <= lastDay:
		return days, ""
	case err == nil:
		return 0, outOfRange
	}
	if err := types.NoSuchTime(err); err != nil {
		return 0, err.Error()
	}
	return 0, notDay
}

// Instant reads an instant as rows are mapped; zero when it cannot be stored.
func Instant(text string) time.Time {
	micros, _, reason := parseInstant([]byte(text))
	if reason != "" {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// parseInstant reads an ISO 8601 instant into microseconds since 1970. What is finer is cut,
// towards the past; finer reports whether anything was.
func parseInstant(s []byte) (micros int64, finer bool, reason string) {
	var at time.Time
	if at.UnmarshalText(s) != nil || !types.Strictly(s) { // which take nearly all, and copy nothing
		var err error
		if at, err = types.Instant(s).Time(); err != nil {
			return 0, false, err.Error()
		}
	}
	if micros = at.UnixMicro(); micros < firstInstant || micros > lastInstant {
		return 0, false, outOfRange
	}
	if fraction := len("2006-01-02T15:04:05."); len(s) > fraction {
		digits, _ := leadingDigits(s[fraction:])
		finer = len(digits) > 6 && len(bytes.Trim(digits[6:], "0")) > 0
	}
	return micros, finer, ""
}
