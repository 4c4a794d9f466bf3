package text

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond:        "under 1 s",
		45 * time.Second:              "45 s",
		119 * time.Second:             "119 s",
		12*time.Minute + 7e9:          "12 min",
		150 * time.Minute:             "2 h 30 min",
		31*time.Hour + 45*time.Minute: "31 h",
		72 * time.Hour:                "3 days",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1430: "1,430", 1234567: "1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShortCutsBetweenCharacters(t *testing.T) {
	for s, want := range map[string]string{"mici": "mici", "mititei": "mitit…", "cașcaval": "cașc…", "abcdță": "abcd…", "": "", "a\xffbcdef": "a\xffbcd…", "\x80\x80\x80\x80\x80\x80\x80": "\x80\x80…"} {
		if got := Short(s, 5); got != want {
			t.Errorf("Short(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		time.Second: "just now", 79 * time.Second: "79 s ago", 31*time.Hour + 45*time.Minute: "31 h ago", 50 * time.Hour: "2 days ago",
	} {
		if got := Ago(noon, noon.Add(-d)); got != want {
			t.Errorf("Ago(%s) = %q, want %q", d, got, want)
		}
	}
}
