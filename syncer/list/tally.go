package list

import (
	"time"

	"github.com/larder-sync/larder/sinks"
)

// tally is what has to be known of a long walk so that the counts of its checkpoint are of the
// whole walk. A walk that begins again brings rows once more: they are asked for again and
// counted once. The tally is stored with the phase.
type tally struct {
	Requests uint64 `json:"requests,omitempty"` // all of them, what was asked in vain included
	// AtMark is how many of the counted rows are stamped with the watermark.
	AtMark uint64 `json:"at_mark,omitempty"`
	// Again is up to where rows have come before, zero when none have, and Left how many
	// of those stamped just so are still to come again.
	Again time.Time `json:"again,omitzero"`
	Left  uint64    `json:"left,omitempty"`
	// Base are the counts up to there, to go back to when rows came out of order since.
	Base counted `json:"base,omitzero"`
}

// counted are rows that were counted once each.
type counted struct {
	Rows       uint64 `json:"rows,omitempty"`
	Tombstones uint64 `json:"tombstones,omitempty"`
	AtMark     uint64 `json:"at_mark,omitempty"`
}

// repeats is true when a row of a walk that began again has come before: the list is in
// order of updated_at. Of rows without one, that is not known.
func (t *tally) repeats(updated time.Time) bool {
	switch {
	case t.Again.IsZero() || updated.IsZero() || updated.After(t.Again):
		return false
	case updated.Before(t.Again):
		return true
	case t.Left > 0:
		t.Left--
		return true
	}
	return false
}

// count notes a row that was counted, when the watermark has moved from before.
func (t *tally) count(updated, before, watermark time.Time) {
	switch {
	case watermark.After(before):
		t.AtMark = 1
	case !updated.IsZero() && updated.Equal(watermark):
		t.AtMark++
	}
}

// beginAgain takes back from the counts what will come again, of a walk that goes on from
// its Since; whole when that is its very beginning.
func (t *tally) beginAgain(cp *sinks.Checkpoint, whole, ordered bool) {
	switch {
	case whole:
		*t = tally{Requests: t.Requests}
		cp.Rows, cp.Tombstones = 0, 0
	case ordered:
		t.Base = counted{cp.Rows, cp.Tombstones, t.AtMark}
		t.Again, t.Left = cp.Watermark, t.AtMark
	default: // what came since the walk last began
		cp.Rows, cp.Tombstones, t.AtMark = t.Base.Rows, t.Base.Tombstones, t.Base.AtMark
		t.Left = t.AtMark
	}
}

// tallyOf is the tally of a long walk; of one that was stored without, what its checkpoint
// tells.
func tallyOf(cp sinks.Checkpoint) tally {
	if t := phaseOf(cp).Tally; t != nil {
		return *t
	}
	return tally{Requests: cp.Pages}
}

// in stores the tally with the checkpoint, whose phase stays.
func (t tally) in(cp *sinks.Checkpoint) {
	p := phaseOf(*cp)
	p.Tally = &t
	p.in(cp)
}

// beginAnew has a walk begin at the start of its list, of which only the requests that it
// has taken are known.
func (t *LocationWalks) beginAnew(cp *sinks.Checkpoint) {
	known := tallyOf(*cp)
	known.beginAgain(cp, true, true)
	cp.Position, cp.Since = "", t.stream.Def.BackfillSince
	known.in(cp)
}

// spent is how many requests a long walk of the location has taken, those included that led to
// no page. They are counted once.
func (t *LocationWalks) spent(cp sinks.Checkpoint) uint64 {
	return tallyOf(cp).Requests + t.unrecorded.Swap(0)
}
