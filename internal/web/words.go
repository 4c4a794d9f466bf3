package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// The tones of a state: how much attention it wants.
const (
	toneTrouble = "trouble"
	toneBusy    = "busy"
	toneGood    = "good"
	toneQuiet   = "quiet"
)

type stateWords struct {
	label, tone string
	advice      string // when the syncer gives no detail
}

var words = map[string]stateWords{
	syncer.StateStarting:     {"starting", toneBusy, "Waiting for the first answer."},
	syncer.StateRunning:      {"up to date", toneGood, ""},
	syncer.StateBackfill:     {"backfill", toneBusy, ""},
	syncer.StateHeld:         {"sweep held", toneTrouble, "A full resync did not see many live rows. Look whether they are really gone, then confirm with: larder sync --full --confirm-sweep, with --source and --stream."},
	syncer.StateWaiting:      {"waiting", toneQuiet, "Another process on the same warehouse serves this source. This one takes over when that one ends."},
	syncer.StateOff:          {"off", toneQuiet, "Not configured, or the key lacks the scope."},
	syncer.StateUnauthorized: {"key refused", toneTrouble, "The service does not know this key. Create a new one with the restaurant, put it into the key file; Larder goes on by itself."},
	syncer.StateKeyDisabled:  {"key disabled", toneTrouble, "The restaurant disabled this key. Ask them to enable it again; Larder goes on by itself."},
	syncer.StateAPIDisabled:  {"ordering off", toneQuiet, "The restaurant has online ordering switched off. Larder goes on by itself when it is back."},
	syncer.StateForbidden:    {"no access", toneTrouble, "The key may not read this. Ask the restaurant to widen the key's scopes or locations."},
	syncer.StateUnreachable:  {"no answer", toneTrouble, "The service does not answer, or answers something else. Check base_url and the network; Larder keeps trying."},
	syncer.StateFailing:      {"failing", toneTrouble, "The last walk failed and is tried again."},
}

func wordsOf(state string) stateWords {
	if w, ok := words[state]; ok {
		return w
	}
	return stateWords{label: strings.ReplaceAll(state, "_", " "), tone: toneQuiet}
}

// count writes 1430 as 1,430.
func count[N int | uint64](n N) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes "1 row" and "2 rows".
func plural[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// span writes a duration as a person would say it, from ten hours on in one unit.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour && (d >= 10*time.Hour || d.Truncate(time.Hour) == d.Truncate(time.Minute)):
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

func ago(now, t time.Time) string {
	switch {
	case t.IsZero():
		return "never"
	case now.Sub(t) < 2*time.Second:
		return "just now"
	case now.Sub(t) >= 2*time.Hour && now.Sub(t) < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(now.Sub(t).Hours()))
	default:
		return span(now.Sub(t)) + " ago"
	}
}

func exactly(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
