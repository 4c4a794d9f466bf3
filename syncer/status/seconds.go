package status

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Seconds is a duration that people read as JSON: a number of seconds, to the
// millisecond. One below zero is not known, and null.
type Seconds time.Duration

// Duration is the same for the program.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

func (s Seconds) String() string { return time.Duration(s).String() }

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) {
	if s < 0 {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(time.Duration(s).Round(time.Millisecond).Milliseconds())/1000, 'f', -1, 64), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*s = -1
		return nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.Abs(f) > math.MaxInt64/float64(time.Second) {
		return fmt.Errorf("%s is no number of seconds", text)
	}
	*s = Seconds(math.Round(f * float64(time.Second)))
	return nil
}
