package syncer

import (
	"fmt"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

func at(seconds int) time.Time { return time.Date(2026, 3, 1, 12, 0, seconds, 0, time.UTC) }

func TestWatermarkRules(t *testing.T) {
	zero := time.Time{}
	now := at(100)
	for _, c := range []struct {
		name      string
		start     time.Time
		stamps    []time.Time
		watermark time.Time // before the end of the walk
		ended     time.Time // after it
	}{
		{"no rows", at(5), nil, at(5), at(5)},
		{"in order", at(5), []time.Time{at(4), at(5), at(9)}, at(9), at(9)},
		{"lookback only", at(50), []time.Time{at(10), at(20)}, at(50), at(50)},
		{"rows without a stamp", at(5), []time.Time{zero, at(7), zero}, at(7), at(7)},
		{"ties", at(5), []time.Time{at(7), at(7), at(7)}, at(7), at(7)},
		{"out of order", at(5), []time.Time{at(9), at(8), at(20)}, at(9), at(20)},
		{"a minute ahead", at(5), []time.Time{at(160)}, at(160), at(160)},
		{"more than a minute ahead", at(5), []time.Time{at(161), at(7)}, at(7), at(7)},
	} {
		p := progress{cp: sinks.Checkpoint{Watermark: c.start}}
		for _, s := range c.stamps {
			p.stamped(s, now)
		}
		if !p.cp.Watermark.Equal(c.watermark) {
			t.Errorf("%s: watermark %s within the walk, want %s", c.name, p.cp.Watermark, c.watermark)
		}
		p.end()
		if !p.cp.Watermark.Equal(c.ended) || !p.cp.Pending.IsZero() {
			t.Errorf("%s: watermark %s at the end, want %s", c.name, p.cp.Watermark, c.ended)
		}
	}
}

func TestWhereAWalkGoesOnWithoutItsCursor(t *testing.T) {
	for _, c := range []struct {
		name string
		cp   sinks.Checkpoint
		want time.Time
	}{
		{"from the watermark minus the lookback", sinks.Checkpoint{Since: at(0), Watermark: at(600)}, at(480)},
		{"never before its own start", sinks.Checkpoint{Since: at(100), Watermark: at(150)}, at(100)},
		{"from its start when nothing is durable", sinks.Checkpoint{Since: at(100)}, at(100)},
		{"from its start when pages were out of order", sinks.Checkpoint{Since: at(100), Watermark: at(600), Pending: at(700)}, at(100)},
		{"an incremental walk does not trust the watermark it began with", sinks.Checkpoint{Walk: sinks.WalkIncremental, Since: at(100), Watermark: at(600)}, at(100)},
	} {
		p := progress{cp: c.cp}
		if got := p.restart(); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAnIncrementalWalkGoesOnFromItsOwnRows(t *testing.T) {
	p := progress{cp: sinks.Checkpoint{Walk: sinks.WalkIncremental, Since: at(0), Watermark: at(3000), StartedAt: at(3600)}}
	p.stamped(at(60), at(3600))
	p.stamped(at(900), at(3600))
	if got, want := p.restart(), at(900).Add(-lookback); !got.Equal(want) {
		t.Errorf("goes on from %s, want %s", got, want)
	}
}

func TestAWalkStartsNoLaterThanItsFirstAnswer(t *testing.T) {
	p := progress{cp: sinks.Checkpoint{StartedAt: at(3600), Watermark: at(4000)}} // our clock was moved ahead
	p.began(at(65), 2*time.Second)
	if got := since(p.cp); !got.Equal(at(63).Add(-lookback)) {
		t.Errorf("the next walk starts at %s", got)
	}
	p.began(at(70), 0)
	if !p.cp.StartedAt.Equal(at(63)) {
		t.Errorf("a later answer moved the start to %s", p.cp.StartedAt)
	}
}

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
		{StateUnauthorized, 1, 0, 225 * time.Second, 375 * time.Second},
		{StateKeyDisabled, 9, 0, 225 * time.Second, 375 * time.Second},
		{StateUnreachable, 1, 0, 11 * time.Second, 19 * time.Second},
		{StateUnreachable, 50, 0, 225 * time.Second, 375 * time.Second},
		{StateUnreachable, 1, time.Hour, time.Hour, time.Hour},
	} {
		for _, jitter := range []float64{0, 0.999} {
			d := probeDelay(trouble{state: c.state, retryAfter: c.after}, c.failures, jitter)
			if d < c.low || d > c.high {
				t.Errorf("%+v, jitter %v: %s", c, jitter, d)
			}
		}
	}
}
