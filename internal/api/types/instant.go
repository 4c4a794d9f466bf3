package types

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// instantForms are the forms of ISO 8601 in which the service may write an instant. A
// fraction of a second is read by any of them; without an offset it is UTC.
var instantForms = []string{
	time.RFC3339, "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z07", "2006-01-02T15:04Z0700", "2006-01-02T15:04",
}

var errNoInstant = errors.New("want an instant as YYYY-MM-DDThh:mm[:ss[.ffffff]]Z")

// Time is the instant. The error is the reason why it is none.
func (i Instant) Time() (time.Time, error) {
	for _, form := range instantForms {
		at, err := time.Parse(form, string(i))
		if err == nil && Strictly([]byte(i)) {
			return at.UTC(), nil
		}
		if err := NoSuchTime(err); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, errNoInstant
}

// Strictly looks at what package time does not: an hour has two digits, an offset is a time of day.
func Strictly(instant []byte) bool {
	clock := instant[len("2006-01-02T15"):]
	if clock[0] != ':' || clock[len(clock)-1] == 'Z' {
		return clock[0] == ':'
	}
	sign := bytes.LastIndexAny(clock, "+-")
	offset := clock[sign+1:]
	return sign < 0 || string(offset[:2]) < "24" && string(offset[len(offset)-2:]) < "60"
}

// NoSuchTime is the reason of a [time.ParseError] for a text in the right form, nil for one in another.
func NoSuchTime(err error) error {
	e, ok := errors.AsType[*time.ParseError](err)
	if !ok || !strings.HasSuffix(e.Message, "out of range") {
		return nil
	}
	return errors.New("there is no such day or time" + e.Message)
}
