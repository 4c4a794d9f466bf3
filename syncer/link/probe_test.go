package link

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

func TestProbeDelays(t *testing.T) {
	for _, c := range []struct {
		state    string
		failures int
		after    time.Duration
		low      time.Duration
		high     time.Duration
	}{
		{status.StateUnauthorized, 1, 0, 225 * time.Second, 375 * time.Second},
		{status.StateKeyDisabled, 9, 0, 225 * time.Second, 375 * time.Second},
		{status.StateUnreachable, 1, 0, 11 * time.Second, 19 * time.Second},
		{status.StateUnreachable, 50, 0, 225 * time.Second, 375 * time.Second},
		{status.StateUnreachable, 1, time.Hour, time.Hour, time.Hour},
	} {
		for _, source := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			d := probeDelay(source, stream.Trouble{State: c.state, RetryAfter: c.after}, c.failures)
			if d < c.low || d > c.high {
				t.Errorf("%+v, source %s: %s", c, source, d)
			}
		}
	}
}
