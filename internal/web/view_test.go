package web

import (
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/status"
)

func TestHeadline(t *testing.T) {
	one := func(s ...status.SourceStatus) status.Status { return status.Status{Now: noon, Sources: s} }
	tests := []struct {
		name     string
		status   status.Status
		problems []string
		want     string
	}{
		{"nothing", one(), nil, "No sources are configured."},
		{"good", one(healthy("a", "A"), healthy("b", "B")), nil, "Everything is up to date and proven."},
		{"backfill", one(backfilling()), nil, "Backfill under way, 12 min left."},
		{"backfill of one", one(healthy("a", "A"), backfilling()), nil, "trattoria: Backfill under way, 12 min left."},
		{"deep run", one(healthy("a", "A"), deep()), nil, "Everything is up to date and proven."},
		{"starting", one(status.SourceStatus{Name: "a", State: status.StateStarting}), nil, "Waiting for the first answer."},
		{"drift", one(drifting()), nil, "90 days differ from the service's totals."},
		{"one refused", one(refused()), nil, "The service refuses the key."},
		{"one of two", one(refused(), healthy("a", "A")), nil, "corner: The service refuses the key."},
		{"warehouse", one(healthy("a", "A")), []string{"warehouse down"}, "The warehouse takes no rows."},
	}
	for _, tt := range tests {
		tt.status.Problems, tt.status.WarehouseUnavailable = tt.problems, tt.problems != nil
		if got := newView(tt.status, About{}, asked{}).Headline; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What slows requests down from outside stands on the card, with the time of the next try.
func TestAPauseAndASharedKeyAreShown(t *testing.T) {
	s := healthy("a", "A")
	s.Budget.PausedUntil, s.Budget.Shared = noon.Add(40*time.Minute), "key"
	want := "the service answers 429 and asks to wait until " + noon.Add(40*time.Minute).UTC().Format("15:04:05") + " UTC; someone else seems to use the key, and leaves few requests"
	if got := newCard(noon, judge([]status.SourceStatus{s})[0]).Notes; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTroubleComesFirst(t *testing.T) {
	p := newView(small().status, About{}, asked{})
	var names []string
	for _, c := range p.Cards {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "corner bistro trattoria ancora bodega" {
		t.Errorf("order = %s", got)
	}
	bistro := p.Cards[1]
	if bistro.Worst.Label != "3 rows in quarantine" || bistro.Worst.Tone() != status.ToneTrouble || len(bistro.Concerns) != 2 || bistro.Concerns[1].Text != "Larder is behind with products." {
		t.Errorf("bistro = %+v, %+v: what is wrong with a stream must show at its source", bistro.Worst, bistro.Concerns)
	}
	corner := p.Cards[0]
	if got := corner.Notes; !strings.HasPrefix(got, "In trouble for 20 min, asked again in 3 min") {
		t.Errorf("corner = %q", got)
	}
	orders := p.Cards[2].Lines[6]
	if orders.Progress == nil || orders.Progress.Text() != "214,800 of 500,800 rows, 12 min left, 1,430 requests" {
		t.Errorf("forecast = %+v", orders.Progress)
	}
}

func TestARefusedKeyIsOneSentence(t *testing.T) {
	s := refused()
	c := newCard(noon, judge([]status.SourceStatus{s})[0])
	if len(c.Concerns) != 1 || !strings.Contains(c.Concerns[0].Advice, "key_file") {
		t.Errorf("%+v", c.Concerns)
	}
	for _, stream := range c.Lines {
		if stream.Light.Label != "not asked" || stream.Light.Tone() != status.ToneQuiet || len(stream.Notes) > 0 {
			t.Errorf("%+v", stream)
		}
	}
}

func TestNothingIsGreenOverDriftAndQuarantine(t *testing.T) {
	s := status.Status{Now: noon, Sources: []status.SourceStatus{drifting()}}
	p := newView(s, About{}, asked{})
	c := p.Cards[0]
	if p.Tone != status.ToneTrouble || c.Worst.Label != "90 days differ" || c.Worst.Tone() != status.ToneTrouble || p.Title != "! Larder" ||
		c.Lines[6].Light.Tone() != status.ToneTrouble || c.Lines[4].Light.Label != "12 in quarantine" || c.Lines[4].Light.Tone() != status.ToneTrouble {
		t.Errorf("%s %s, %+v, %+v", p.Headline, p.Tone, c.Worst, c.Lines)
	}
	if len(p.Also) != 1 || p.Also[0].Text != "12 rows are in quarantine." || len(c.Concerns) != 2 || c.Concerns[0].Advice == "" {
		t.Errorf("%+v, %+v", p.Also, c.Concerns)
	}
	s.Sources = append(s.Sources, healthy("ancora", "Ancora Veche"))
	if l := judge(s.Sources)[0].Worst; l.Label != "90 days differ" || l.Text != "90 days differ from the service's totals." {
		t.Errorf("%+v", l)
	}
}

func TestRowsHeldAreThoseOfTheWarehouse(t *testing.T) {
	a, b := healthy("a", "A"), healthy("b", "A")
	b.BusinessID = a.BusinessID // two keys of one restaurant: its rows are there once
	p := newView(status.Status{Now: noon, CountedAt: noon.Add(-20 * time.Second), Sources: []status.SourceStatus{a, b}}, About{}, asked{})
	if p.Facts[0] != (fact{"Rows held", "56,889", "counted 20 s ago"}) || p.Cards[0].Lines[6].Rows != "48,211" {
		t.Errorf("%+v, %+v", p.Facts[0], p.Cards[0].Lines[6])
	}
	// Two keys of one restaurant that read different lists, and one of another: whichever
	// is shown first, each list counts once.
	menu, sales, other := healthy("menu", "A"), healthy("sales", "A"), healthy("other", "B")
	held := func(name string, n uint64) status.StreamStatus {
		return status.StreamStatus{Name: name, State: status.StateRunning, Rows: &n}
	}
	off := status.StreamStatus{Name: "products", State: status.StateOff}
	menu.Streams = []status.StreamStatus{held("locations", 2), held("products", 100)}
	sales.Streams = []status.StreamStatus{held("locations", 2), off, held("sales_orders", 5000)}
	other.Streams, other.BusinessID, sales.BusinessID = []status.StreamStatus{held("products", 30)}, "b2", menu.BusinessID
	for _, worst := range []*status.SourceStatus{&menu, &sales, &other} {
		was := worst.State
		worst.State = status.StateUnreachable
		p = newView(status.Status{Now: noon, Sources: []status.SourceStatus{menu, sales, other}}, About{}, asked{})
		if p.Cards[0].Name != worst.Name || p.Facts[0].Value != "5,132" {
			t.Errorf("%s first: %+v", p.Cards[0].Name, p.Facts[0])
		}
		worst.State = was
	}
	a.Streams = []status.StreamStatus{{Name: "products", State: status.StateRunning, Written: 5}}
	p = newView(status.Status{Now: noon, Sources: []status.SourceStatus{a}}, About{}, asked{})
	if p.Facts[0] != (fact{"Rows held", "–", "not counted yet"}) || p.Cards[0].Lines[0].Rows != "–" {
		t.Errorf("%+v, %+v", p.Facts[0], p.Cards[0].Lines[0])
	}
}

func TestThousandSources(t *testing.T) {
	s := thousand().status
	p := newView(s, About{}, asked{})
	if len(p.Cards) != cardsShown || len(p.Lines) != linesShown || p.Hidden != 1000-cardsShown-linesShown {
		t.Errorf("cards, lines, hidden = %d, %d, %d", len(p.Cards), len(p.Lines), p.Hidden)
	}
	if p.Lines[0].Worst.Tone() != status.ToneTrouble {
		t.Errorf("first line = %+v, want trouble", p.Lines[0])
	}
	tests := []struct {
		name         string
		a            asked
		cards, lines int
	}{
		{"all", asked{All: true}, cardsShown, 1000 - cardsShown},
		{"trouble", asked{Show: status.ToneTrouble}, cardsShown, 11 - cardsShown},
		{"busy", asked{Show: status.ToneBusy}, 0, 20},
		{"search", asked{Query: "RESTAURANTUL nr. 10", All: true}, 0, 9},
		{"one", asked{Source: "restaurant-0001"}, 1, 0},
		{"unknown", asked{Source: "nobody"}, 0, 0},
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

// A fleet's card has the streams in which something is wrong; the source's own page has all.
func TestTheCardsOfAFleetAreFolded(t *testing.T) {
	s := thousand().status
	s.Sources[0] = partly()
	p := newView(s, About{}, asked{Query: "bistro"})
	var shown []string
	for _, line := range p.Cards[0].Lines {
		shown = append(shown, line.Name)
	}
	if got := strings.Join(shown, " "); got != "products sales_orders" || !p.Cards[0].Folded {
		t.Errorf("%s, folded %v", got, p.Cards[0].Folded)
	}
	if c := newView(s, About{}, asked{Source: "bistro"}).Cards[0]; len(c.Lines) != 9 || c.Folded {
		t.Errorf("its own page has %d streams, folded %v", len(c.Lines), c.Folded)
	}
}

func TestADeepRunIsShown(t *testing.T) {
	p := newView(status.Status{Now: noon, Sources: []status.SourceStatus{deep()}}, About{}, asked{})
	daily, products := p.Cards[0].Lines[7].Progress, p.Cards[0].Lines[8].Progress
	if daily.Percent() != 33 || daily.Text() != "deep run: 4 of 12 questions, 16 s left" {
		t.Errorf("%+v", daily)
	}
	if products.Percent() != 100 || products.Text() != "deep run: 2 days differ, asked again in 2 min" {
		t.Errorf("%+v", products)
	}
	if p.Cards[0].Worst.Tone() != status.ToneGood {
		t.Errorf("%+v", p.Cards[0].Worst)
	}
}
