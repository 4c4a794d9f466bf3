package web

import (
	"fmt"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// summarise writes the figures below the headline, added up over the sources, and the filters.
func (p *view) summarise(s *status.Status, sources []judged) {
	var rows, requests, limited uint64
	quarantined, used, limit, lag := 0, 0, 0, status.Seconds(-1) // nothing has been walked
	type list struct{ business, stream string }                  // its rows are there once, however many sources read it
	counted, tones := map[list]bool{}, map[status.Tone]int{}
	for _, src := range sources {
		tones[src.Worst.Tone()]++
		requests += src.Requests
		limited += src.RateLimited
		used += src.Budget.KeyUsed
		limit += src.Budget.KeyLimit
		for i := range src.Streams {
			st := &src.Streams[i]
			if l := (list{src.BusinessID, st.Name}); st.Rows != nil && !counted[l] {
				rows += *st.Rows
				counted[l] = true
			}
			quarantined += st.Quarantined
		}
		lag = max(lag, src.Lag())
	}
	p.Facts = []fact{
		{"Rows held", "–", "not counted yet"},
		{"Requests", text.Count(requests), "no key has answered yet"},
		{"Slowest stream", "–", "since its last good walk"},
		{"Quarantine", text.Count(quarantined), "rows not understood, kept"},
	}
	if len(counted) > 0 {
		p.Facts[0].Value, p.Facts[0].Note = text.Count(rows), "counted "+text.Ago(s.Now, s.CountedAt)
	}
	if limit > 0 {
		p.Facts[1].Note = fmt.Sprintf("%s of %s in the last minute", text.Count(used), text.Count(limit))
	}
	if limited > 0 {
		p.Facts[1].Note += ", " + text.Count(limited) + " × 429"
	}
	if lag >= 0 {
		p.Facts[2].Value = text.Span(lag.Duration())
	}
	p.filters(len(s.Sources), tones)
}

func (p *view) filters(n int, tones map[status.Tone]int) {
	add := func(tone status.Tone, label string, n int) {
		if n > 0 || tone == p.Show && tone != "" {
			p.Filters = append(p.Filters, filter{Label: label + " " + text.Count(n), URL: address(p.Query, tone, false), Tone: tone, Current: tone == p.Show})
		}
	}
	add("", "all", n)
	add(status.ToneTrouble, "need attention", tones[status.ToneTrouble])
	add(status.ToneBusy, "on the way", tones[status.ToneBusy])
	add(status.ToneGood, "up to date", tones[status.ToneGood])
	add(status.ToneQuiet, "waiting", tones[status.ToneQuiet])
}
