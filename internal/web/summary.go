package web

import (
	"fmt"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// headline says how well all of it is, the worst first.
func (p *view) headline(s *status.Status) {
	all := s.Concerns()
	p.Headline, p.Tone = all[0].Text, all[0].Tone()
	for _, c := range all[1:] {
		if c.Kind != status.HealthStarting && c.Kind != status.HealthBackfill {
			p.Also = append(p.Also, c)
		}
	}
	p.Title = map[status.Tone]string{status.ToneTrouble: "! ", status.ToneBusy: "… "}[p.Tone] + "Larder"
}

// figures are added up over the sources.
type figures struct {
	rows                     uint64
	counted                  map[list]bool // whose rows are among them
	requests, limited        uint64
	quarantined, used, limit int
	lag                      status.Seconds // below 0: nothing has been walked
	tones                    map[status.Tone]int
}

// list is a restaurant's list: its rows are there once, however many sources read it.
type list struct{ business, stream string }

// summarise writes the figures below the headline, and the filters.
func (p *view) summarise(s *status.Status, sources []judged) {
	f := figures{tones: map[status.Tone]int{}, counted: map[list]bool{}, lag: -1}
	for _, src := range sources {
		f.add(src)
	}
	p.Facts = []fact{
		{"Rows held", "–", "not counted yet"},
		{"Requests", text.Count(f.requests), limitNote(f.used, f.limit, f.limited)},
		{"Slowest stream", "–", "since its last good walk"},
		{"Quarantine", text.Count(f.quarantined), "rows not understood, kept"},
	}
	if len(f.counted) > 0 {
		p.Facts[0].Value, p.Facts[0].Note = text.Count(f.rows), "counted "+text.Ago(s.Now, s.CountedAt)
	}
	if f.lag >= 0 {
		p.Facts[2].Value = text.Span(f.lag.Duration())
	}
	p.filters(len(s.Sources), f.tones)
}

func (f *figures) add(s judged) {
	f.tones[s.Worst.Tone()]++
	f.requests += s.Requests
	f.limited += s.RateLimited
	f.used += s.Budget.KeyUsed
	f.limit += s.Budget.KeyLimit
	for i := range s.Streams {
		st := &s.Streams[i]
		if l := (list{s.BusinessID, st.Name}); st.Rows != nil && !f.counted[l] {
			f.rows += *st.Rows
			f.counted[l] = true
		}
		f.quarantined += st.Quarantined
		if st.State != status.StateOff && st.State != status.StateWaiting {
			f.lag = max(f.lag, st.Lag)
		}
	}
}

func limitNote(used, limit int, limited uint64) string {
	note := "no key has answered yet"
	if limit > 0 {
		note = fmt.Sprintf("%s of %s in the last minute", text.Count(used), text.Count(limit))
	}
	if limited > 0 {
		note += ", " + text.Count(limited) + " × 429"
	}
	return note
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
