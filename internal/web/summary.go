package web

import (
	"fmt"
	"time"

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
	lag                      time.Duration
	walked                   bool
	backfill, resync, deep   forecast
	tones                    map[status.Tone]int
}

// list is a restaurant's list: its rows are there once, however many sources read it.
type list struct{ business, stream string }

// summarise writes the figures below the headline, and the filters.
func (p *view) summarise(s *status.Status, sources []judged) {
	f := figures{tones: map[status.Tone]int{}, counted: map[list]bool{}}
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
	switch {
	case f.backfill.left > 0:
		p.Facts[2] = f.backfill.fact("Backfill", "request")
	case f.resync.left > 0:
		p.Facts[2] = f.resync.fact("Full resync", "request")
	case f.walked:
		p.Facts[2].Value = text.Span(f.lag)
	}
	if f.deep.left > 0 {
		p.Facts = append(p.Facts, f.deep.fact("Deep run", "question"))
	}
	p.filters(len(s.Sources), f.tones)
}

func (f *figures) add(s judged) {
	f.tones[s.worst.Tone()]++
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
		if st.State != status.StateOff && st.State != status.StateWaiting && st.Lag >= 0 {
			f.lag, f.walked = max(f.lag, st.Lag.Duration()), true
		}
		switch p := st.Progress; {
		case p == nil:
		case p.Deep():
			f.deep.add(p)
		case p.Resync():
			f.resync.add(p)
		default:
			f.backfill.add(p)
		}
	}
}

// forecast sums up walks under way.
type forecast struct {
	left uint64 // requests of all
	wait time.Duration
}

func (f *forecast) add(p *status.Progress) {
	f.left += p.RequestsLeft
	f.wait = max(f.wait, p.ExpectedLeft.Duration())
}

func (f forecast) fact(label, noun string) fact {
	return fact{label, text.Span(f.wait) + " left", text.Plural(f.left, noun) + " to go"}
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
