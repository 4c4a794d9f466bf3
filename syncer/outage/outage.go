// Package outage says when a failure is to be logged: once when it begins and once when it
// ends.
//
// Contents: whether a failure is news, and how long it has lasted.
//
// An outage of hours fails at every probe and at every turn of every stream, and a log
// full of it hides everything else. So what a source's outage explains is not logged for its
// streams, and what the warehouse's outage explains is logged by the sink.
package outage

import (
	"errors"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Outage is a stretch of time in which something fails. The zero Outage is none.
type Outage struct {
	Since time.Time // zero while nothing fails
	State string    // the one that was logged; empty while none was
}

// Logged is true when its beginning was logged.
func (o Outage) Logged() bool { return o.State != "" }

// Lasted is how long it has lasted, for the log.
func (o Outage) Lasted() time.Duration { return time.Since(o.Since).Round(time.Millisecond) }

// News notes that the failure goes on in a state. It is true when that is to be logged.
func (o *Outage) News(state string) bool {
	o.Begin()
	if o.State == state {
		return false
	}
	o.State = state
	return true
}

// Begin notes that something fails.
func (o *Outage) Begin() {
	if o.Since.IsZero() {
		o.Since = time.Now()
	}
}

// OfWarehouse is true for an error of the warehouse, which the sink logs.
func OfWarehouse(err error) bool { return errors.Is(err, sinks.ErrUnreachable) }
