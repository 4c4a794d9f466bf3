package syncer

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// A change may show up during a walk, stamped up to two minutes back, behind the
// walk's cursor: the next walk must still begin in front of it, however far
// newer rows have moved the watermark meanwhile.
func TestNextWalkBeginsBeforeWhatThisOneMayHavePassed(t *testing.T) {
	started := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		watermark time.Time
		want      time.Time
	}{
		"rows newer than the walk's start": {started.Add(30 * time.Second), started.Add(-lookback)},
		"a quiet restaurant":               {started.Add(-time.Hour), started.Add(-time.Hour - lookback)},
	} {
		t.Run(name, func(t *testing.T) {
			p := progress{cp: sinks.Checkpoint{StartedAt: started, Watermark: tc.watermark}}
			if got := since(p.cp); !got.Equal(tc.want) {
				t.Errorf("since = %s, want %s", got, tc.want)
			}
			if got := p.restart(); !got.Equal(tc.want) {
				t.Errorf("restart = %s, want %s", got, tc.want)
			}
		})
	}
}
