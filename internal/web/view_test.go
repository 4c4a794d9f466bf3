package web

import (
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer"
)

func TestFormats(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond:        "under 1 s",
		45 * time.Second:              "45 s",
		119 * time.Second:             "119 s",
		12*time.Minute + 7e9:          "12 min",
		150 * time.Minute:             "2 h 30 min",
		31*time.Hour + 45*time.Minute: "31 h",
		72 * time.Hour:                "3 days",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%s) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		time.Second: "just now", 79 * time.Second: "79 s ago", 31*time.Hour + 45*time.Minute: "31 h ago", 50 * time.Hour: "2 days ago",
	} {
		if got := ago(noon, noon.Add(-d)); got != want {
			t.Errorf("ago(%s) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[uint64]string{0: "0", 999: "999", 1430: "1,430", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestHeadline(t *testing.T) {
	one := func(s ...syncer.SourceStatus) syncer.Status { return syncer.Status{Now: noon, Sources: s} }
	tests := []struct {
		name     string
		status   syncer.Status
		problems []string
		want     string
	}{
		{"nothing", one(), nil, "No sources are configured."},
		{"good", one(healthy("a", "A"), healthy("b", "B")), nil, "Everything is up to date."},
		{"backfill", one(healthy("a", "A"), backfilling()), nil, "Backfill under way, 12 min left."},
		{"deep run", one(healthy("a", "A"), deep()), nil, "Everything is up to date."},
		{"starting", one(syncer.SourceStatus{Name: "a", State: syncer.StateStarting}), nil, "Getting under way."},
		{"one refused", one(refused()), nil, "The source needs attention."},
		{"one of two", one(refused(), healthy("a", "A")), nil, "1 of 2 sources needs attention."},
		{"two of three", one(refused(), partly(), healthy("a", "A")), nil, "2 of 3 sources need attention."},
		{"warehouse", one(healthy("a", "A")), []string{"warehouse down"}, "Larder needs attention."},
	}
	for _, tt := range tests {
		tt.status.Problems = tt.problems
		if got := newView(tt.status, About{}, asked{}).Headline; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEveryStateHasWords(t *testing.T) {
	for _, state := range []string{
		syncer.StateStarting, syncer.StateRunning, syncer.StateBackfill, syncer.StateOff, syncer.StateWaiting, syncer.StateUnauthorized, syncer.StateKeyDisabled,
		syncer.StateAPIDisabled, syncer.StateForbidden, syncer.StateUnreachable, syncer.StateFailing,
	} {
		w, ok := words[state]
		if !ok || w.label == "" || (w.tone == toneTrouble && w.advice == "") {
			t.Errorf("state %s has no words, or no advice: %+v", state, w)
		}
	}
	if w := wordsOf("some_new_state"); w.label != "some new state" {
		t.Errorf("unknown state = %+v", w)
	}
}

func TestTroubleComesFirst(t *testing.T) {
	p := newView(small().status, About{}, asked{})
	var names []string
	for _, c := range p.Cards {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "bistro corner trattoria ancora bodega" {
		t.Errorf("order = %s", got)
	}
	bistro := p.Cards[0]
	if bistro.State.Label != "1 stream in trouble" || bistro.State.Tone != toneTrouble {
		t.Errorf("bistro = %+v: a stream in trouble must show at its source", bistro.State)
	}
	corner := p.Cards[1]
	if corner.Since != "for 20 min" || corner.NextProbe != "asked again in 3 min" {
		t.Errorf("corner = %q, %q", corner.Since, corner.NextProbe)
	}
	orders := p.Cards[2].Streams[6]
	if orders.Progress == nil || orders.Progress.Text != "42 % of 500,800 rows · 12 min left, 1,430 requests" {
		t.Errorf("forecast = %+v", orders.Progress)
	}
}

func TestStreamsWaitForASourceInTroubleInSilence(t *testing.T) {
	s := syncer.SourceStatus{Name: "far", State: syncer.StateUnreachable, Detail: "no answer", Streams: []syncer.StreamStatus{
		{Name: "sales_daily", State: syncer.StateStarting, Lag: -1, Progress: &syncer.Progress{}},
		{Name: "products", State: syncer.StateOff},
	}}
	c := newCard(noon, &s)
	if waits := c.Streams[0]; waits.Detail != "" || waits.Progress != nil {
		t.Errorf("sales_daily = %+v: the source says why", waits)
	}
	if c.Streams[1].Detail == "" {
		t.Error("products does not say why it is off")
	}
	s.State, s.Detail = syncer.StateStarting, ""
	if c := newCard(noon, &s); c.Streams[0].Detail == "" {
		t.Error("without trouble, sales_daily does not say what it waits for")
	}
}

func TestThousandSources(t *testing.T) {
	s := thousand().status
	p := newView(s, About{}, asked{})
	if len(p.Cards) != cardsShown || len(p.Lines) != linesShown || p.Hidden != 1000-cardsShown-linesShown {
		t.Errorf("cards, lines, hidden = %d, %d, %d", len(p.Cards), len(p.Lines), p.Hidden)
	}
	if p.Lines[0].State.Tone != toneTrouble {
		t.Errorf("first line = %+v, want trouble", p.Lines[0])
	}
	tests := []struct {
		name         string
		a            asked
		cards, lines int
	}{
		{"all", asked{all: true}, cardsShown, 1000 - cardsShown},
		{"trouble", asked{tone: toneTrouble}, cardsShown, 11 - cardsShown},
		{"busy", asked{tone: toneBusy}, 0, 20},
		{"search", asked{query: "RESTAURANTUL nr. 10", all: true}, 0, 9},
		{"one", asked{source: "restaurant-0001"}, 1, 0},
		{"unknown", asked{source: "nobody"}, 0, 0},
	}
	for _, tt := range tests {
		p := newView(s, About{}, tt.a)
		if len(p.Cards) != tt.cards || len(p.Lines) != tt.lines {
			t.Errorf("%s: %d cards and %d lines, want %d and %d", tt.name, len(p.Cards), len(p.Lines), tt.cards, tt.lines)
		}
		if (p.Empty != "") != (tt.cards+tt.lines == 0) {
			t.Errorf("%s: empty = %q", tt.name, p.Empty)
		}
	}
}

func TestTheWayBackOfTotalsTellsItsDay(t *testing.T) {
	p := newProgress(&syncer.Progress{Walk: "totals", Pages: 2, Rows: 1840, Reached: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
	if p.Text != "1,840 rows, back to 2026-03-01" {
		t.Errorf("%+v", p)
	}
}

func TestADeepRunIsShownWithItsForecast(t *testing.T) {
	p := newView(syncer.Status{Now: noon, Sources: []syncer.SourceStatus{deep()}}, About{}, asked{})
	daily, products := p.Cards[0].Streams[7].Progress, p.Cards[0].Streams[8].Progress
	if daily.Percent != 33 || daily.Text != "deep run: 4 of 12 questions · 16 s left" {
		t.Errorf("%+v", daily)
	}
	if products.Percent != 100 || products.Text != "deep run: 2 days differ, asked again in 2 min" {
		t.Errorf("%+v", products)
	}
	if f := p.Facts[len(p.Facts)-1]; f != (fact{"Deep run", "2 min left", "9 questions to go"}) || p.Cards[0].State.Tone != toneGood {
		t.Errorf("%+v, %+v", f, p.Cards[0].State)
	}
	if l := newLine(noon, &syncer.SourceStatus{State: syncer.StateRunning, Streams: deep().Streams[7:8]}); l.Text != daily.Text {
		t.Errorf("%+v", l)
	}
	p = newView(syncer.Status{Now: noon, Sources: []syncer.SourceStatus{deep(), backfilling()}}, About{}, asked{})
	if f := p.Facts[2]; f != (fact{"Backfill", "12 min left", "1,430 requests to go"}) {
		t.Errorf("%+v", f)
	}
}
