package app

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer/status"
)

// saysNothingIsStored: over a warehouse that takes no rows the source's badge, the states of
// its streams, the JSON and the metrics say so, and the source says it in one sentence.
func saysNothingIsStored(t *testing.T, d *Daemon) {
	t.Helper()
	s := statusOf(t, d)
	src := &s.Sources[0]
	if src.State != status.StateUnstored || src.Health().Kind != status.HealthWarehouse {
		t.Errorf("the source is %s, %+v", src.State, src.Health())
	}
	said := 0
	for i := range src.Streams {
		st := &src.Streams[i]
		if l := src.Light(st); l.Tone() == status.ToneGood || l.Tone() == status.ToneBusy || st.State == status.StateRunning {
			t.Errorf("%s is %q, %s", st.Name, l.Label, st.State)
		}
		if note := strings.Join(src.StreamNotes(s.Now, st), "; "); strings.Contains(note, "warehouse") || strings.Contains(note, "stored") {
			said++
		}
	}
	if said > 0 {
		t.Errorf("%d streams say again what the source says", said)
	}
	_, page := polling.Fetch(t, d.page.URL()+"/")
	if card := page[strings.Index(page, "<article"):]; strings.Contains(card, "up to date") || strings.Count(card, "The warehouse takes no rows.") != 1 {
		t.Errorf("the card of the page:\n%.3000s", card)
	}
	_, metrics := polling.Fetch(t, d.page.URL()+"/metrics")
	if !strings.Contains(metrics, `larder_source_health{health="warehouse",source="r0"} 1`) || strings.Contains(metrics, `state="running"`) || !strings.Contains(metrics, `larder_source_up{source=""} 1`) {
		t.Errorf("the metrics praise it, or blame the API:\n%s", linesWith(metrics, "larder_source", "larder_stream_state"))
	}
}

// saysRowsAreMissing: of streams that have lost rows nothing is green.
func saysRowsAreMissing(t *testing.T, s status.Status, of []string) {
	t.Helper()
	src := &s.Sources[0]
	if src.Health().Kind != status.HealthDamage || s.Health().Kind != status.HealthDamage {
		t.Errorf("the source is %+v, all %+v", src.Health(), s.Health())
	}
	for i := range src.Streams {
		st := &src.Streams[i]
		if lost := src.Light(st).Label == "rows missing"; lost != slices.Contains(of, st.Name) {
			t.Errorf("%s is %q", st.Name, src.Light(st).Label)
		}
	}
}

// statusOf is what the page gives as JSON.
func statusOf(t *testing.T, d *Daemon) (s status.Status) {
	t.Helper()
	code, text := polling.Fetch(t, d.page.URL()+"/status.json")
	if err := json.Unmarshal([]byte(text), &s); err != nil || code != http.StatusOK || len(s.Sources) == 0 {
		t.Fatalf("status.json: %d, %v\n%s", code, err, text)
	}
	return s
}

func linesWith(text string, words ...string) string {
	var found []string
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line, w) }) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}
