package link

import (
	"time"

	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// condition is how well the source can be served: its state, the trouble that it is in, and when
// /me is asked next.
type condition struct {
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

// View is what a status shows of the condition of a source.
type View struct {
	State, Detail    string
	Ready            bool      // as [Link.Ready]
	Since, NextProbe time.Time // NextProbe is zero for a source that is served
}

// View returns the condition.
func (l *Link) View() View {
	l.mu.Lock()
	defer l.mu.Unlock()
	return View{State: l.state, Detail: l.detail, Ready: l.ready, Since: l.since, NextProbe: l.nextProbe}
}

// Ready reports whether /me has answered, and nothing has failed since.
func (l *Link) Ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready
}

// IsRecent reports whether /me has just answered, and nothing has failed since.
func (l *Link) IsRecent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready && time.Since(l.answered) < freshAnswer
}

// freshAnswer is how old an answer of /me may be to spare another request.
const freshAnswer = 10 * time.Second

// mayFail reports whether a walk's failure may be the source's. It is the stream's own when /me has
// answered since, or has just answered who asked after the failure of another stream.
func (l *Link) mayFail(failed time.Time, refused bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready && !l.answered.After(failed) && (refused || time.Since(l.confirmed) >= freshAnswer)
}

// NoteConfirmed notes that /me has just answered who asked after a failure of a stream.
func (l *Link) NoteConfirmed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.confirmed = time.Now()
}

// Troubled puts the source aside until its next probe. What is found out before that was
// due, by a pass for one, is no probe that failed, and puts it off only for as long as the
// service asks: who runs many passes must not wait longer for the daemon.
func (l *Link) Troubled(t stream.Trouble) {
	now := time.Now()
	l.mu.Lock()
	due := !now.Before(l.nextProbe)
	passing := t.MayPass() && (stream.Trouble{State: l.state}).MayPass()
	switch another := l.state != t.State && !passing; {
	case another:
		l.failures = 1
	case due:
		l.failures++
	}
	l.notBefore = now.Add(t.RetryAfter)
	if l.state != t.State {
		l.since = now
	}
	l.state, l.detail, l.ready = t.State, t.Detail, false
	next := now.Add(probeDelay(t, l.failures, Jitter(l.opts.Source, l.failures)))
	if !due {
		next = stream.Later(stream.Earlier(next, l.nextProbe), l.notBefore)
	}
	l.nextProbe = next
	l.logTrouble(t)
	l.mu.Unlock()
	l.opts.Changed()
}

// logTrouble warns of a trouble when it is news. The caller holds the lock.
func (l *Link) logTrouble(t stream.Trouble) {
	kind, tell := t.State, l.opts.Log.Debug
	if t.MayPass() {
		kind = status.StateUnreachable // words and shape of such a trouble change from probe to probe
	}
	if !t.Explained && l.outage.News(kind) {
		tell = l.opts.Log.Warn
	}
	tell("source in trouble", "state", t.State, "detail", t.Detail, "next_try", l.nextProbe.UTC().Truncate(time.Second))
}

// Enter changes the state of a source that is not ready.
func (l *Link) Enter(state, detail string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != state || l.detail != detail {
		l.opts.Log.Info("source changed state", "state", state, "detail", detail)
		l.state, l.detail, l.since = state, detail, time.Now()
	}
}

// Healthy ends a trouble: /me has answered. The loop may be waiting for a probe that is
// not needed any more.
func (l *Link) Healthy(state, detail string) {
	l.mu.Lock()
	l.logServed(state, detail)
	if l.state != state {
		l.since = time.Now()
	}
	l.state, l.detail = state, detail
	l.ready, l.failures, l.answered, l.nextProbe, l.notBefore = true, 0, time.Now(), time.Time{}, time.Time{}
	l.mu.Unlock()
	l.opts.Changed()
}

// logServed logs that the source is served, and for how long it was not if that was logged.
// The caller holds the lock.
func (l *Link) logServed(state, detail string) {
	ended := l.outage
	l.outage = stream.Outage{}
	switch {
	case state == status.StateFailing && (l.state != state || l.detail != detail): // configuration and key do not fit
		l.opts.Log.Warn("source is served in part", "state", state, "detail", detail)
	case ended.Logged():
		l.opts.Log.Info("source is served again", "state", state, "detail", detail, "lasted", ended.Lasted())
	case l.state != state || l.detail != detail:
		l.opts.Log.Info("source is served", "state", state, "detail", detail)
	}
}
