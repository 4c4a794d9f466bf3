package stream

import (
	"sync"
	"time"
)

// Clock is the service's clock, from its Date headers.
type Clock struct {
	WallClock func() time.Time // ours

	mu    sync.Mutex
	skew  time.Duration // service's clock minus ours
	known bool
}

// AnswerTime notes the service's clock, as the Date header of an answer gave it. It returns the
// time of the answer by that clock, or what is known of it when the answer does not say.
func (c *Clock) AnswerTime(date time.Time) time.Time {
	if date.IsZero() {
		return c.ServiceNow().UTC()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skew, c.known = date.Sub(c.WallClock()), true
	return date.UTC()
}

// ServiceNow is the service's clock now.
func (c *Clock) ServiceNow() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.WallClock().Add(c.skew)
}

// Moment is the service's clock now, as fine as it is known. A Date header tells the second
// only: our clock is right as long as it agrees with that.
func (c *Clock) Moment() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The header was cut to its second, so that the service's clock is up to one later.
	skew := c.skew
	if skew < 0 {
		skew = min(skew+time.Second, 0)
	}
	return c.WallClock().Add(skew)
}

// ClockKnown reports whether the service has told its clock.
func (c *Clock) ClockKnown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// Later is the later of two instants.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Earlier ignores a zero b.
func Earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
