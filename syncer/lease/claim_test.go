package lease

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// claimed is a claim made and last heard of so many seconds after the epoch.
func claimed(process string, since, beat int64) sinks.Claim {
	return sinks.Claim{Source: "s", Process: sinks.Process{ID: process, Name: "host " + process},
		Since: time.Unix(since, 0), BeatAt: time.Unix(beat, 0)}
}

func TestWhichClaimCounts(t *testing.T) {
	type look struct {
		at     int // when, in seconds by the process's own clock
		claims []sinks.Claim
		free   bool
		taken  bool
	}
	for name, looks := range map[string][]look{
		"alone, after a pause": {
			{0, []sinks.Claim{claimed("m", 100, 100)}, false, false},
			{1, []sinks.Claim{claimed("m", 100, 101)}, false, false},
			{2, []sinks.Claim{claimed("m", 100, 102)}, true, false},
		},
		"behind another, until that is gone": {
			{0, []sinks.Claim{claimed("a", 90, 99), claimed("m", 100, 100)}, false, false},
			{2, []sinks.Claim{claimed("a", 90, 99), claimed("m", 100, 102)}, false, false},
			{30, []sinks.Claim{claimed("m", 100, 130), claimed("a", 90, 120)}, false, true},
			{40, []sinks.Claim{claimed("m", 100, 140)}, true, false},
		},
		"of equally early ones the lower id": {
			{0, []sinks.Claim{claimed("a", 100, 100), claimed("m", 100, 100)}, false, false},
			{9, []sinks.Claim{claimed("a", 100, 109), claimed("m", 100, 109)}, false, true},
		},
		"ahead of one that has not read the claims since": {
			{0, []sinks.Claim{claimed("m", 100, 100), claimed("z", 101, 101)}, false, false},
			{2, []sinks.Claim{claimed("m", 100, 102), claimed("z", 101, 101)}, false, false},
			{8, []sinks.Claim{claimed("m", 100, 108), claimed("z", 101, 101)}, false, false},
			{10, []sinks.Claim{claimed("m", 100, 110), claimed("z", 101, 109)}, false, false},
			{12, []sinks.Claim{claimed("m", 100, 112), claimed("z", 101, 109)}, true, false},
		},
		"not yet again when it was made anew": {
			{0, []sinks.Claim{claimed("m", 100, 100)}, false, false},
			{2, []sinks.Claim{claimed("m", 100, 102)}, true, false},
			{40, []sinks.Claim{claimed("m", 140, 140)}, false, false},
			{42, []sinks.Claim{claimed("m", 140, 142)}, true, false},
		},
		"not without a claim of its own": {
			{0, []sinks.Claim{claimed("m", 100, 100)}, false, false},
			{2, nil, false, false},
		},
	} {
		var s lease
		for _, l := range looks {
			now := time.Unix(int64(l.at), 0)
			s.read(sinks.Process{ID: "m"}, l.claims, now, now)
			if s.free != l.free || s.alive != l.taken {
				t.Errorf("%s: after %d s free %t, taken %t", name, l.at, s.free, s.alive)
			}
		}
	}
}

// TestALeaseEndsByItself: nobody need notice that the beats have stopped.
func TestALeaseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Leases{all: map[string]*lease{"s": {held: true}}, until: time.Now().Add(Lasts)}
		time.Sleep(Lasts - time.Nanosecond)
		if err := l.Check("s"); err != nil {
			t.Errorf("before its end: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if !IsWaiting(l.Check("s")) || !IsWaiting(l.Check("another")) {
			t.Errorf("at its end: %v; one that was never held: %v", l.Check("s"), l.Check("another"))
		}
	})
}
