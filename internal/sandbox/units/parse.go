package units

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrNoInstant is for text that is no ISO 8601 instant.
	ErrNoInstant = errors.New("not an ISO 8601 instant")
	// ErrInstantRange is for an instant outside the range that the API's description accepts.
	ErrInstantRange = errors.New("outside 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z")
)

var (
	minInstant = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	maxInstant = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// ParseInstant reads an ISO 8601 instant in microseconds, rounded up, so that "at or
// after" holds for what is finer. Without an offset it is UTC.
func ParseInstant(s string) (int64, error) {
	t, err := readInstant(s)
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us, err
}

// ParseFineInstant reads one where instants are served with digits behind the microsecond:
// all of a microsecond's rows have the same, and are "at or after" them.
func ParseFineInstant(s string) (int64, error) {
	t, err := readInstant(s)
	return t.UnixMicro(), err
}

func readInstant(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05", s)
	}
	if err != nil {
		return time.Time{}, ErrNoInstant
	}
	t = t.UTC()
	if t.Before(minInstant) || t.After(maxInstant) {
		return time.Time{}, ErrInstantRange
	}
	return t, nil
}

// maxWholeDigits keeps every sum of amounts far from the end of an int64.
const maxWholeDigits = 12

// ParseMoney reads an amount of zero or more with up to two decimals.
func ParseMoney(s string) (Bani, bool) {
	whole, cents, point := strings.Cut(s, ".")
	if !digits(whole) || len(whole) > maxWholeDigits || point && (!digits(cents) || len(cents) > 2) {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+(cents + "00")[:2], 10, 64)
	return Bani(n), err == nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
