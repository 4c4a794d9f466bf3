package text_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer"
)

func logged(t *testing.T, format string, args ...any) string {
	t.Helper()
	var b bytes.Buffer
	log, err := text.NewLogger(&b, format, slog.LevelInfo)
	if err != nil {
		t.Fatal(err)
	}
	log.Info("m", args...)
	return b.String()
}

func TestDurationsInJSONLogsAreSeconds(t *testing.T) {
	var line map[string]any
	first := logged(t, text.LogJSON, "took", 1500*time.Millisecond, slog.Group("walk", "left", time.Minute), "error", errors.New("no"))
	if err := json.Unmarshal([]byte(first), &line); err != nil {
		t.Fatal(err)
	}
	walk, _ := line["walk"].(map[string]any)
	if line["took_seconds"] != 1.5 || walk["left_seconds"] != 60.0 || line["took"] != nil || line["error"] != "no" {
		t.Error(first)
	}
	for d, want := range map[time.Duration]string{1503 * time.Millisecond: "1.503", 250 * time.Microsecond: "0.00025", 26 * time.Hour: "93600", -80 * time.Millisecond: "-0.08"} {
		if got := logged(t, text.LogJSON, "took", d); !strings.Contains(got, `"took_seconds":`+want+"}") {
			t.Errorf("%s: %s", d, got)
		}
	}
	if got := logged(t, text.LogText, "took", 1500*time.Millisecond); !strings.Contains(got, " took=1.5s\n") {
		t.Error(got)
	}
}

func TestTextLogsShowNoStructs(t *testing.T) {
	sel := syncer.Selection{Sources: []string{"bistro", "bar"}, Full: true}
	for want, args := range map[string][]any{
		`asked.sources="bistro, bar" asked.full=true`:                        {"asked", sel},
		`asked.from=2026-03-01 asked.to="" asked.heal=true asked.sources=""`: {"asked", syncer.ReconcileRequest{From: "2026-03-01", Heal: true}},
		`lost="a, b"`:                    {"lost", []string{"a", "b"}},
		`what="{\"Held\":\"x\"}"`:        {"what", &struct{ Held string }{"x"}},
		`by="{\"a\":1}"`:                 {"by", map[string]int{"a": 1}},
		`error=no`:                       {"error", errors.New("no")},
		`at=2026-03-01T00:00:00.000Z`:    {"at", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		`name="a\x1b[31m\u202eb" n=3`:    {"name", "a\x1b[31m\u202eb", "n", 3},
		`error="one\nlevel=ERROR msg=x"`: {"error", errors.New("one\nlevel=ERROR msg=x")},
	} {
		if got := logged(t, text.LogText, args...); !strings.HasSuffix(got, " msg=m "+want+"\n") {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}
