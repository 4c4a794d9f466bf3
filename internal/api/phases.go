package api

import (
	"context"
	"errors"
	"io"
	"time"
)

// phases ends an attempt that stays too long in one of its phases.
type phases struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timeouts Timeouts
	whole    *time.Timer
	ends     time.Time   // when whole is over
	step     *time.Timer // the header's, then the body's idle time
}

// watch begins the first phase; the attempt runs under the context it returns.
func watch(ctx context.Context, t Timeouts) (context.Context, *phases) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &phases{ctx: ctx, cancel: cancel, timeouts: t}
	p.whole, p.ends = p.after("whole", t.Whole), time.Now().Add(t.Whole)
	p.step = p.after("header", t.Header)
	return ctx, p
}

func (p *phases) after(phase string, d time.Duration) *time.Timer {
	return time.AfterFunc(d, func() { p.cancel(&TimeoutError{Phase: phase, After: d}) })
}

// answered ends the phase of the headers.
func (p *phases) answered() {
	p.step.Stop()
	p.step = p.after("idle", p.timeouts.Idle)
}

// pause stops the time while f waits for something that is not the service's.
func (p *phases) pause(f func(context.Context) error) error {
	began := time.Now()
	p.step.Stop()
	p.whole.Stop()
	err := f(p.ctx)
	p.ends = p.ends.Add(time.Since(began))
	p.step.Reset(p.timeouts.Idle)
	p.whole.Reset(time.Until(p.ends))
	return err
}

func (p *phases) stop() {
	p.whole.Stop()
	p.step.Stop()
	p.cancel(nil)
}

// blame is the time-out that ended the attempt, or else err.
func (p *phases) blame(err error) error {
	if timeout, ok := errors.AsType[*TimeoutError](context.Cause(p.ctx)); ok {
		return timeout
	}
	return err
}

// body is r, each read of which starts the idle time again.
func (p *phases) body(r io.Reader) io.Reader { return &idleReader{r: r, p: p} }

// idleReader starts the idle time again at each read.
type idleReader struct {
	r io.Reader
	p *phases
}

func (r *idleReader) Read(b []byte) (int, error) {
	r.p.step.Reset(r.p.timeouts.Idle)
	return r.r.Read(b)
}
