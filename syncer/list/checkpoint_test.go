package list

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

func TestWatermarkRules(t *testing.T) {
	zero := time.Time{}
	now := moment(100)
	for _, c := range []struct {
		name      string
		start     time.Time
		stamps    []time.Time
		watermark time.Time // before the end of the walk
		ended     time.Time // after it
	}{
		{"no rows", moment(5), nil, moment(5), moment(5)},
		{"in order", moment(5), []time.Time{moment(4), moment(5), moment(9)}, moment(9), moment(9)},
		{"lookback only", moment(50), []time.Time{moment(10), moment(20)}, moment(50), moment(50)},
		{"rows without a stamp", moment(5), []time.Time{zero, moment(7), zero}, moment(7), moment(7)},
		{"ties", moment(5), []time.Time{moment(7), moment(7), moment(7)}, moment(7), moment(7)},
		{"out of order", moment(5), []time.Time{moment(9), moment(8), moment(20)}, moment(9), moment(20)},
		{"a minute ahead", moment(5), []time.Time{moment(160)}, moment(160), moment(160)},
		{"more than a minute ahead", moment(5), []time.Time{moment(161), moment(7)}, moment(7), moment(7)},
	} {
		p := Checkpoint{Checkpoint: sinks.Checkpoint{Watermark: c.start}}
		for _, s := range c.stamps {
			p.observe(s, now)
		}
		if !p.Watermark.Equal(c.watermark) {
			t.Errorf("%s: watermark %s within the walk, want %s", c.name, p.Watermark, c.watermark)
		}
		p.ended()
		if !p.Watermark.Equal(c.ended) || !p.Pending.IsZero() {
			t.Errorf("%s: watermark %s at the end, want %s", c.name, p.Watermark, c.ended)
		}
	}
}

func TestWhereAWalkGoesOnWithoutItsCursor(t *testing.T) {
	for _, c := range []struct {
		name string
		cp   sinks.Checkpoint
		want time.Time
	}{
		{"from the watermark minus the lookback", sinks.Checkpoint{Since: moment(0), Watermark: moment(600)}, moment(480)},
		{"never before its own start", sinks.Checkpoint{Since: moment(100), Watermark: moment(150)}, moment(100)},
		{"from its start when nothing is durable", sinks.Checkpoint{Since: moment(100)}, moment(100)},
		{"from its start when pages were out of order", sinks.Checkpoint{Since: moment(100), Watermark: moment(600), Pending: moment(700)}, moment(100)},
		{"a backfill of everything, too", sinks.Checkpoint{Walk: sinks.WalkBackfill, Watermark: moment(600)}, moment(480)},
		{"a full resync of everything from its start, for its sweep", sinks.Checkpoint{Walk: sinks.WalkFull, Watermark: moment(600)}, time.Time{}},
		{"a full resync of what has a start", sinks.Checkpoint{Walk: sinks.WalkFull, Since: moment(0), Watermark: moment(600)}, moment(480)},
		{"an incremental walk does not trust the watermark it began with", sinks.Checkpoint{Walk: sinks.WalkIncremental, Since: moment(100), Watermark: moment(600)}, moment(100)},
	} {
		p := Checkpoint{Checkpoint: c.cp}
		if got := p.Restart(); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAnIncrementalWalkGoesOnFromItsOwnRows(t *testing.T) {
	p := Checkpoint{Checkpoint: sinks.Checkpoint{Walk: sinks.WalkIncremental, Since: moment(0), Watermark: moment(3000), StartedAt: moment(3600)}}
	p.observe(moment(60), moment(3600))
	p.observe(moment(900), moment(3600))
	if got, want := p.Restart(), moment(900).Add(-Lookback); !got.Equal(want) {
		t.Errorf("goes on from %s, want %s", got, want)
	}
}

func TestAWalkStartsNoLaterThanItsFirstAnswer(t *testing.T) {
	p := Checkpoint{Checkpoint: sinks.Checkpoint{StartedAt: moment(3600), Watermark: moment(4000)}} // our clock was moved ahead
	p.answered(moment(65), 2*time.Second)
	if got := p.Next(); !got.Equal(moment(63).Add(-2 * time.Minute)) { // as the API's description has it
		t.Errorf("the next walk starts at %s", got)
	}
	p.answered(moment(70), 0)
	if !p.StartedAt.Equal(moment(63)) {
		t.Errorf("a later answer moved the start to %s", p.StartedAt)
	}
}

// A change may show up during a walk, stamped up to two minutes back, behind the
// walk's cursor: the next walk must still begin in front of it, however far
// newer rows have moved the watermark meanwhile.
func TestNextWalkBeginsBeforeWhatThisOneMayHavePassed(t *testing.T) {
	started := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		watermark time.Time
		want      time.Time
	}{
		"rows newer than the walk's start": {started.Add(30 * time.Second), started.Add(-Lookback)},
		"a quiet restaurant":               {started.Add(-time.Hour), started.Add(-time.Hour - Lookback)},
	} {
		t.Run(name, func(t *testing.T) {
			p := Checkpoint{Checkpoint: sinks.Checkpoint{Since: started.Add(-24 * time.Hour), StartedAt: started, Watermark: tc.watermark}}
			if got := p.Next(); !got.Equal(tc.want) {
				t.Errorf("since = %s, want %s", got, tc.want)
			}
			if got := p.Restart(); !got.Equal(tc.want) {
				t.Errorf("restart = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestHalfAndFewAreNotSuspicious(t *testing.T) {
	for _, c := range []struct {
		unseen, live uint64
		want         bool
	}{
		{100, 100, false}, {101, 505, false}, {101, 504, true}, {0, 0, false}, {2000, 10_000, false}, {2001, 10_000, true},
	} {
		if got := suspicious(c.unseen, c.live); got != c.want {
			t.Errorf("%d of %d: %v", c.unseen, c.live, got)
		}
	}
}

func moment(seconds int) time.Time { return time.Date(2026, 3, 1, 12, 0, seconds, 0, time.UTC) }
