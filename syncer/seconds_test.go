package syncer

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/status"
)

func TestDurationsAreSecondsInJSON(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "null", 1503 * time.Millisecond: "1.503", 16_113 * time.Millisecond: "16.113", 0: "0", 122100 * time.Millisecond: "122.1", 52 * time.Hour: "187200", 1_234_567 * time.Nanosecond: "0.001", 9e18: "9000000000",
	} {
		text, err := json.Marshal(status.StreamStatus{Lag: status.Seconds(d)})
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil || string(members["lag_seconds"]) != want {
			t.Errorf("%s is %s, want %s (%v)", d, members["lag_seconds"], want, err)
		}
		var back status.StreamStatus
		if err := json.Unmarshal(text, &back); err != nil || back.Lag != status.Seconds(d.Round(time.Millisecond)) && (d >= 0 || back.Lag != -1) {
			t.Errorf("%s comes back as %s (%v)", d, back.Lag, err)
		}
	}
	for _, bad := range []string{`"5s"`, `1e300`, `true`, `[]`, `-1e11`} {
		var s status.Seconds
		if err := json.Unmarshal([]byte(bad), &s); err == nil {
			t.Errorf("%s is %s", bad, s)
		}
	}
}
