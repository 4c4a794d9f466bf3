package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

// card is a source with its streams.
type card struct {
	judged
	Concerns []status.Concern
	Notes    string
	Bars     []bar
	Lines    []stream
	Folded   bool // some are left out
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
	*status.StreamStatus
	Light  status.Concern
	Rows   string
	Last   moment
	Next   string // when it is asked for next
	Newest moment
	Notes  []string
}

func newCard(now time.Time, s judged) card {
	concerns, notes := s.Shown(now)
	c := card{judged: s, Concerns: concerns, Notes: text.Sentence(strings.Join(notes, "; "))}
	for _, x := range []bar{
		{Label: "key", Value: s.Budget.KeyUsed, Max: s.Budget.KeyLimit},
		{Label: "totals", Value: s.Budget.HeavyUsed, Max: s.Budget.HeavyLimit},
		{Label: "restaurant", Value: s.Budget.BusinessUsed, Max: s.Budget.BusinessLimit},
	} {
		if x.Max > 0 {
			x.Text = fmt.Sprintf("%s of %s", text.Count(max(0, x.Value)), text.Count(x.Max))
			x.Full = x.Value*10 >= x.Max*9
			c.Bars = append(c.Bars, x)
		}
	}
	for i := range s.Streams {
		c.Lines = append(c.Lines, newStream(now, s, &s.Streams[i]))
	}
	return c
}

// folded leaves out the streams that are well, or not asked for.
func (c card) folded() card {
	all := len(c.Lines)
	c.Lines = slices.DeleteFunc(c.Lines, func(s stream) bool {
		return s.Light.Tone() != status.ToneTrouble && s.Light.Tone() != status.ToneBusy
	})
	c.Folded = len(c.Lines) < all
	return c
}

func newStream(now time.Time, src judged, s *status.StreamStatus) stream {
	v := stream{StreamStatus: s, Light: src.Light(s), Rows: "–", Last: at(now, s.LastSuccess), Newest: at(now, s.Watermark), Notes: src.StreamNotes(now, s)}
	if next := s.NextWalk(now); next != "" {
		v.Next = "Next walk: " + next
	}
	if s.Rows != nil {
		v.Rows = text.Count(*s.Rows)
	}
	if s.Watermark.IsZero() {
		v.Newest.Text = "–"
	}
	return v
}
