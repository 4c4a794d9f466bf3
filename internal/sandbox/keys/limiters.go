package keys

import (
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// The ways to count a minute (the API's description says "per minute" and leaves the rest open).
const (
	AlgorithmFixed      = "fixed"       // the minute of the clock
	AlgorithmFixedFirst = "fixed-first" // a minute that begins with its first request
	AlgorithmSliding    = "sliding"     // the last 60 seconds, at any moment
	AlgorithmBucket     = "bucket"      // a bucket of one minute's requests, refilled evenly
)

// Algorithms are the ways to count, as Limits know them.
var Algorithms = []string{AlgorithmFixed, AlgorithmFixedFirst, AlgorithmSliding, AlgorithmBucket}

// limiter counts the requests of a minute by one algorithm. Refused requests
// are not counted.
type limiter interface {
	// room is how many more requests fit now, and when the next one will if none does.
	room(now int64, limit int) (remaining int, retry time.Duration)
	// take counts one request; the caller has asked for room.
	take(now int64, limit int)
}

// newLimiter makes a limiter; of a name that is none the first of Algorithms.
func newLimiter(algorithm string) limiter {
	switch algorithm {
	case AlgorithmFixedFirst:
		return &fixedMinute{fromFirst: true}
	case AlgorithmSliding:
		return &slidingMinute{}
	case AlgorithmBucket:
		return &bucket{}
	}
	return &fixedMinute{}
}

type fixedMinute struct {
	fromFirst bool
	start     int64
	n         int
}

func (f *fixedMinute) room(now int64, limit int) (int, time.Duration) {
	f.roll(now)
	return limit - f.n, microseconds(f.start + units.Minute - now)
}

func (f *fixedMinute) take(now int64, _ int) {
	f.roll(now)
	f.n++
}

func (f *fixedMinute) roll(now int64) {
	if f.n > 0 && now >= f.start && now < f.start+units.Minute {
		return
	}
	f.start, f.n = now, 0
	if !f.fromFirst {
		f.start = now / units.Minute * units.Minute
	}
}

// slidingMinute remembers every request of the last 60 seconds.
type slidingMinute struct{ at []int64 }

func (s *slidingMinute) room(now int64, limit int) (int, time.Duration) {
	old := 0
	for old < len(s.at) && s.at[old] <= now-units.Minute {
		old++
	}
	s.at = append(s.at[:0], s.at[old:]...)
	if len(s.at) < limit {
		return limit - len(s.at), 0
	}
	if limit <= 0 {
		return 0, time.Minute
	}
	// One fits when all but limit-1 of those remembered have left the window.
	return 0, microseconds(s.at[len(s.at)-limit] + units.Minute - now)
}

func (s *slidingMinute) take(now int64, _ int) { s.at = append(s.at, now) }

// bucket holds tokens in units of 1/units.Minute, so that a microsecond refills a
// whole number of them: exactly limit tokens a minute, nothing lost to rounding.
type bucket struct {
	level int64
	at    int64
	begun bool
}

func (b *bucket) room(now int64, limit int) (int, time.Duration) {
	full := int64(limit) * units.Minute
	if !b.begun {
		b.level, b.at, b.begun = full, now, true
	}
	if now > b.at {
		b.level, b.at = min(full, b.level+min(now-b.at, units.Minute)*int64(limit)), now
	}
	if b.level >= units.Minute {
		return int(b.level / units.Minute), 0
	}
	if limit <= 0 {
		return 0, time.Minute
	}
	missing := units.Minute - b.level
	return 0, microseconds((missing + int64(limit) - 1) / int64(limit))
}

func (b *bucket) take(int64, int) { b.level -= units.Minute }

func microseconds(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
