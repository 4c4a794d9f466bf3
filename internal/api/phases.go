package api

import (
	"context"
	"errors"
	"io"
	"time"
)

// phases ends an attempt that stays too long in one of its phases. What is between them, a wait
// for memory above all, is not the service's, and takes none of its time.
type phases struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timeouts Timeouts
	left     time.Duration // of the whole
}

// watch begins the first phase; the attempt runs under the context it returns.
func watch(ctx context.Context, t Timeouts) (context.Context, *phases) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &phases{ctx: ctx, cancel: cancel, timeouts: t, left: t.Whole}
}

// within begins a phase, which may take so long, and no longer than is left of the whole.
func (p *phases) within(phase string, most time.Duration) (end func()) {
	limit, began := most, time.Now()
	if p.left < limit {
		phase, limit, most = phaseWhole, p.left, p.timeouts.Whole
	}
	timer := time.AfterFunc(limit, func() { p.cancel(&TimeoutError{Phase: phase, After: most}) })
	return func() {
		timer.Stop()
		p.left -= time.Since(began)
	}
}

// blame is the time-out that ended the attempt, or else err.
func (p *phases) blame(err error) error {
	if timeout, ok := errors.AsType[*TimeoutError](context.Cause(p.ctx)); ok {
		return timeout
	}
	return err
}

// idleReader reads a body, each read of which is a phase.
type idleReader struct {
	r io.Reader
	p *phases
}

func (r *idleReader) Read(b []byte) (int, error) {
	defer r.p.within(phaseIdle, r.p.timeouts.Idle)()
	return r.r.Read(b)
}
