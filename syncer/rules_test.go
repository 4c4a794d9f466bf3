package syncer

import (
	"fmt"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

func TestShardsShareTheSources(t *testing.T) {
	moved, counts := 0, make([]int, 4)
	for i := range 1000 {
		name, owners := fmt.Sprintf("source%d", i), 0
		for index := range 4 {
			if (Shard{index, 4}).Takes(name) {
				owners++
				counts[index]++
				if index < 3 && !(Shard{index, 3}).Takes(name) {
					moved++
				}
			}
		}
		if owners != 1 {
			t.Fatalf("%s has %d owners", name, owners)
		}
	}
	if moved != 0 {
		t.Errorf("%d sources moved between the shards that stayed", moved)
	}
	for index, n := range counts {
		if n < 180 || n > 320 {
			t.Errorf("shard %d takes %d of 1000", index, n)
		}
	}
}

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
		for _, jitter := range []float64{0, 0.999} {
			d := probeDelay(stream.Trouble{State: c.state, RetryAfter: c.after}, c.failures, jitter)
			if d < c.low || d > c.high {
				t.Errorf("%+v, jitter %v: %s", c, jitter, d)
			}
		}
	}
}
