package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// Above cardsShown sources, only those in trouble have a card (up to cardsShown
// of them), with the streams that are not well; the others are one line each,
// linesShown of them unless all are asked for.
const (
	cardsShown = 6
	linesShown = 50
)

// asked is what the address asks for.
type asked struct {
	Query  string      // part of a name
	Show   status.Tone // only sources of this tone
	Source string      // only this one, whole
	All    bool
}

type view struct {
	asked
	Title    string
	Headline string
	Tone     status.Tone
	Also     []status.Concern // what else is the matter
	Problems []string
	Warnings []string
	Facts    []fact
	Filters  []filter
	Search   bool // there are enough sources to search
	Cards    []card
	Lines    []judged
	Hidden   int // lines left out
	AllURL   string
	Empty    string
	About    About
	Now      moment
}

type fact struct{ Label, Value, Note string }

type filter struct {
	Label, URL string
	Tone       status.Tone
	Current    bool
}

// moment is an instant in words; the exact one is shown under the pointer.
type moment struct{ Text, Exact, Machine string }

func at(now, t time.Time) moment {
	if t.IsZero() {
		return moment{Text: text.Ago(now, t)}
	}
	return moment{text.Ago(now, t), t.UTC().Format("2006-01-02 15:04:05 UTC"), t.UTC().Format(time.RFC3339)}
}

func newView(s status.Status, about About, a asked) view {
	sources := judge(s.Sources)
	p := view{
		asked: a, Problems: s.Problems, Warnings: s.Warnings, About: about,
		Search: len(sources) > cardsShown, Now: at(s.Now, s.Now),
	}
	p.Now.Text = s.Now.UTC().Format("15:04:05 UTC")
	all := s.Concerns()
	p.Headline, p.Tone = all[0].Text, all[0].Tone()
	for _, c := range all[1:] {
		if c.Kind != status.HealthStarting && c.Kind != status.HealthBackfill {
			p.Also = append(p.Also, c)
		}
	}
	p.Title = map[status.Tone]string{status.ToneTrouble: "! ", status.ToneBusy: "… "}[p.Tone] + "Larder"
	p.summarise(&s, sources)
	p.fill(s.Now, sources)
	return p
}

// judged is a source with its worst concern. A source without a card has a line with its name and that
// concern.
type judged struct {
	*status.SourceStatus
	Worst status.Concern
}

// judge puts sources in order, the worst first.
func judge(sources []status.SourceStatus) []judged {
	all := make([]judged, len(sources))
	for i := range sources {
		all[i] = judged{&sources[i], sources[i].Health()}
	}
	slices.SortStableFunc(all, func(x, y judged) int {
		return cmp.Or(x.Worst.Compare(y.Worst), strings.Compare(x.Name, y.Name))
	})
	return all
}

// fill chooses which sources are cards and which are lines.
func (p *view) fill(now time.Time, sources []judged) {
	few := len(sources) <= cardsShown
	for _, src := range sources {
		if !p.matches(src) {
			continue
		}
		switch {
		case few || p.Source != "":
			p.Cards = append(p.Cards, newCard(now, src))
		case src.Worst.Tone() == status.ToneTrouble && len(p.Cards) < cardsShown:
			p.Cards = append(p.Cards, newCard(now, src).folded())
		case len(p.Lines) < linesShown || p.All:
			p.Lines = append(p.Lines, src)
		default:
			p.Hidden++
		}
	}
	p.AllURL = address(p.Query, p.Show, true)
	if len(p.Cards)+len(p.Lines) == 0 {
		p.Empty = "No source matches."
		if len(sources) == 0 {
			p.Empty = "No sources yet."
		}
	}
}

func (a asked) matches(s judged) bool {
	if a.Source != "" {
		return s.Name == a.Source
	}
	if a.Show != "" && s.Worst.Tone() != a.Show {
		return false
	}
	q := strings.ToLower(strings.TrimSpace(a.Query))
	return q == "" || strings.Contains(strings.ToLower(s.Name), q) || strings.Contains(strings.ToLower(s.BusinessName), q)
}

func address(query string, tone status.Tone, all bool) string {
	v := url.Values{}
	if query != "" {
		v.Set("q", query)
	}
	if tone != "" {
		v.Set("show", string(tone))
	}
	if all {
		v.Set("all", "1")
	}
	return strings.TrimSuffix("/?"+v.Encode(), "?")
}
