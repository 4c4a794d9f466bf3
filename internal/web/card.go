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
	Probe               string
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
		State: badgeOf(all[0]), Probe: s.Probe(now), URL: "/?source=" + url.QueryEscape(s.Name),
	}
	if s.Proof != nil {
		c.Proof = text.Sentence(s.Proof.Text())
	}
	for _, x := range all {
		if x.Kind != status.HealthGood && x.Kind != status.HealthBackfill { // a backfill shows its bar
			c.Matters = append(c.Matters, matter{x.Text, x.Advice, x.Tone()})
		}
		if x.Kind == status.HealthUnproven { // which says it
			c.Proof = ""
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
	percent := -1
	switch {
	case p.Deep() && p.Suspects > 0:
		percent = 100
	case p.Deep():
		percent = int(p.Pages * 100 / max(p.Pages+p.RequestsLeft, 1))
	case p.TotalRows > 0 && p.BackTo().IsZero():
		percent = int(min(p.Rows*100/p.TotalRows, 100))
	}
	return &progress{percent, p.Text()}
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
		l.Text = "last walk " + text.Ago(now, last)
	default:
		l.Text = text.Plural(rows, "row") + ", last walk " + text.Ago(now, last)
	}
	return l
}
