package web

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// summarise writes the headline, the figures below it, and the filters.
func (p *view) summarise(sources []syncer.SourceStatus) {
	tones := map[string]int{}
	var rows, requests, limited uint64
	var backfill, deep forecast
	var lag time.Duration
	used, limit := 0, 0
	quarantined := 0
	for i := range sources {
		s := &sources[i]
		tones[toneOf(s)]++
		requests += s.Requests
		limited += s.RateLimited
		used += s.Budget.KeyUsed
		limit += s.Budget.KeyLimit
		for j := range s.Streams {
			st := &s.Streams[j]
			rows += st.Rows
			quarantined += st.Quarantined
			if st.State == syncer.StateRunning {
				lag = max(lag, st.Lag.Duration())
			}
			switch p := st.Progress; {
			case p == nil:
			case p.Deep():
				deep.add(p)
			default:
				backfill.add(p)
			}
		}
	}
	p.headline(len(sources), tones, backfill.wait)
	p.Facts = []fact{
		{"Rows written", count(rows), "since the start, " + p.Uptime + " ago"},
		{"Requests", count(requests), limitNote(used, limit, limited)},
		{"Slowest stream", slowest(lag, tones), "since its last good walk"},
		{"Quarantine", count(quarantined), "rows not understood, kept"},
	}
	if backfill.left > 0 {
		p.Facts[2] = backfill.fact("Backfill", "request")
	}
	if deep.left > 0 {
		p.Facts = append(p.Facts, deep.fact("Deep run", "question"))
	}
	p.filters(len(sources), tones)
}

// forecast sums up walks under way.
type forecast struct {
	left uint64 // requests of all
	wait time.Duration
}

func (f *forecast) add(p *syncer.Progress) {
	f.left += p.RequestsLeft
	f.wait = max(f.wait, p.ExpectedLeft.Duration())
}

func (f forecast) fact(label, noun string) fact {
	return fact{label, span(f.wait) + " left", plural(f.left, noun) + " to go"}
}

func (p *view) headline(n int, tones map[string]int, wait time.Duration) {
	trouble, busy := tones[toneTrouble], tones[toneBusy]
	switch {
	case len(p.Problems) > 0:
		p.Headline, p.Tone = "Larder needs attention.", toneTrouble
	case n == 0:
		p.Headline, p.Tone = "No sources are configured.", toneQuiet
	case trouble > 0 && n == 1:
		p.Headline, p.Tone = "The source needs attention.", toneTrouble
	case trouble > 0:
		p.Headline, p.Tone = fmt.Sprintf("%s of %s %s attention.", count(trouble), plural(n, "source"), needs(trouble)), toneTrouble
	case busy > 0 && wait > 0:
		p.Headline, p.Tone = "Backfill under way, "+span(wait)+" left.", toneBusy
	case busy > 0:
		p.Headline, p.Tone = "Getting under way.", toneBusy
	default:
		p.Headline, p.Tone = "Everything is up to date.", toneGood
	}
	p.Title = map[string]string{toneTrouble: "! ", toneBusy: "… "}[p.Tone] + "Larder"
}

func needs(n int) string {
	if n == 1 {
		return "needs"
	}
	return "need"
}

func limitNote(used, limit int, limited uint64) string {
	note := "no key has answered yet"
	if limit > 0 {
		note = fmt.Sprintf("%s of %s in the last minute", count(used), count(limit))
	}
	if limited > 0 {
		note += ", " + count(limited) + " × 429"
	}
	return note
}

func slowest(lag time.Duration, tones map[string]int) string {
	if lag == 0 && tones[toneGood] == 0 {
		return "–"
	}
	return span(lag)
}

func (p *view) filters(n int, tones map[string]int) {
	add := func(tone, label string, n int) {
		if n > 0 || tone == p.Show && tone != "" {
			p.Filters = append(p.Filters, filter{Label: label + " " + count(n), URL: address(p.Query, tone, false), Tone: tone, Current: tone == p.Show})
		}
	}
	add("", "all", n)
	add(toneTrouble, "need attention", tones[toneTrouble])
	add(toneBusy, "busy", tones[toneBusy])
	add(toneGood, "up to date", tones[toneGood])
	add(toneQuiet, "off", tones[toneQuiet])
}
