package link

import (
	"log/slog"
	"sync"
	"time"

	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Condition is how well the source can be served: its state, the trouble that it is in, and when
// /me is asked next. Its methods may be called from any goroutine.
type Condition struct {
	source  string
	log     *slog.Logger
	changed func() // called after each change that the source's loop acts on

	mu        sync.Mutex // guards what follows
	state     string
	detail    string
	since     time.Time
	ready     bool          // /me has answered, and no trouble since
	failures  int           // probes in a row that failed, each when it was due
	nextProbe time.Time     // of a source in trouble
	notBefore time.Time     // nothing is asked before, since the service said so
	outage    stream.Outage // that was logged
	answered  time.Time     // when /me last answered
	confirmed time.Time     // when it last answered who asked after a failure of a stream
}

// View is what a person is shown of it.
type View struct {
	State, Detail    string
	Ready            bool      // as [Condition.Ready]
	Since, NextProbe time.Time // NextProbe is zero for a source that is served
}

// View is how it is now.
func (c *Condition) View() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return View{State: c.state, Detail: c.detail, Ready: c.ready, Since: c.since, NextProbe: c.nextProbe}
}

// Ready is true when /me has answered, and nothing has failed since.
func (c *Condition) Ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// IsRecent reports whether /me has just answered, and nothing has failed since.
func (c *Condition) IsRecent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready && time.Since(c.answered) < freshAnswer
}

// freshAnswer is how old an answer of /me may be to spare another request.
const freshAnswer = 10 * time.Second

// mustWait reports whether the service has asked to be left alone.
func (c *Condition) mustWait() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.notBefore)
}

// probeNow has the next probe wait for nothing but its place in the queue.
func (c *Condition) probeNow() {
	c.mu.Lock()
	c.nextProbe = time.Now()
	c.mu.Unlock()
	c.changed()
}

// mayFail reports whether a walk's failure may be the source's. It is the stream's own when /me has
// answered since, or has just answered who asked after the failure of another stream.
func (c *Condition) mayFail(failed time.Time, refused bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready && !c.answered.After(failed) && (refused || time.Since(c.confirmed) >= freshAnswer)
}

// NoteConfirmed notes that /me has just answered who asked after a failure of a stream.
func (c *Condition) NoteConfirmed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.confirmed = time.Now()
}

// Troubled puts the source aside until its next probe. What is found out before that was
// due, by a pass for one, is no probe that failed, and puts it off only for as long as the
// service asks: who runs many passes must not wait longer for the daemon.
func (c *Condition) Troubled(t stream.Trouble) {
	now := time.Now()
	c.mu.Lock()
	due := !now.Before(c.nextProbe)
	passing := t.MayPass() && (stream.Trouble{State: c.state}).MayPass()
	switch another := c.state != t.State && !passing; {
	case another:
		c.failures = 1
	case due:
		c.failures++
	}
	c.notBefore = now.Add(t.RetryAfter)
	if c.state != t.State {
		c.since = now
	}
	c.state, c.detail, c.ready = t.State, t.Detail, false
	next := now.Add(probeDelay(t, c.failures, Jitter(c.source, c.failures)))
	if !due {
		next = stream.Later(stream.Earlier(next, c.nextProbe), c.notBefore)
	}
	c.nextProbe = next
	c.logTrouble(t)
	c.mu.Unlock()
	c.changed()
}

// logTrouble warns of a trouble when it is news. The caller holds the lock.
func (c *Condition) logTrouble(t stream.Trouble) {
	kind, tell := t.State, c.log.Debug
	if t.MayPass() {
		kind = status.StateUnreachable // words and shape of such a trouble change from probe to probe
	}
	if !t.Explained && c.outage.News(kind) {
		tell = c.log.Warn
	}
	tell("source in trouble", "state", t.State, "detail", t.Detail, "next_try", c.nextProbe.UTC().Truncate(time.Second))
}

// Enter changes the state of a source that is not ready.
func (c *Condition) Enter(state, detail string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != state || c.detail != detail {
		c.log.Info("source changed state", "state", state, "detail", detail)
		c.state, c.detail, c.since = state, detail, time.Now()
	}
}

// Healthy ends a trouble: /me has answered. The loop may be waiting for a probe that is
// not needed any more.
func (c *Condition) Healthy(state, detail string) {
	c.mu.Lock()
	c.logServed(state, detail)
	if c.state != state {
		c.since = time.Now()
	}
	c.state, c.detail = state, detail
	c.ready, c.failures, c.answered, c.nextProbe, c.notBefore = true, 0, time.Now(), time.Time{}, time.Time{}
	c.mu.Unlock()
	c.changed()
}

// logServed logs that the source is served, with how long it was not when that was told.
// The caller holds the lock.
func (c *Condition) logServed(state, detail string) {
	ended := c.outage
	c.outage = stream.Outage{}
	switch {
	case state == status.StateFailing && (c.state != state || c.detail != detail): // configuration and key do not fit
		c.log.Warn("source is served in part", "state", state, "detail", detail)
	case ended.Logged():
		c.log.Info("source is served again", "state", state, "detail", detail, "lasted", ended.Lasted())
	case c.state != state || c.detail != detail:
		c.log.Info("source is served", "state", state, "detail", detail)
	}
}
