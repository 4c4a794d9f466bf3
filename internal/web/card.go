package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// card is a source shown whole.
type card struct {
	Key, Name, Business string
	Test                bool
	State               badge
	Matters             []matter
	Since, NextProbe    string
	Proof               string
	Kept                string // of customers; empty when that is not all
	Budget              []bar
	LimitNotes          string
	Streams             []stream
	Unasked             string // in the place of streams, of which there is nothing to say
	URL                 string
}

type badge struct {
	Label string
	Tone  status.Tone
}

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
	Next        string // when it is asked for next
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

func badgeOf(c status.Concern) badge { return badge{c.Label, c.Tone()} }

func newCard(now time.Time, s *status.SourceStatus) card {
	all := s.Concerns()
	c := card{
		Key: "card-" + s.Name, Name: s.Name, Business: s.BusinessName, Test: s.KeyMode == "test",
		State: badgeOf(all[0]), Proof: proofOf(s.Proof), URL: "/?source=" + url.QueryEscape(s.Name),
	}
	for _, x := range all {
		if x.Kind != status.HealthGood && x.Kind != status.HealthBackfill { // a backfill shows its bar
			c.Matters = append(c.Matters, matter{x.Text, x.Advice, x.Tone()})
		}
		if x.Kind == status.HealthUnproven { // which says it
			c.Proof = ""
		}
	}
	if s.NextProbe.After(now) {
		c.NextProbe = "asked again in " + text.Span(s.NextProbe.Sub(now)) + "."
		if !s.Since.IsZero() {
			c.Since = "For " + text.Span(now.Sub(s.Since))
		}
	}
	c.budget(s.Budget)
	if s.PersonalData == string(personal.Keep) {
		c.Kept = "All that people say who order online is stored: names, phones, addresses (personal_data: keep)."
	}
	if c.Unasked = s.Unasked(); c.Unasked != "" {
		return c
	}
	for i := range s.Streams {
		c.Streams = append(c.Streams, newStream(now, s, &s.Streams[i]))
	}
	return c
}

func (c *card) budget(b status.BudgetStatus) {
	for _, x := range []bar{
		{Label: "key", Value: b.KeyUsed, Max: b.KeyLimit},
		{Label: "totals", Value: b.HeavyUsed, Max: b.HeavyLimit},
		{Label: "restaurant", Value: b.BusinessUsed, Max: b.BusinessLimit},
	} {
		if x.Max > 0 {
			x.Text = fmt.Sprintf("%s of %s", text.Count(max(0, x.Value)), text.Count(x.Max))
			x.Full = x.Value*10 >= x.Max*9
			c.Budget = append(c.Budget, x)
		}
	}
	c.LimitNotes = strings.Join(b.Notes(), "; ")
}

// proofOf is until when the mirror is proven, in words.
func proofOf(p *status.ProofStatus) string {
	switch {
	case p == nil:
		return ""
	case p.ProvenUntil == "":
		return "Not proven yet"
	case p.ExplainedDays > 0:
		return "Proven until " + p.ProvenUntil + ", " + text.Plural(p.ExplainedDays, "day") + " explained"
	default:
		return "Proven until " + p.ProvenUntil
	}
}

func newStream(now time.Time, src *status.SourceStatus, s *status.StreamStatus) stream {
	light := src.Light(s)
	v := stream{
		Key: "stream-" + src.Name + "-" + s.Name, Name: s.Name,
		State: badge{light.Label, light.Tone}, Detail: src.Note(s),
		Rows: "–", Last: at(now, s.LastSuccess), Watermark: at(now, s.Watermark),
	}
	if next := s.NextWalk(now); next != "" {
		v.Next = "Next walk: " + next
	}
	if s.Rows != nil {
		v.Rows = text.Count(*s.Rows)
	}
	if s.Watermark.IsZero() {
		v.Watermark.Text = "–"
	}
	if q := s.InQuarantine(); q != light.Label {
		v.Quarantined = q
	}
	if last := src.LastError(s); last != "" && last != v.Detail {
		v.Error, v.ErrorAt = last, at(now, s.LastErrorAt)
	}
	if s.Progress != nil && s.State != status.StateStarting {
		v.Progress = newProgress(s.Progress)
	}
	return v
}

func newProgress(p *status.Progress) *progress {
	if p.Deep() {
		return deepProgress(p)
	}
	if day := p.BackTo(); !day.IsZero() {
		return &progress{-1, fmt.Sprintf("%s, back to %s", text.Plural(p.Rows, "row"), day.Format(time.DateOnly))}
	}
	what := ""
	if p.Resync() {
		what = "full resync: "
	}
	if p.AtLeast {
		what += "at least "
	}
	if p.TotalRows == 0 {
		return &progress{-1, fmt.Sprintf("%s%s in %s so far", what, text.Plural(p.Rows, "row"), text.Plural(p.Pages, "page"))}
	}
	percent := int(min(p.Rows*100/p.TotalRows, 100))
	words := fmt.Sprintf("%s%d %% of %s", what, percent, text.Plural(p.TotalRows, "row"))
	if p.RequestsLeft > 0 {
		words = fmt.Sprintf("%s · %s left, %s", words, text.Span(p.ExpectedLeft.Duration()), text.Plural(p.RequestsLeft, "request"))
	}
	return &progress{percent, words}
}

// deepProgress is how far a deep run of reconciliation is.
func deepProgress(p *status.Progress) *progress {
	left := text.Span(p.ExpectedLeft.Duration())
	if p.Suspects > 0 {
		verb := " differ"
		if p.Suspects == 1 {
			verb = " differs"
		}
		return &progress{100, fmt.Sprintf("deep run: %s%s, asked again in %s", text.Plural(p.Suspects, "day"), verb, left)}
	}
	all := p.Pages + p.RequestsLeft
	return &progress{int(p.Pages * 100 / max(all, 1)), fmt.Sprintf("deep run: %d of %s · %s left", p.Pages, text.Plural(all, "question"), left)}
}

func newLine(now time.Time, s judged) line {
	worst := s.worst
	l := line{
		Key: "line-" + s.Name, Name: s.Name, Business: s.BusinessName, State: badgeOf(worst),
		URL: "/?source=" + url.QueryEscape(s.Name),
	}
	var rows uint64
	var last time.Time
	var longest *status.Progress
	for i := range s.Streams {
		st := &s.Streams[i]
		if st.Rows != nil {
			rows += *st.Rows
		}
		if st.LastSuccess.After(last) {
			last = st.LastSuccess
		}
		if p := st.Progress; p != nil && (longest == nil || p.ExpectedLeft > longest.ExpectedLeft) {
			longest = p
		}
	}
	switch {
	case worst.Tone() == status.ToneTrouble, worst.Tone() == status.ToneQuiet:
		l.Text = worst.Text
	case longest != nil:
		l.Text = newProgress(longest).Text
	case rows == 0:
		l.Text = "last walk " + ago(now, last)
	default:
		l.Text = text.Plural(rows, "row") + ", last walk " + ago(now, last)
	}
	return l
}
