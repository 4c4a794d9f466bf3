package web

import (
	"fmt"
	"net/url"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// card is a source shown whole.
type card struct {
	Key, Name, Business string
	Test                bool
	State               badge
	Detail              string
	Since, NextProbe    string
	Proof               string
	ProofTone           string
	Budget              []bar
	Paused              string
	Streams             []stream
	URL                 string
}

type badge struct{ Label, Tone string }

// bar is a part of a whole, in the same words whether or not bars can be seen.
type bar struct {
	Label      string
	Value, Max int
	Text       string
	Full       bool
}

// stream is one row of a card.
type stream struct {
	Key, Name   string
	State       badge
	Detail      string
	Rows        string
	Last        moment
	Watermark   moment
	Quarantined string
	Error       string
	ErrorAt     moment
	Progress    *progress
}

type progress struct {
	Percent int // -1: unknown
	Text    string
}

// line is a source in one line.
type line struct {
	Key, Name, Business, URL string
	State                    badge
	Text                     string
}

func badgeOf(state string) badge {
	w := wordsOf(state)
	return badge{w.label, w.tone}
}

// sourceBadge does not say "up to date" over a stream that is not.
func sourceBadge(s *syncer.SourceStatus) badge {
	tone := toneOf(s)
	if own := wordsOf(s.State); own.tone == tone {
		return badge{own.label, tone}
	}
	n := 0
	for i := range s.Streams {
		if wordsOf(s.Streams[i].State).tone == tone {
			n++
		}
	}
	if tone == toneBusy {
		return badge{plural(n, "stream") + " under way", tone}
	}
	return badge{plural(n, "stream") + " in trouble", tone}
}

func newCard(now time.Time, s *syncer.SourceStatus) card {
	c := card{
		Key: "card-" + s.Name, Name: s.Name, Business: s.BusinessName, Test: s.KeyMode == "test",
		State: sourceBadge(s), Detail: detail(s.State, s.Detail),
		URL: "/?source=" + url.QueryEscape(s.Name),
	}
	trouble := wordsOf(s.State).tone == toneTrouble
	if trouble {
		if !s.Since.IsZero() {
			c.Since = "for " + span(now.Sub(s.Since))
		}
		if s.NextProbe.After(now) {
			c.NextProbe = "asked again in " + span(s.NextProbe.Sub(now))
		}
	}
	c.Proof, c.ProofTone = proofOf(s.Proof)
	b := s.Budget
	for _, x := range []bar{
		{Label: "key", Value: b.KeyUsed, Max: b.KeyLimit},
		{Label: "totals", Value: b.HeavyUsed, Max: b.HeavyLimit},
		{Label: "restaurant", Value: b.BusinessUsed, Max: b.BusinessLimit},
	} {
		if x.Max > 0 {
			x.Text = fmt.Sprintf("%s of %s", count(max(0, x.Value)), count(x.Max))
			x.Full = x.Value*10 >= x.Max*9
			c.Budget = append(c.Budget, x)
		}
	}
	if b.PausedUntil.After(now) {
		c.Paused = "asked to pause for " + span(b.PausedUntil.Sub(now)) + " (429)"
	}
	for i := range s.Streams {
		v := newStream(now, s.Name, &s.Streams[i])
		if trouble && s.Streams[i].State == syncer.StateStarting { // the source's detail says what they all wait for
			v.Detail, v.Progress = s.Streams[i].Detail, nil
		}
		c.Streams = append(c.Streams, v)
	}
	return c
}

// proofOf is until when the mirror is proven, in words.
func proofOf(p *syncer.ProofStatus) (text, tone string) {
	switch {
	case p == nil:
		return "", ""
	case p.ProvenUntil == "":
		text = "Not proven yet"
	default:
		text = "Proven until " + p.ProvenUntil
	}
	if p.DriftDays == 0 {
		return text, toneGood
	}
	verb := " differ"
	if p.DriftDays == 1 {
		verb = " differs"
	}
	return text + "; " + plural(p.DriftDays, "day") + verb + " from the service", toneTrouble
}

func detail(state, given string) string {
	if given != "" {
		return given
	}
	return wordsOf(state).advice
}

func newStream(now time.Time, source string, s *syncer.StreamStatus) stream {
	v := stream{
		Key: "stream-" + source + "-" + s.Name, Name: s.Name,
		State: badgeOf(s.State), Detail: detail(s.State, s.Detail),
		Rows: count(s.Rows), Last: at(now, s.LastSuccess), Watermark: at(now, s.Watermark),
	}
	if s.Watermark.IsZero() {
		v.Watermark.Text = "–"
	}
	if s.Quarantined > 0 {
		v.Quarantined = plural(s.Quarantined, "row") + " in quarantine"
	}
	if s.LastError != "" && s.LastError != v.Detail {
		v.Error, v.ErrorAt = s.LastError, at(now, s.LastErrorAt)
	}
	if s.Progress != nil {
		v.Progress = newProgress(s.Progress)
	}
	return v
}

func newProgress(p *syncer.Progress) *progress {
	if p.Deep() {
		return deepProgress(p)
	}
	if day := p.BackTo(); !day.IsZero() {
		return &progress{-1, fmt.Sprintf("%s, back to %s", plural(p.Rows, "row"), day.Format(time.DateOnly))}
	}
	what := ""
	if p.Resync() {
		what = "full resync: "
	}
	if p.TotalRows == 0 {
		return &progress{-1, fmt.Sprintf("%s%s in %s so far", what, plural(p.Rows, "row"), plural(p.Pages, "page"))}
	}
	percent := int(min(p.Rows*100/p.TotalRows, 100))
	text := fmt.Sprintf("%s%d %% of %s", what, percent, plural(p.TotalRows, "row"))
	if p.RequestsLeft > 0 {
		text = fmt.Sprintf("%s · %s left, %s", text, span(p.ExpectedLeft.Duration()), plural(p.RequestsLeft, "request"))
	}
	return &progress{percent, text}
}

// deepProgress is how far a deep run of reconciliation is.
func deepProgress(p *syncer.Progress) *progress {
	left := span(p.ExpectedLeft.Duration())
	if p.Suspects > 0 {
		verb := " differ"
		if p.Suspects == 1 {
			verb = " differs"
		}
		return &progress{100, fmt.Sprintf("deep run: %s%s, asked again in %s", plural(p.Suspects, "day"), verb, left)}
	}
	all := p.Pages + p.RequestsLeft
	return &progress{int(p.Pages * 100 / max(all, 1)), fmt.Sprintf("deep run: %d of %s · %s left", p.Pages, plural(all, "question"), left)}
}

func newLine(now time.Time, s *syncer.SourceStatus) line {
	l := line{
		Key: "line-" + s.Name, Name: s.Name, Business: s.BusinessName, State: sourceBadge(s),
		URL: "/?source=" + url.QueryEscape(s.Name),
	}
	var rows uint64
	var last time.Time
	var longest *syncer.Progress
	for i := range s.Streams {
		st := &s.Streams[i]
		rows += st.Rows
		if st.LastSuccess.After(last) {
			last = st.LastSuccess
		}
		if p := st.Progress; p != nil && (longest == nil || p.ExpectedLeft > longest.ExpectedLeft) {
			longest = p
		}
	}
	switch {
	case l.State.Tone == toneTrouble:
		l.Text = troubleOf(s)
	case longest != nil:
		l.Text = newProgress(longest).Text
	default:
		l.Text = plural(rows, "row") + ", last walk " + ago(now, last)
	}
	return l
}

// troubleOf is the reason to show in one line.
func troubleOf(s *syncer.SourceStatus) string {
	if wordsOf(s.State).tone == toneTrouble {
		return detail(s.State, s.Detail)
	}
	for i := range s.Streams {
		if st := &s.Streams[i]; wordsOf(st.State).tone == toneTrouble {
			return st.Name + ": " + detail(st.State, st.Detail)
		}
	}
	return ""
}
