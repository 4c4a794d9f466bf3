// Package polling waits, in tests, for what happens in its own time: in another process,
// in the engine, in the kernel. Nothing tells when it has happened, and no clock of the
// test can be turned to it.
//
// Contents: asking again until something is so, and for pages; text that is looked at while it is
// written. Nothing but tests imports this.
package polling

import (
	"context"
	"testing"
	"time"
)

const (
	every = 10 * time.Millisecond
	// limit is more than a slow machine needs: who comes to it has failed.
	limit = 3 * time.Minute
)

// Until asks at once, and again until it is so. It fails the test with what was waited
// for when that takes longer than any machine needs.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !For(t.Context(), is) {
		t.Fatalf("not within %s: %s", limit, what)
	}
}

// For is Until where there is no test to fail; it reports whether it was so in time.
func For(ctx context.Context, is func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
