package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// Above cardsShown sources, only those in trouble are shown whole (up to
// cardsShown of them); the others are one line each, linesShown of them unless
// all are asked for.
const (
	cardsShown = 6
	linesShown = 200
)

// asked is what the address asks for.
type asked struct {
	query  string // part of a name
	tone   string // only sources of this tone
	source string // only this one, whole
	all    bool
}

func askedFor(r *http.Request) asked {
	q := r.URL.Query()
	return asked{query: q.Get("q"), tone: q.Get("show"), source: q.Get("source"), all: q.Get("all") == "1"}
}

type view struct {
	Title    string
	Headline string
	Tone     string
	Problems []string
	Facts    []fact
	Filters  []filter
	Query    string
	Show     string
	Search   bool // there are enough sources to search
	One      bool // one source was asked for
	Cards    []card
	Lines    []line
	Hidden   int // lines left out
	AllURL   string
	Empty    string
	About    About
	Now      moment
	Uptime   string
}

type fact struct{ Label, Value, Note string }

type filter struct {
	Label, URL, Tone string
	Current          bool
}

// moment is an instant in words, with the exact one for who hovers.
type moment struct{ Text, Exact, Machine string }

func at(now, t time.Time) moment {
	m := moment{Text: ago(now, t), Exact: exactly(t)}
	if !t.IsZero() {
		m.Machine = t.UTC().Format(time.RFC3339)
	}
	return m
}

func newView(s syncer.Status, about About, a asked) view {
	sources := slices.Clone(s.Sources)
	slices.SortStableFunc(sources, func(x, y syncer.SourceStatus) int {
		return cmp.Or(cmp.Compare(rank(&x), rank(&y)), strings.Compare(x.Name, y.Name))
	})
	p := view{
		Problems: s.Problems, About: about, Query: a.query, Show: a.tone,
		Search: len(sources) > cardsShown, One: a.source != "",
		Now:    moment{Text: s.Now.UTC().Format("15:04:05 UTC"), Exact: exactly(s.Now), Machine: s.Now.UTC().Format(time.RFC3339)},
		Uptime: span(s.Now.Sub(s.StartedAt)),
	}
	p.summarise(sources)
	p.fill(s.Now, sources, a)
	return p
}

// fill chooses which sources are cards and which are lines.
func (p *view) fill(now time.Time, sources []syncer.SourceStatus, a asked) {
	few := len(sources) <= cardsShown
	for i := range sources {
		src := &sources[i]
		if !a.matches(src) {
			continue
		}
		whole := few || a.source != "" || toneOf(src) == toneTrouble && len(p.Cards) < cardsShown
		switch {
		case whole:
			p.Cards = append(p.Cards, newCard(now, src))
		case len(p.Lines) < linesShown || a.all:
			p.Lines = append(p.Lines, newLine(now, src))
		default:
			p.Hidden++
		}
	}
	p.AllURL = address(a.query, a.tone, true)
	if len(p.Cards)+len(p.Lines) == 0 {
		p.Empty = "No source matches."
		if len(sources) == 0 {
			p.Empty = "No sources yet."
		}
	}
}

func (a asked) matches(s *syncer.SourceStatus) bool {
	if a.source != "" {
		return s.Name == a.source
	}
	if a.tone != "" && toneOf(s) != a.tone {
		return false
	}
	q := strings.ToLower(strings.TrimSpace(a.query))
	return q == "" || strings.Contains(strings.ToLower(s.Name), q) || strings.Contains(strings.ToLower(s.BusinessName), q)
}

func address(query, tone string, all bool) string {
	v := url.Values{}
	if query != "" {
		v.Set("q", query)
	}
	if tone != "" {
		v.Set("show", tone)
	}
	if all {
		v.Set("all", "1")
	}
	if len(v) == 0 {
		return "/"
	}
	return "/?" + v.Encode()
}

// toneOf is the source's tone, or that of its worst stream.
func toneOf(s *syncer.SourceStatus) string {
	own := wordsOf(s.State).tone
	if own == toneTrouble {
		return own
	}
	busy := own == toneBusy
	for i := range s.Streams {
		switch wordsOf(s.Streams[i].State).tone {
		case toneTrouble:
			return toneTrouble
		case toneBusy:
			busy = true
		}
	}
	if busy {
		return toneBusy
	}
	return own
}

func rank(s *syncer.SourceStatus) int {
	return slices.Index([]string{toneTrouble, toneBusy, toneGood, toneQuiet}, toneOf(s))
}
