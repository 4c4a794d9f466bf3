package link

import (
	"time"

	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// View is how well the source can be served, as its status shows it.
type View struct {
	State, Detail    string
	Ready            bool      // /me has answered, and no trouble since
	Since, NextProbe time.Time // NextProbe is zero for a source that is served
}

// View returns the condition.
func (l *Link) View() View {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.is
}

// Ready reports whether /me has answered, and nothing has failed since.
func (l *Link) Ready() bool { return l.View().Ready }

// IsRecent reports whether /me has just answered, and nothing has failed since.
func (l *Link) IsRecent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.is.Ready && time.Since(l.answered) < freshAnswer
}

// freshAnswer is how old an answer of /me may be to spare another request.
const freshAnswer = 10 * time.Second

// IsInDoubt reports whether /me is to be asked after a walk has failed, to know whether the trouble is
// the source's. It is the stream's own when /me has answered since. Where so many keys are refused
// that another one would have to wait, the source is in trouble without a question.
func (l *Link) IsInDoubt(err error, failed time.Time) bool {
	l.mu.Lock()
	doubt := l.is.Ready && !l.answered.After(failed)
	wrong := doubt && isRefused(err) && l.opts.Queue.full()
	if wrong {
		l.refused[l.inUse] = err
	}
	l.mu.Unlock()
	if wrong {
		l.Troubled(stream.Diagnose(err))
		l.mu.Lock()
		l.is.NextProbe = time.Now() // another key is tried, this one when there is a place for it
		l.mu.Unlock()
		l.opts.Changed()
	}
	return doubt && !wrong
}

// Troubled puts the source aside until its next probe. What is found out before that was
// due, by a pass for one, is no probe that failed, and puts it off only for as long as the
// service asks: who runs many passes must not wait longer for the daemon.
func (l *Link) Troubled(t stream.Trouble) {
	now := time.Now()
	l.mu.Lock()
	due := !now.Before(l.is.NextProbe)
	another := l.is.State != t.State
	switch {
	case another && (!t.MayPass() || !(stream.Trouble{State: l.is.State}).MayPass()):
		l.failures = 1
	case due:
		l.failures++
	}
	l.notBefore = now.Add(t.RetryAfter)
	if another {
		l.is.Since = now
	}
	l.is.State, l.is.Detail, l.is.Ready = t.State, t.Detail, false
	next := now.Add(probeDelay(l.opts.Source, t, l.failures))
	if !due {
		next = stream.Later(stream.Earlier(next, l.is.NextProbe), l.notBefore)
	}
	l.is.NextProbe = next
	kind, tell := t.State, l.opts.Log.Debug
	if t.MayPass() {
		kind = status.StateUnreachable // words and shape of such a trouble change from probe to probe
	}
	if l.outage.News(kind, !t.Explained) {
		tell = l.opts.Log.Warn
	}
	tell("source in trouble", "state", t.State, "detail", t.Detail, "next_try", next.UTC().Truncate(time.Second))
	l.mu.Unlock()
	l.opts.Changed()
}

// PutOff has a source in trouble asked again when places in the queue are free, since it could not
// be asked when that was due.
func (l *Link) PutOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); !l.is.Ready && !now.Before(l.is.NextProbe) {
		l.is.NextProbe = stream.Later(now.Add(time.Minute), l.notBefore)
	}
}

// Enter changes the state of a source that is not ready.
func (l *Link) Enter(state, detail string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.is.State != state || l.is.Detail != detail {
		l.opts.Log.Info("source changed state", "state", state, "detail", detail)
		l.is.State, l.is.Detail, l.is.Since = state, detail, time.Now()
	}
}

// Healthy ends a trouble, and logs for how long the source was not served if that was logged: /me
// has answered. The loop may be waiting for a probe that is not needed any more.
func (l *Link) Healthy(state, detail string) {
	l.mu.Lock()
	switch changed := l.is.State != state || l.is.Detail != detail; {
	case changed && state == status.StateFailing: // configuration and key do not fit
		l.opts.Log.Warn("source is served in part", "state", state, "detail", detail)
	case l.outage.State != "":
		l.opts.Log.Info("source is served again", "state", state, "detail", detail, "lasted", l.outage.Lasted())
	case changed:
		l.opts.Log.Info("source is served", "state", state, "detail", detail)
	}
	if l.is.State != state {
		l.is.Since = time.Now()
	}
	l.is = View{State: state, Detail: detail, Ready: true, Since: l.is.Since}
	l.outage, l.failures, l.answered, l.notBefore = stream.Outage{}, 0, time.Now(), time.Time{}
	l.mu.Unlock()
	l.opts.Changed()
}
