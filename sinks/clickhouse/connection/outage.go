package connection

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Outage logs that the warehouse takes no rows, once when that begins and once when
// it is over, however many statements fail in between. It is over when the warehouse
// answers, and takes rows where it did not.
type Outage struct {
	log *slog.Logger

	mu sync.Mutex
	// begun: somebody counts on the warehouse; a command that only asks says by itself
	// that it got no answer.
	begun  bool
	silent bool // the last statement had no answer
	full   bool // the last flush failed
	since  time.Time
}

// Begin has outages told from now on.
func (o *Outage) Begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = true
}

// answered notes how a statement went. An error that says nothing of the warehouse, a
// caller that went away, say, changes nothing.
func (o *Outage) answered(err error) {
	var gone *UnreachableError
	var refused *StatementError
	switch {
	case errors.As(err, &gone):
		o.change(err, func() { o.silent = true })
	case err == nil, errors.As(err, &refused):
		o.change(nil, func() { o.silent = false })
	}
}

// Flushed notes how a flush went.
func (o *Outage) Flushed(err error) {
	o.change(err, func() {
		o.full = err != nil
		o.silent = o.silent && o.full
	})
}

// Dropped notes that the rows of a failed flush wait no more. That does not end the outage of the
// warehouse, which its next answer does.
func (o *Outage) Dropped() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent, o.full = o.silent || o.full, false
}

// Lasts is true while the warehouse takes no rows.
func (o *Outage) Lasts() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.since.IsZero()
}

func (o *Outage) change(err error, f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
	unavailable := o.begun && (o.silent || o.full)
	switch {
	case unavailable && o.since.IsZero():
		o.since = time.Now()
		o.log.Warn("the warehouse does not take rows; they wait, nothing is lost, and it is tried again", "error", err)
	case !o.silent && !o.full && !o.since.IsZero():
		o.log.Info("the warehouse takes rows again", "lasted", time.Since(o.since).Round(time.Millisecond))
		o.since = time.Time{}
	}
}
