// Package lifecycle is how a process keeps running and how it ends: it closes what was opened, in
// reverse order, and says with which code a command exits (docs/rules.md E1).
//
// Contents: the order and the deadlines of clean-ups, waiting that ends with a context, how long to
// wait after failures, loops that survive a panic, exit codes, and errors that any command may end
// with.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Cleanups is the clean-ups of what has been created so far.
type Cleanups struct {
	Log   *slog.Logger
	steps []cleanup
}

type cleanup struct {
	name     string
	deadline time.Duration
	run      func(context.Context) error
}

// Add registers the clean-up of something that has just been created.
func (l *Cleanups) Add(name string, deadline time.Duration, run func(context.Context) error) {
	l.steps = append(l.steps, cleanup{name, deadline, run})
}

// Close runs the clean-ups in reverse order. One that overruns its deadline is
// left behind, so that the others still get their turn.
func (l *Cleanups) Close() error {
	var all []error
	for len(l.steps) > 0 {
		step := l.steps[len(l.steps)-1]
		l.steps = l.steps[:len(l.steps)-1]
		began := time.Now()
		if err := step.within(); err != nil {
			all = append(all, fmt.Errorf("stop %s: %w", step.name, err))
			l.Log.Error("did not stop cleanly", "what", step.name, "error", err)
			continue
		}
		l.Log.Debug("stopped", "what", step.name, "took", time.Since(began))
	}
	return errors.Join(all...)
}

func (c cleanup) within() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.run(ctx) }()
	select {
	case err := <-done:
		return err
	case <-time.After(c.deadline + time.Second): // it had its chance to hear ctx
		return fmt.Errorf("still not done after %s", c.deadline)
	}
}

// panicPause is how long after a panic a loop runs anew.
const panicPause = time.Second

// Loop runs a loop until it returns. After a panic, which is logged, the loop runs anew.
func Loop(ctx context.Context, log *slog.Logger, what string, loop func(context.Context)) {
	for Recovered(log, what, func() { loop(ctx) }) && Pause(ctx, panicPause) {
	}
}

// Recovered runs f, and reports whether it panicked. The panic is logged with its stack: a
// fault in one part must not end the process.
func Recovered(log *slog.Logger, what string, f func()) (panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic: a fault in Larder; report it with the stack", "in", what, "panic", r, "stack", string(debug.Stack()))
			panicked = true
		}
	}()
	f()
	return false
}

// Pause waits, and is false when ctx ended.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Backoff is the pause after a number of failures in a row, from 0: it doubles from first to
// longest.
func Backoff(first, longest time.Duration, failures int) time.Duration {
	return min(first<<min(failures, 20), longest)
}

// Between is a time between two, by chance in [0,1), so that many that wait do not all return at
// once.
func Between(least, most time.Duration, chance float64) time.Duration {
	return least + time.Duration(chance*float64(most-least))
}
