package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// card is a source shown whole.
type card struct {
	Name, Business string
	Test           bool
	State          status.Concern
	Matters        []status.Concern
	Probe          string
	Proof          string
	Kept           string // of customers; empty when that is not all
	Budget         []bar
	LimitNotes     string
	Streams        []stream
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
	Name        string
	State       status.Light
	Detail      string
	Rows        string
	Last        moment
	Next        string // when it is asked for next
	Watermark   moment
	Quarantined string
	Error       string
	ErrorAt     moment
	Progress    *status.Progress
}

func newCard(now time.Time, s *status.SourceStatus) card {
	all := s.Concerns()
	c := card{
		Name: s.Name, Business: s.BusinessName, Test: s.KeyMode == "test", State: all[0], Probe: s.Probe(now),
	}
	if s.Proof != nil {
		c.Proof = text.Sentence(s.Proof.Text())
	}
	for _, x := range all {
		if x.Kind != status.HealthGood && x.Kind != status.HealthBackfill { // a backfill shows its bar
			c.Matters = append(c.Matters, x)
		}
		if x.Kind == status.HealthUnproven { // which says it
			c.Proof = ""
		}
	}
	c.budget(s.Budget)
	if s.PersonalData == string(personal.Keep) {
		c.Kept = "All that people say who order online is stored: names, phones, addresses (personal_data: keep)."
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
		Name: s.Name, State: light, Detail: src.Note(s),
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
		v.Progress = s.Progress
	}
	return v
}
